import { isAscii, isUnspaced, normalise, RUNS } from './normalise.js'

/**
 * The words of a text as both engines shall see them: lower case, without accents and punctuation,
 * separated by single spaces, CJK as pairs of characters, and once more in one what {@link toJoined} joins. Neither the FTS5 tokenizer nor the
 * Postgres parser finds anything in it that they would cut differently.
 *
 * @param text plain text or Markdown; punctuation and Markdown marks are not indexed
 */
export function toIndexText(text: string): string {
  return toText(normalise(text))
}

/**
 * As {@link toIndexText}, with `ä`, `ö` and `ü` as `a`, `o` and `u`: what models of meaning are made of. Those
 * that are stored know words in this form, and neighbours tell what a word means anyway.
 */
export function toFoldedText(text: string): string {
  return toText(normalise(text, 'folded'))
}

function toText(normalised: string): string {
  const tokens = isAscii(normalised)
    ? toAsciiTokens(normalised)
    : toRuns(normalised).flatMap(toIndexTokens)
  // At the end, where they part no words that stand together.
  return [...tokens, ...toJoined(normalised)].join(' ')
}

/** Longer words are cut: no one types them, and Postgres refuses a query with one over 2 kB. */
const LONGEST_TOKEN = 64
const ASCII_WORDS = /[a-z0-9]+/g
const WORDS = /[\p{L}\p{N}\p{M}]+/gu

/** A stretch of a word in one way of writing: either a spaced word, or a run of CJK characters. */
export interface Run {
  text: string
  /** Whether the script has no spaces, so that the run is indexed as pairs of characters. */
  unspaced: boolean
}

/** The runs of a normalised text in order; everything that is neither letter nor digit separates. */
export function toRuns(normalised: string): Run[] {
  const runs: Run[] = []
  for (const [word] of normalised.matchAll(WORDS)) {
    if (isAscii(word)) {
      runs.push(toSpacedRun(word))
      continue
    }
    for (const [text] of word.matchAll(RUNS)) {
      if (isUnspaced(text)) runs.push({ text, unspaced: true })
      else if (hasHiddenWords(text)) runs.push(...toHiddenWords(text).map(toSpacedRun))
      else runs.push(toSpacedRun(text))
    }
  }
  return runs
}

/** The same tokens as by way of runs, in a tenth of the time: most text is like this. */
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
 * The tokens under which a run is indexed. A CJK run ends with its last character alone, so that
 * every character begins some token and a query of one character can be answered by prefix.
 */
export function toIndexTokens(run: Run): string[] {
  if (!run.unspaced) return [run.text]
  return [...toBigrams(run.text), ...[...run.text].slice(-1)]
}

function shorten(word: string): string {
  // By code points, so that no character outside the basic plane is cut in half.
  return word.length > LONGEST_TOKEN ? [...word].slice(0, LONGEST_TOKEN).join('') : word
}

/** Thousands that are parted: `1.245`, `1,245`, `1 245`, `1'245`. */
const GROUPED = /(?<![\p{L}\p{N}.,_])\p{Nd}{1,3}(?:([.,' ’])\p{Nd}{3})(?:\1\p{Nd}{3})*(?!\p{N})/gu
/** Some letters and a number that people also write in one: `UTF-8`, `HP-400`. */
const LETTERS_AND_NUMBER = /(?<![\p{L}\p{N}])\p{L}{1,5}-\p{N}{1,6}(?![\p{L}\p{N}])/gu
const MAY_HAVE_ANY = /\p{N}[.,' ’]\p{N}{3}|\p{L}-\p{N}/u
const SEPARATORS = /[^\p{L}\p{N}]/gu

/**
 * Numbers and codes as one token, which are written with something between their parts: people ask for
 * `1245` and `utf8`, too.
 *
 * @param normalised in the form of `normalise`
 */
export function toJoined(normalised: string): string[] {
  if (!MAY_HAVE_ANY.test(normalised)) return []
  const found = [GROUPED, LETTERS_AND_NUMBER].flatMap((pattern) => normalised.match(pattern) ?? [])
  return [...new Set(found.map(join))]
}

/** The one token of a compound that is nothing but such a number or code. */
export function joinedAsWhole(compound: string): string | undefined {
  const [token, ...more] = toJoined(compound)
  return more.length === 0 && token === join(compound) ? token : undefined
}

function join(text: string): string {
  return text.replace(SEPARATORS, '')
}

/** Scripts that write words of several letters without spaces between them. */
const HIDING = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const HAS_LETTER = /[\p{L}\p{N}]/u

// Its dictionaries are chosen by the script of the text, not by this language.
const segmenter = new Intl.Segmenter('th', { granularity: 'word' })

/** Whether a word may be several words that are written together. */
function hasHiddenWords(word: string): boolean {
  return HIDING.test(word)
}

/** The words in a stretch of text without spaces, by the dictionary of the platform. */
function toHiddenWords(text: string): string[] {
  return [...segmenter.segment(text)]
    .map(({ segment }) => segment)
    .filter((segment) => HAS_LETTER.test(segment))
}
