import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type ReachableServer } from '../existing-clients.js'
import { replying } from './hosted.js'

/** A reply of a bot of {@link noting} to a message. */
export interface Reply {
  /** The message that it replies to. */
  text: string
  version: string
  /** The process that ran the code. */
  pid: number
  /** Milliseconds since 1970 when the code was called, and when it was done. */
  begin: number
  end: number
}

/** A bot, without the SDK, that says which process replied, and when. */
export function noting(version: string): string {
  const reply = `{ text, version: '${version}', pid: process.pid, begin, end: Date.now() }`
  return replying(`JSON.stringify(${reply})`, 'const begin = Date.now()')
}

/** A user who talks to such a bot at one server or another. */
export interface Talk {
  /** Says numbers, one after the other, until the signal or until the server is gone. */
  sayMany(server: Pick<ReachableServer, 'url'>, signal: AbortSignal): Promise<void>
  say(server: Pick<ReachableServer, 'url'>): Promise<void>
  /** Acknowledged texts, in order. */
  said: readonly string[]
  /** Replies of the bot, in order. */
  replies(server: Pick<ReachableServer, 'url'>): Promise<Reply[]>
}

/** Milliseconds between two messages. */
const pauseMs = 30

export async function startTalk(
  server: Pick<ReachableServer, 'url'>,
  webhookId: string,
): Promise<Talk> {
  const user = await connect(server, webhookId)
  const { conversation } = await user.createConversation({})
  const conversationId = conversation.id
  const key = user.user.key
  const said: string[] = []
  let count = 0

  async function request(url: string, path: string, body?: object): Promise<Response> {
    return await fetch(`${url}/chat/${webhookId}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { 'content-type': 'application/json', 'x-user-key': key },
      ...(body && { body: JSON.stringify(body) }),
    })
  }

  async function say({ url }: Pick<ReachableServer, 'url'>): Promise<void> {
    count += 1
    const text = String(count)
    const payload = { type: 'text', text }
    const response = await request(url, '/messages', { conversationId, payload })
    if (!response.ok) throw new Error(`Status ${response.status}: ${await response.text()}`)
    said.push(text)
  }

  async function list({ url }: Pick<ReachableServer, 'url'>) {
    const found: { userId: string; payload: { text: string } }[] = []
    let next = ''
    do {
      const path = `/conversations/${conversationId}/messages${next}`
      const page: { messages: typeof found; meta: { nextToken?: string } } = Object(
        await (await request(url, path)).json(),
      )
      found.push(...page.messages)
      const { nextToken } = page.meta
      next = nextToken === undefined ? '' : `?nextToken=${encodeURIComponent(nextToken)}`
    } while (next !== '')
    return found.reverse()
  }

  return {
    say,
    said,
    async sayMany(at, signal) {
      try {
        while (!signal.aborted) {
          await say(at)
          await sleep(pauseMs)
        }
      } catch (error) {
        // A message that was being sent when the server was killed was not acknowledged.
        if (!(error instanceof TypeError)) throw error
      }
    },
    async replies(at) {
      const messages = (await list(at)).filter(({ userId }) => userId !== user.user.id)
      return messages.map(({ payload }): Reply => JSON.parse(payload.text))
    },
  }
}

/**
 * Checks that every message which was acknowledged got its replies, in the order in which they were said, and
 * returns how many replies came more than once. What was not acknowledged may have got some too.
 */
export function checkReplies(said: readonly string[], replies: readonly Reply[]): number {
  const first = replies.filter(({ text }, at) => replies.findIndex((r) => r.text === text) === at)
  const texts = first.map(({ text }) => Number(text))
  const missing = said.filter((text) => !texts.includes(Number(text)))
  if (missing.length > 0) throw new Error(`No reply to ${missing.join(', ')}`)
  const isOrdered = texts.every((text, at) => at === 0 || text > (texts[at - 1] ?? 0))
  if (!isOrdered) throw new Error(`Replies out of order: ${texts.join(', ')}`)
  return replies.length - first.length
}
