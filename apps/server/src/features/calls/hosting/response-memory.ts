import { type HeldBytes, OutgoingError } from '../../../platform/outgoing/outgoing.js'
import { sizeText } from '../../../platform/size-text.js'

/** Memory for the responses of all programs that are in progress. */
export interface ResponseMemory {
  /** The part of one program. */
  open(): HeldBytes
}

/**
 * A program may hold as much as it leaves to the others: one alone half of it, two a third each. However many hold
 * what they can get, another one finds as much as each of them has.
 * @param totalBytes bytes of all programs together
 */
export function createResponseMemory(totalBytes: number): ResponseMemory {
  let held = 0
  return {
    open() {
      let own = 0
      return {
        hold(bytes) {
          if (own + bytes > totalBytes - held) {
            throw new OutgoingError(
              'connection',
              `Its responses in progress need more memory than is left: all programs of this server together have ${sizeText(totalBytes)} for them, and each may take as much as it leaves to the others.`,
            )
          }
          own += bytes
          held += bytes
        },
        release(bytes) {
          own -= bytes
          held -= bytes
        },
      }
    },
  }
}
