import { sizeText } from '../size-text.js'
import { OutgoingError, type ResponseMemory } from './outgoing.js'

/**
 * Each may hold as much as it leaves to the others: one alone half of it, two a third each. However many hold
 * what they can get, another one finds as much as each of them has.
 * @param totalBytes bytes of all together
 * @param holders who they are, in the error of one that needs more
 */
export function createResponseMemory(
  totalBytes: number,
  holders = 'programs of this server',
): ResponseMemory {
  let held = 0
  return {
    open() {
      let own = 0
      return {
        hold(bytes) {
          if (own + bytes > totalBytes - held) {
            throw new OutgoingError(
              'connection',
              `Its responses in progress exceed its share of the memory for responses: all ${holders} share ${sizeText(totalBytes)}, and one may use at most half of what the others leave.`,
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
