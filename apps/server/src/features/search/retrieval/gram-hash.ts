/** Characters of a gram: long enough to be meaningful, short enough to survive endings and typos. */
export const gramLength = 4
/** Entries of a hash table for the grams of a question: a power of two, well above the number that most have. */
export const tableSize = 8192
const indexShift = 32 - Math.log2(tableSize)
/** Character code of the space, which stands between words. */
export const spaceCode = 0x20

/**
 * The hash of the last four characters of a text, from the hash before the last one. Each character shifts the
 * earlier ones by eight bits, so that nothing is left of the fifth last.
 * @param code of the last character
 */
export function nextHash(hash: number, code: number): number {
  return (hash << 8) ^ code
}

/** The index of a hash in a table of {@link tableSize} entries. */
export function indexOf(hash: number): number {
  return Math.imul(hash, 0x9e3779b1) >>> indexShift
}
