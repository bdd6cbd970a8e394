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

/** A text that can be searched for many grams at once. */
export interface HashedText {
  /** In the form of `toIndexText`. */
  text: string
  /**
   * For each position, and for the space behind the text, the index in a table of the hash of the four characters
   * that end there. The space before the text is the first character.
   */
  indices: Uint16Array
}

/** Computes the hashes of a text, which takes longer than searching for them. */
export function hashText(text: string): HashedText {
  const indices = new Uint16Array(text.length + 1)
  let hash = spaceCode
  for (let at = 0; at < text.length; at++) {
    hash = nextHash(hash, text.charCodeAt(at))
    indices[at] = indexOf(hash)
  }
  indices[text.length] = indexOf(nextHash(hash, spaceCode))
  return { text, indices }
}

/** The hash of the four characters of a text that end at a position, from the third character on. */
export function hashAt(text: string, at: number): number {
  let hash = 0
  for (let from = at - gramLength + 1; from <= at; from++) hash = nextHash(hash, codeAt(text, from))
  return hash
}

/** The character at a position of a text, which has spaces around it. */
export function codeAt(text: string, at: number): number {
  return at < 0 || at >= text.length ? spaceCode : text.charCodeAt(at)
}

/** The index of a hash in a table of {@link tableSize} entries. */
export function indexOf(hash: number): number {
  return Math.imul(hash, 0x9e3779b1) >>> indexShift
}

/** A hash of a whole word, from 0 to 2^32 - 1: FNV-1a over its UTF-16 units. */
export function hashWord(word: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < word.length; at++) {
    hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193)
  }
  return hash >>> 0
}
