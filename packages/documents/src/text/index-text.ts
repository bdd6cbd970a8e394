import { isAscii, isUnspaced, normalise, RUNS } from './normalise.js'

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
const LONGEST_TOKEN = 64
const ASCII_WORDS = /[a-z0-9]+/g
const WORDS = /[\p{L}\p{N}\p{M}]+/gu

/** A spaced word, or a run of characters of a script without spaces, such as Chinese. */
export interface Run {
  text: string
  /** Whether the script has no spaces, so that the run is indexed as pairs of characters. */
  unspaced: boolean
}

/** The runs of a normalised text in order. Everything except letters, digits and marks separates them. */
export function toRuns(normalised: string): Run[] {
  const runs: Run[] = []
  for (const [word] of normalised.matchAll(WORDS)) {
    if (isAscii(word)) {
      runs.push(toSpacedRun(word))
      continue
    }
    for (const [text] of word.matchAll(RUNS)) {
      if (isUnspaced(text)) runs.push({ text, unspaced: true })
      else if (isUnsegmented(text)) runs.push(...segmentWords(text).map(toSpacedRun))
      else runs.push(toSpacedRun(text))
    }
  }
  return runs
}

/** The tokens of ASCII text, in a tenth of the time that runs take. */
function toAsciiTokens(normalised: string): string[] {
  return (normalised.match(ASCII_WORDS) ?? []).map(shorten)
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

function shorten(word: string): string {
  // By code points, so that no character outside the basic plane is cut in half.
  return word.length > LONGEST_TOKEN ? [...word].slice(0, LONGEST_TOKEN).join('') : word
}

/** Numbers with separated thousands: `1.245`, `1,245`, `1 245`, `1'245`. */
const GROUPED = /(?<![\p{L}\p{N}.,_])\p{Nd}{1,3}(?:([.,' ’])\p{Nd}{3})(?:\1\p{Nd}{3})*(?!\p{N})/gu
/** Letters and a number that people also write as one word: `UTF-8`, `HP-400`. */
const LETTERS_AND_NUMBER = /(?<![\p{L}\p{N}])\p{L}{1,5}-\p{N}{1,6}(?![\p{L}\p{N}])/gu
const MAY_HAVE_ANY = /\p{N}[.,' ’]\p{N}{3}|\p{L}-\p{N}/u
const SEPARATORS = /[^\p{L}\p{N}]/gu

/**
 * Tokens without separators for numbers and codes that contain them: people also search for `1245` and
 * `utf8`.
 *
 * @param normalised in the form of `normalise`
 */
export function toJoined(normalised: string): string[] {
  if (!MAY_HAVE_ANY.test(normalised)) return []
  const matches = [GROUPED, LETTERS_AND_NUMBER].flatMap(
    (pattern) => normalised.match(pattern) ?? [],
  )
  return [...new Set(matches.map(join))]
}

/** The joined token of a compound that is one such number or code as a whole. */
export function joinedAsWhole(compound: string): string | undefined {
  const [token, ...more] = toJoined(compound)
  return more.length === 0 && token === join(compound) ? token : undefined
}

function join(text: string): string {
  return text.replace(SEPARATORS, '')
}

/** Alphabetic scripts that are written without spaces between words. */
const UNSEGMENTED = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const HAS_LETTER = /[\p{L}\p{N}]/u

// The script of the text selects the dictionary, not this language.
const segmenter = new Intl.Segmenter('th', { granularity: 'word' })

/** Whether a run may be several words without spaces between them. */
function isUnsegmented(word: string): boolean {
  return UNSEGMENTED.test(word)
}

/** The words of a text without spaces, by the dictionaries of ICU. */
function segmentWords(text: string): string[] {
  return [...segmenter.segment(text)]
    .map(({ segment }) => segment)
    .filter((segment) => HAS_LETTER.test(segment))
}
