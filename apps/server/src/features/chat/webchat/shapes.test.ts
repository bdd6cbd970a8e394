import { describe, expect, it } from 'vitest'
import type { ChatContent } from '../view.js'
import { toWebchatMessage } from './shapes.js'

const shown = (content: ChatContent, isBot = true) =>
  toWebchatMessage(
    { id: 'msg', createdAt: 'now', conversationId: 'conv', userId: 'user', content },
    { isBot },
  )
const payloadOf = (payload: ChatContent['payload']) => shown({ payload }).payload

describe('a message in the shape of the web chat', () => {
  it.each([
    [{ type: 'poll', title: 'Tea?', rows: [{ text: 'Yes' }] }, 'Tea?\nYes'],
    [{ type: 'card', title: 'No actions' }, 'No actions'],
    [{ type: 'choice', text: 'Which?', options: 'none' }, 'Which?\nnone'],
    [{ type: 'custom', name: 'without an address' }, 'without an address'],
    [{ type: 'bloc', items: [{ type: 'card', title: 'A part' }] }, 'A part'],
    [{ type: 'bloc', items: [{ type: 'text', text: 'b' }, { type: 'image' }] }, 'b'],
    [{ type: 'bloc', items: [{ type: 'text', payload: [] }, 'b', null] }, 'b'],
    [{ type: 'bloc', items: 'none' }, 'none'],
    [{ type: 'constructor' }, '[constructor]'],
    [{ type: 'image', imageUrl: 1 }, '[image]'],
  ])('is a text where the widget would fail: %j', (payload, text) => {
    expect(payloadOf(payload)).toEqual({ type: 'text', text })
  })

  it('has nested parts, whatever the form in which they came', () => {
    const nested = { type: 'bloc', items: [{ type: 'text', payload: { text: 'a' } }] }
    expect(payloadOf({ type: 'bloc', items: [{ type: 'text', text: 'a' }] })).toEqual(nested)
    expect(payloadOf(nested)).toEqual(nested)
  })

  it('takes about as long as its parts would as messages', () => {
    const item = { type: 'image', imageUrl: 'https://a.example/a.png' }
    const items = Array.from({ length: 1000 }, () => item)
    /** The shortest of many times: what else the machine does only makes some of them longer. */
    const shortest = (work: () => unknown) => {
      const times = Array.from({ length: 30 }, () => {
        const begin = performance.now()
        work()
        return performance.now() - begin
      })
      return Math.min(...times)
    }
    const alone = shortest(() => items.map(payloadOf))
    // Tested with the shapes of all types, parts would take four times as long as messages.
    expect(shortest(() => payloadOf({ type: 'bloc', items }))).toBeLessThan(2 * alone)
  })

  it('lifts what it answers out of the payload', () => {
    expect(shown({ payload: { type: 'text', text: 'a', replyTo: 'msg_1' } })).toMatchObject({
      replyTo: 'msg_1',
      payload: { type: 'text', text: 'a' },
    })
  })

  it('takes the identity of a message from users only', () => {
    const content = {
      payload: { type: 'text', text: 'a' },
      metadata: { clientMessageId: 'mine', streamId: 's' },
    }
    expect(shown(content, false).metadata).toEqual(content.metadata)
    expect(shown(content).metadata).toEqual({ clientMessageId: 'stream:s', streamId: 's' })
  })
})
