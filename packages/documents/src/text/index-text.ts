import { isStopword } from './function-words.js'
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

/** Numbers with separated thousands: `1.245`, `1,245`, `1 245`, `1'245`. */
const groupedNumber =
  /(?<![\p{L}\p{N}.,_])\p{Nd}{1,3}(?:([.,' ’])\p{Nd}{3})(?:\1\p{Nd}{3})*(?!\p{N})/gu
/** Letters and a number that people also write as one word: `UTF-8`, `HP-400`. */
const lettersAndNumber = /(?<![\p{L}\p{N}])\p{L}{1,5}-\p{N}{1,6}(?![\p{L}\p{N}])/gu
/** A text that may be the number of a part, an article or an order: `4711-AB/3`, `88-120-4`. */
const dashed =
  /(?<![\p{L}\p{N}\p{M}./:@_\-\u2010-\u2014\u2212])[\p{L}\p{N}]{1,10}(?:[-\u2010-\u2014\u2212/_][\p{L}\p{N}]{1,10}){1,6}(?![\p{L}\p{N}\p{M}]|[-\u2010-\u2014\u2212./:@_][\p{L}\p{N}])/gu
const mayHaveJoined =
  /\p{N}[.,' ’]\p{N}{3}|\p{N}[-\u2010-\u2014\u2212/_][\p{L}\p{N}]|[\p{L}\p{N}][-\u2010-\u2014\u2212/_]\p{N}/u
const separatorSigns = /[^\p{L}\p{N}]/gu
const onlyDigits = /^\p{N}+$/u
const hasDigit = /\p{N}/u

/** A number or a code that contains separators. */
interface JoinedMatch {
  /** Without its separators. */
  token: string
  /** Its place in the text. */
  start: number
  end: number
}

/**
 * Numbers and codes that people write with separators and without, each once for each place.
 *
 * @param normalised in the form of `normalise`
 */
export function locateJoined(normalised: string): JoinedMatch[] {
  if (!mayHaveJoined.test(normalised)) return []
  const matches = new Map<string, JoinedMatch>()
  for (const pattern of [groupedNumber, lettersAndNumber, dashed]) {
    for (const { 0: match, index: start } of normalised.matchAll(pattern)) {
      if (pattern === dashed && !isPartNumber(match)) continue
      const token = match.replace(separatorSigns, '')
      matches.set(`${token} ${start}`, { token, start, end: start + match.length })
    }
  }
  return [...matches.values()]
}

/** Letters of a code that are not likely to be a word. */
const maxLettersLength = 3
/** Digits that two numbers need to be one code instead of a range: `555-1234`, but not `10-20`. */
const minOfPair = 6
const minDigits = 4

/** Whether words with separators between them are one code; `24-hour`, `1999-2004` and `read/write` are not. */
function isPartNumber(match: string): boolean {
  const parts = match.split(/[^\p{L}\p{N}]/u)
  const letters = parts.filter((part) => !hasDigit.test(part))
  if (letters.length === parts.length || isUnspaced(match)) return false
  if (letters.some((part) => part.length > maxLettersLength || isStopword(part))) return false
  const digits = match.replace(/[^\p{N}]/gu, '').length
  const isPair = parts.length === 2
  if (parts.every((part) => onlyDigits.test(part))) {
    const isRange = isPair && parts.every(({ length }) => length === minDigits)
    return !isRange && digits >= (isPair ? minOfPair : minDigits)
  }
  return !isPair || letters.length === 0 || digits >= minDigits
}

/**
 * Tokens without separators for numbers and codes that contain them: people also search for `1245`, `utf8`
 * and `4711ab3`.
 *
 * @param normalised in the form of `normalise`
 */
export function toJoined(normalised: string): string[] {
  return [...new Set(locateJoined(normalised).map(({ token }) => token))]
}

/** The joined token of a compound that is one such number or code as a whole. */
export function joinedAsWhole(compound: string): string | undefined {
  const whole = compound.replace(separatorSigns, '')
  return toJoined(compound).find((token) => token === whole)
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
