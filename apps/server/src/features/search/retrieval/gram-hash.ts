/** Characters of a gram: long enough to be meaningful, short enough to survive endings and typos. */
export const gramLength = 4
/** Size of a table of the grams of a question: a power of two well above the number that most have. */
export const slots = 8192
const slotShift = 32 - Math.log2(slots)
/** The character between words. */
export const space = 0x20

/**
 * The hash of the last four characters of a text, from the hash at the character before: each character moves
 * the former ones by eight bits, so that the fifth last is gone.
 */
export function nextHash(hash: number, code: number): number {
  return (hash << 8) ^ code
}

/** The place of a hash in a table. */
export function slotOf(hash: number): number {
  return Math.imul(hash, 0x9e3779b1) >>> slotShift
}
