import { createClient, type Signal } from '@botstead/contract'
import { describe, expect, it } from 'vitest'
import { createTranscript, type Screen } from './transcript.js'

const time = { createdAt: '2026-03-01T12:00:00.000Z', conversationId: 'c' }

function piece(streamId: string, delta: string): Signal {
  const data = { ...time, streamId, userId: 'bot', sequence: 1, delta }
  return { type: 'message_stream_delta', data, sequence: 1 }
}

function message(
  id: string,
  text: string,
  more: { streamId?: string; userId?: string } = {},
): Signal {
  const { streamId, userId = 'bot' } = more
  const data = {
    ...time,
    id,
    userId,
    payload: { type: 'text', text },
    isBot: userId === 'bot',
    ...(streamId !== undefined && { metadata: { streamId } }),
  }
  return { type: 'message_created', data, sequence: 1 }
}

/** The screen after the signals, and the calls that `replies` received. */
async function hear(...signals: Signal[]) {
  return await hearOn({ isLive: true }, signals)
}

async function hearOn({ isLive }: Pick<Screen, 'isLive'>, signals: readonly Signal[]) {
  let shown = ''
  let isGrowing = false
  const screen: Screen = {
    isLive,
    show(text) {
      shown += `${isGrowing ? '\n' : ''}${text === '' ? '' : `${text}\n`}`
      isGrowing = false
    },
    grow(text) {
      shown += text
      isGrowing = true
    },
  }
  const noted: string[] = []
  const { take } = createTranscript({
    session: {
      chat: createClient({ baseUrl: 'http://localhost' }),
      baseUrl: '',
      webhookId: '',
      userKey: '',
      userId: 'me',
      conversationId: 'c',
      isNew: true,
      botName: 'Guide',
      botId: 'bot',
      admin: undefined,
      again: undefined,
    },
    screen,
    replies: {
      expect: () => {},
      received: () => noted.push('received'),
      writing: (streamId) => noted.push(`+${streamId}`),
      finished: (streamId) => noted.push(`-${streamId}`),
      giveUp: () => {},
      settled: async () => true,
    },
  })
  for (const signal of signals) await take(signal)
  return { shown, noted }
}

describe('the transcript of a conversation', () => {
  it('lets a message grow piece by piece and does not repeat it', async () => {
    const { shown, noted } = await hear(
      piece('s', 'Hel'),
      piece('s', 'lo'),
      message('m1', 'Hello', { streamId: 's' }),
      message('m1', 'Hello', { streamId: 's' }),
      message('m2', 'Next'),
      message('m3', 'mine', { userId: 'me' }),
      message('m4', 'theirs', { userId: 'ada' }),
    )
    expect(shown).toBe('Guide: Hello\nGuide: Next\nada: theirs\n')
    expect(noted.slice(0, 4)).toEqual(['+s', '+s', '-s', 'received'])
  })

  it('indents further lines, also of a message that grows', async () => {
    const { shown } = await hear(
      piece('s', 'Well\nyou'),
      piece('s', ': yes'),
      message('m1', 'Well\nyou: yes', { streamId: 's' }),
      message('m2', 'Next\nyou: no'),
    )
    expect(shown).toBe('Guide: Well\n  you: yes\nGuide: Next\n  you: no\n')
  })

  it('shows the whole message again when it differs from its pieces', async () => {
    const { shown } = await hear(piece('s', 'Helo'), message('m1', 'Hello', { streamId: 's' }))
    expect(shown).toBe('Guide: Helo\nGuide: Hello\n')
  })

  it('has each message once where nobody sees it grow', async () => {
    const { shown } = await hearOn({ isLive: false }, [
      piece('s', 'Hel'),
      piece('s', 'o'),
      message('m1', 'Hello', { streamId: 's' }),
      piece('t', 'Same'),
      message('m2', 'Same', { streamId: 't' }),
      piece('u', 'Ne'),
      piece('u', 'ver'),
      { type: 'message_stream_abort', data: { streamId: 'u', conversationId: 'c' }, sequence: 7 },
    ])
    expect(shown).toBe('Guide: Hello\nGuide: Same\nGuide: Never [broken off]\n')
  })

  it('follows one of several streamed messages, and marks one that is aborted', async () => {
    const { shown, noted } = await hear(
      piece('a', 'One'),
      piece('b', 'Two'),
      piece('a', ' and a half'),
      { type: 'message_stream_abort', data: { streamId: 'a', conversationId: 'c' }, sequence: 4 },
      message('m2', 'Two', { streamId: 'b' }),
    )
    expect(shown).toBe('Guide: One and a half [broken off]\nGuide: Two\n')
    expect(noted).toEqual(['+a', '+b', '+a', '-a', '-b', 'received'])
  })
})
