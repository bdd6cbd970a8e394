import type { OutgoingAnswer } from '../../../platform/outgoing/outgoing.js'

/** What an answer means for a delivery. */
export type Verdict =
  | { result: 'delivered' }
  /** Worth another attempt, after at least `waitMs` milliseconds. */
  | { result: 'retry'; error: string; waitMs: number }
  /** The receiver understood and will not take it: another attempt would end the same. */
  | { result: 'refused'; error: string }

/** Statuses below 500 that speak of the moment and not of the request. */
const momentary = new Set([408, 425, 429])

/**
 * Bots answer 4xx for what their code or the request did wrong, and 5xx for what may pass. Redirects
 * are not followed; they usually mean that something in front of the bot is being set up.
 */
export function judge(answer: Pick<OutgoingAnswer, 'status' | 'headers' | 'body'>): Verdict {
  const { status } = answer
  if (status >= 200 && status < 300) return { result: 'delivered' }
  const error = `Status ${status}: ${reasonOf(answer.body)}`
  if (isFinal(status)) return { result: 'refused', error }
  return { result: 'retry', error, waitMs: waitOf(answer.headers['retry-after']) }
}

/** Whether a status says that another attempt would end the same. */
export function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && !momentary.has(status)
}

/** What the receiver says went wrong: the message of a standard error body, or the bare text. */
export function reasonOf(body: Buffer): string {
  const text = textOf(body).trim()
  const said = messageIn(text) ?? text
  return said === '' ? 'no reason given' : storable(said.slice(0, 500))
}

/** Bytes of a receiver as text that every engine can store. */
export function textOf(body: Buffer): string {
  return storable(body.toString('utf8'))
}

/** PostgreSQL refuses the zero character, and halves of characters inside of JSON. */
function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed()
}

function messageIn(text: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed !== 'object' || parsed === null) return undefined
    const said = 'message' in parsed ? parsed.message : 'error' in parsed ? parsed.error : undefined
    return typeof said === 'string' ? said : undefined
  } catch {
    return undefined
  }
}

/** Milliseconds of a Retry-After header in seconds; its form as a date is too coarse to help. */
function waitOf(header: string | string[] | undefined): number {
  const seconds = typeof header === 'string' && /^\d{1,6}$/.test(header) ? Number(header) : 0
  return seconds * 1000
}
