import type { OutgoingAnswer } from '../../../platform/outgoing/outgoing.js'

/** What a response means for a delivery. */
export type Verdict =
  | { result: 'delivered' }
  /** Worth another attempt, after at least `waitMs` milliseconds. */
  | { result: 'retry'; error: string; waitMs: number }
  /** The receiver rejected it: another attempt would end the same. */
  | { result: 'refused'; error: string }

/** Statuses below 500 that are about the moment and not about the request. */
const transient = new Set([408, 425, 429])

/**
 * Bots respond with 4xx to faults of their code or of the request, and with 5xx to what may pass.
 * Redirects are not followed; they usually mean that something in front of the bot is being set up.
 */
export function judge(answer: Pick<OutgoingAnswer, 'status' | 'headers' | 'body'>): Verdict {
  const { status } = answer
  if (status >= 200 && status < 300) return { result: 'delivered' }
  const error = `Status ${status}: ${reasonOf(answer.body)}`
  if (isFinal(status)) return { result: 'refused', error }
  return { result: 'retry', error, waitMs: waitOf(answer.headers['retry-after']) }
}

/** Whether another attempt after this status would end the same. */
export function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && !transient.has(status)
}

/** The error of a receiver: the message of a standard error body, or the bare text. */
export function reasonOf(body: Buffer): string {
  const text = textOf(body).trim()
  const said = messageIn(text) ?? text
  return said === '' ? 'no reason given' : storable(said.slice(0, 500))
}

/** Bytes of a receiver as text that every engine can store. */
export function textOf(body: Buffer): string {
  return storable(body.toString('utf8'))
}

/** PostgreSQL rejects the zero character, and halves of characters inside of JSON. */
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
