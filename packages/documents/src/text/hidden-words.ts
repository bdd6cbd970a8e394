/** Scripts that write words of several letters without spaces between them. */
const HIDING = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const HAS_LETTER = /[\p{L}\p{N}]/u

// Its dictionaries are chosen by the script of the text, not by this language.
const segmenter = new Intl.Segmenter('th', { granularity: 'word' })

/** Whether a word may be several words that are written together. */
export function hasHiddenWords(word: string): boolean {
  return HIDING.test(word)
}

/** The words in a stretch of text without spaces, by the dictionary of the platform. */
export function toHiddenWords(text: string): string[] {
  return [...segmenter.segment(text)]
    .map(({ segment }) => segment)
    .filter((segment) => HAS_LETTER.test(segment))
}
