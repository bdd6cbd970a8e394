import { contract } from '@botstead/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createValidator } from '../../http/validation.js'
import { type ChatContent, toChatContent, toStoredContent } from './view.js'

const isValid = createValidator({ schema: contract.chat.createMessage.body, httpPart: 'body' })

const filled = fc.string({ minLength: 1 })
const json = fc.jsonValue()
/** Undeclared members; not `metadata`, which is stored beside the payload. */
const extra = fc.dictionary(
  fc.string().filter((name) => !['metadata', 'type', 'items', '__proto__'].includes(name)),
  json,
)

const members = <Shape extends object>(
  type: string,
  shape: { [Name in keyof Shape]: fc.Arbitrary<Shape[Name]> },
) => fc.tuple(extra, fc.record(shape)).map(([others, own]) => ({ ...others, ...own, type }))

const plain = [
  members('text', { text: filled }),
  members('markdown', { markdown: filled }),
  members('image', { imageUrl: filled }),
  members('audio', { audioUrl: filled }),
  members('video', { videoUrl: filled }),
  members('file', { fileUrl: filled, title: filled }),
  members('location', {
    latitude: fc.double({ noNaN: true, noDefaultInfinity: true }),
    longitude: fc.integer(),
    address: fc.string(),
  }),
]
const card = members('card', {
  title: filled,
  subtitle: filled,
  imageUrl: filled,
  actions: fc.array(
    fc.record({ action: fc.constantFrom('postback', 'url', 'say'), label: filled, value: filled }),
  ),
})
const options = fc.array(fc.record({ label: filled, value: filled }))
const payload = fc.oneof(
  ...plain,
  card,
  members('carousel', { items: fc.array(card) }),
  members('choice', { text: filled, options }),
  members('dropdown', { text: filled, options }),
  members('bloc', { items: fc.array(fc.oneof(...plain)) }),
)
const content: fc.Arbitrary<ChatContent> = fc
  .tuple(payload, fc.option(fc.dictionary(fc.string(), json), { nil: undefined }))
  .map(([payload, metadata]) => (metadata === undefined ? { payload } : { payload, metadata }))

describe('content of messages', () => {
  it('comes back from storage as it was sent', () => {
    fc.assert(
      fc.property(content, (sent) => {
        const onWire: ChatContent = JSON.parse(JSON.stringify(sent))
        expect(isValid({ conversationId: 'conv_1', ...onWire })).toBe(true)
        const stored = toStoredContent(onWire)
        const read = JSON.parse(JSON.stringify(stored.payload))
        expect(toChatContent({ type: stored.type, payload: read })).toEqual(onWire)
      }),
    )
  })

  it('is stored in the shape that bots know', () => {
    expect(
      toStoredContent({ payload: { type: 'text', text: 'hi' }, metadata: { trace: 't1' } }),
    ).toEqual({ type: 'text', payload: { text: 'hi', metadata: { trace: 't1' } } })
    expect(
      toStoredContent({ payload: { type: 'bloc', items: [{ type: 'text', text: 'a' }] } }),
    ).toEqual({ type: 'bloc', payload: { items: [{ type: 'text', payload: { text: 'a' } }] } })
    expect(
      toStoredContent({
        payload: { type: 'carousel', items: [{ type: 'card', title: 'Tea', actions: [] }] },
      }),
    ).toEqual({ type: 'carousel', payload: { items: [{ title: 'Tea', actions: [] }] } })
  })

  it('gets the type of cards that bots leave out', () => {
    const items = [{ title: 'Tea', actions: [] }]
    expect(toChatContent({ type: 'carousel', payload: { items } })).toEqual({
      payload: { type: 'carousel', items: [{ type: 'card', title: 'Tea', actions: [] }] },
    })
  })

  it('has the type beside the payload, whatever type is inside', () => {
    expect(toChatContent({ type: 'text', payload: { text: 'hi', type: 'image' } })).toEqual({
      payload: { type: 'text', text: 'hi' },
    })
  })

  it('passes other content of a bot unchanged', () => {
    const anything = fc.dictionary(
      fc.constantFrom('items', 'metadata', 'text', 'payload'),
      fc.oneof(json, fc.array(fc.oneof(json, fc.dictionary(fc.constant('payload'), json)))),
    )
    fc.assert(
      fc.property(
        fc.constantFrom('text', 'carousel', 'bloc', 'custom'),
        anything,
        (type, payload) => {
          const shown = toChatContent({ type, payload })
          expect(shown.payload.type).toBe(type)
          expect(Object.keys(shown.payload)).toEqual(
            expect.arrayContaining(Object.keys(payload).filter((name) => name !== 'metadata')),
          )
        },
      ),
    )
  })
})
