import { toJoined } from './codes.js'
import { isAscii, isUnspaced, normalise, scriptRuns } from './normalise.js'

/**
 * The text that both database engines index: words in lower case, without accents and punctuation,
 * separated by single spaces; CJK as pairs of characters; and the tokens of {@link toJoined} at the end.
 * The tokenizers of FTS5 and of PostgreSQL divide it into the same words.
 *
 * @param text plain text or Markdown; punctuation and Markdown marks are not indexed
 */
export function toIndexText(text: string): string {
  return toText(normalise(text))
}

/**
 * As {@link toIndexText}, with `ä`, `ö` and `ü` as `a`, `o` and `u`: the form in which stored embedding models
 * have their words.
 */
export function toFoldedText(text: string): string {
  return toText(normalise(text, 'folded'))
}

function toText(normalised: string): string {
  const tokens = isAscii(normalised)
    ? toAsciiTokens(normalised)
    : toRuns(normalised).flatMap(toIndexTokens)
  // At the end, so that they do not separate adjacent words.
  return [...tokens, ...toJoined(normalised)].join(' ')
}

/** Longer words are cut: nobody types them, and PostgreSQL refuses a query with one over 2 kB. */
const maxTokenLength = 64
const asciiWords = /[a-z0-9]+/g
export const wordPattern = /[\p{L}\p{N}\p{M}]+/gu

/** A spaced word, or a run of characters of a script without spaces, such as Chinese. */
export interface Run {
  text: string
  /** Whether the script has no spaces, so that the run is indexed as pairs of characters. */
  unspaced: boolean
}

/** The runs of a normalised text in order. Everything except letters, digits and marks separates them. */
export function toRuns(normalised: string): Run[] {
  const runs: Run[] = []
  for (const [word] of normalised.matchAll(wordPattern)) {
    if (isAscii(word)) {
      runs.push(toSpacedRun(word))
      continue
    }
    for (const [text] of word.matchAll(scriptRuns)) {
      if (isUnspaced(text)) runs.push({ text, unspaced: true })
      else if (isUnsegmented(text)) {
        for (const { segment } of segmentRun(text)) runs.push(toSpacedRun(segment))
      } else runs.push(toSpacedRun(text))
    }
  }
  return runs
}

/** The tokens of ASCII text, in a tenth of the time that runs take. */
function toAsciiTokens(normalised: string): string[] {
  return (normalised.match(asciiWords) ?? []).map(shorten)
}

function toSpacedRun(text: string): Run {
  return { text: shorten(text), unspaced: false }
}

/** The overlapping pairs of characters of a run: `東京都` gives `東京`, `京都`. */
export function toBigrams(run: string): string[] {
  const characters = [...run]
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`)
}

/**
 * The tokens under which a run is indexed. The last character of a CJK run is a token of its own, so that
 * every character begins a token and a search for one character works by prefix.
 */
export function toIndexTokens(run: Run): string[] {
  if (!run.unspaced) return [run.text]
  return [...toBigrams(run.text), ...[...run.text].slice(-1)]
}

export function shorten(word: string): string {
  // By code points, so that no character outside the basic plane is cut in half.
  return word.length > maxTokenLength ? [...word].slice(0, maxTokenLength).join('') : word
}

/** Alphabetic scripts that are written without spaces between words. */
const unsegmented = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const hasLetter = /[\p{L}\p{N}]/u

// The script of the text selects the dictionary, not this language.
const segmenter = new Intl.Segmenter('th', { granularity: 'word' })

/** Characters that are segmented at a time: the time that ICU takes grows with their square. */
const segmentedAtOnce = 500
/** Characters at the end of a piece in which words may be others than in the whole. */
const unsureAtEnd = 50

/** Whether a run may be several words without spaces between them. */
export function isUnsegmented(word: string): boolean {
  return unsegmented.test(word)
}

/** The words of a run without spaces, by the dictionaries of ICU, with their offsets. */
export function segmentRun(run: string): { segment: string; index: number }[] {
  const segments: { segment: string; index: number }[] = []
  let start = 0
  while (start < run.length) {
    const piece = pieceOf(run, start)
    const isLast = start + piece.length === run.length
    const sureEnd = isLast ? piece.length : piece.length - unsureAtEnd
    let next = piece.length
    for (const { segment, index } of segmenter.segment(piece)) {
      // The next piece begins with the first word that may go on in it.
      if (index >= sureEnd) next = Math.min(next, index)
      else segments.push({ segment, index: start + index })
    }
    start += next
  }
  return segments.filter(({ segment }) => hasLetter.test(segment))
}

/** The part of a run that is segmented next; no character is cut in half. */
function pieceOf(run: string, start: number): string {
  const end = start + segmentedAtOnce
  const isHalf = /[\ud800-\udbff]/.test(run[end - 1] ?? '') && end < run.length
  return run.slice(start, isHalf ? end + 1 : end)
}
