import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '@botstead/contract'
import { isConnectionFailure } from '../server-access.js'
import type { Room } from './room.js'

/** Milliseconds before each further try. */
const pauses = [500, 1000, 2000, 4000, 8000]

/**
 * Sends a message. After a lost connection it is sent again under the same key, which the server
 * takes for one message.
 */
export async function sendText({ chat, conversationId }: Room, text: string): Promise<void> {
  const idempotencyKey = randomUUID()
  const message = { conversationId, payload: { type: 'text' as const, text } }
  for (const pause of [...pauses, undefined]) {
    try {
      await chat.chatCreateMessage(message, { idempotencyKey })
      return
    } catch (error) {
      if (pause === undefined || !mayPass(error)) throw error
      await sleep(pause)
    }
  }
}

/** Whether the same call may succeed later. */
function mayPass(error: unknown): boolean {
  if (isConnectionFailure(error)) return true
  return error instanceof ApiError && (error.type === 'RateLimited' || error.type === 'Unknown')
}
