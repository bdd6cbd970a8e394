import { isSignatureOf } from '../../calls/requests/index.js'
import type { DeliveryRow } from '../store.js'

/** Parts of a body of which some members change with every message of the conversation. */
interface MessageAndConversation {
  message?: { createdAt?: string }
  conversation?: { updatedAt?: string; messageCount?: number }
}

/** Bodies, and characters of them, that are compared with the signatures of one delivery. */
const maxTries = 1000
const maxCharacters = 20_000_000

/** The bodies that the attempts at a delivery sent. */
export interface SentBodies {
  /** The body as it would be sent now. */
  current: string
  /** The body with this signature; undefined if it is not known. */
  find(signature: string): string | undefined
}

/**
 * Reconstructs the body that was sent from the one that would be sent now: a signature proves it. Later messages change the time of the
 * conversation and the number of its messages, so that those of the time of the message are tried, too.
 * @param built the body, built from the subject as it is now
 */
export function createSentBodies(
  { kind }: Pick<DeliveryRow, 'kind'>,
  built: string,
  secrets: readonly string[],
): SentBodies {
  const isMessage = kind === 'event_received' || kind === 'message_created'
  const parsed: MessageAndConversation & { event?: { payload?: MessageAndConversation } } =
    isMessage ? JSON.parse(built) : {}
  // An event is pending when it is sent, and a replay makes it so again.
  if (parsed.event) Object.assign(parsed.event, { status: 'pending', failureReason: null })
  const current = isMessage ? JSON.stringify(parsed) : built
  const known = new Set([current])
  const { message, conversation } = parsed.event?.payload ?? parsed
  const now = { ...conversation }
  let left = Math.min(maxTries, Math.trunc(maxCharacters / current.length))

  /** The body as it was before later messages of the conversation, latest first. */
  function* earlier(): Generator<string> {
    if (message?.createdAt === undefined || conversation?.messageCount === undefined) return
    const before = { ...conversation, updatedAt: message.createdAt }
    for (let count = conversation.messageCount; count > 0; count -= 1) {
      Object.assign(conversation, before, { messageCount: count })
      const body = JSON.stringify(parsed)
      Object.assign(conversation, now)
      yield body
    }
  }

  return {
    current,
    find(signature) {
      for (const body of known) if (isSignatureOf(signature, secrets, body)) return body
      for (const body of earlier()) {
        if (left <= 0) return undefined
        left -= 1
        if (!isSignatureOf(signature, secrets, body)) continue
        known.add(body)
        return body
      }
      return undefined
    },
  }
}
