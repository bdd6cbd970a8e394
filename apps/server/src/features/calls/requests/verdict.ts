import type { OutgoingAnswer } from '../../../platform/outgoing/outgoing.js'

/** What a response means for a delivery. */
export type Verdict =
  | { result: 'delivered' }
  /** Worth another attempt, after at least `waitMs` milliseconds. */
  | { result: 'retry'; error: string; waitMs: number }
  /** The receiver rejected it: another attempt would end the same. */
  | { result: 'refused'; error: string }

/** Statuses below 500 that are transient. */
const transient = new Set([408, 425, 429])

/**
 * Bots respond with 4xx to faults of their code or of the request, and with 5xx to transient
 * faults. Redirects are not followed; they usually mean that something in front of the bot is being
 * set up.
 */
export function judge(response: Pick<OutgoingAnswer, 'status' | 'headers' | 'body'>): Verdict {
  const { status } = response
  if (status >= 200 && status < 300) return { result: 'delivered' }
  const error = `Status ${status}: ${reasonOf(response.body)}`
  if (isFinal(status)) return { result: 'refused', error }
  return { result: 'retry', error, waitMs: waitOf(response.headers['retry-after']) }
}

/** Whether another attempt after this status would have the same result. */
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

/** Milliseconds of a Retry-After header in seconds; the date form is too coarse to be useful. */
function waitOf(header: string | string[] | undefined): number {
  const seconds = typeof header === 'string' && /^\d{1,6}$/.test(header) ? Number(header) : 0
  return seconds * 1000
}
