import {
  functionWordsOf,
  isEnding,
  joinedAsWhole,
  normalise,
  type Run,
  toBigrams,
  toIndexTokens,
  toJoined,
  toRuns,
} from '@botstead/documents/text'

/** Bounds the work of one search; a question has about eight terms. */
const maximumTerms = 100
const maximumPhrases = 20
const longestPhrase = 32

/**
 * What to look for, in no engine's language. Every token consists of letters, digits and marks
 * alone; one that ends with `*` stands for all tokens that begin with it.
 */
export interface Query {
  /** Tokens of which any may occur. Each is listed once. */
  terms: string[]
  /** Tokens that stand next to each other in this order: quoted words, and codes such as `v1.2.3`. */
  phrases: string[][]
  /** Those of the phrases that were meant literally: quoted words, and codes that have a digit. */
  exact: string[][]
}

const quotedText = /"([^"]+)"|[“„]([^“”„]+)[“”]|«([^«»]+)»|「([^「」]+)」|『([^『』]+)』/g
/** What is a code although nothing holds it together: `E07`, `RC20`. */
const shortCode = /(?<![\p{L}\p{N}])\p{Lu}+\p{N}[\p{Lu}\p{N}]*(?![\p{L}\p{N}])/gu
/** What holds a code, a version or an address together, as opposed to what ends a word. */
const compoundWord = /[\p{L}\p{N}\p{M}]+(?:[._\-@/:+#&~]+[\p{L}\p{N}\p{M}]+)+/gu

/**
 * Reads a question or a list of keywords.
 * Function words are left out unless there is nothing else; a quoted phrase keeps them.
 */
export function toQuery(text: string): Query {
  const normalised = normalise(text)
  const quoted = [...normalised.matchAll(quotedText)].map((match) =>
    toPhrase(match.slice(1).find((group) => group !== undefined) ?? ''),
  )
  const compounds: string[][] = []
  const codes: string[][] = []
  for (const [compound] of normalised.matchAll(compoundWord)) {
    const runs = toRuns(compound)
    if (runs.some((run) => run.unspaced)) continue
    const parts = runs.map((run) => run.text)
    compounds.push(parts)
    const joined = joinedAsWhole(compound)
    if (joined !== undefined) codes.push([joined])
    else if (isCode(parts)) codes.push(parts)
  }
  const shortCodes = [...text.matchAll(shortCode)].map(([code]) => [normalise(code)])
  const runs = toRuns(normalised)
  const tokens = [...new Set([...runs.flatMap(toTerms), ...toJoined(normalised)])]
  // Pairs of characters are no words.
  const grammar = functionWordsOf(runs.filter(({ unspaced }) => !unspaced).map(({ text }) => text))
  const meaningful = tokens.filter((token) => !grammar.has(token))
  return {
    terms: (meaningful.length > 0 ? meaningful : tokens).slice(0, maximumTerms),
    phrases: distinct([...quoted, ...compounds].filter((phrase) => phrase.length > 1)),
    exact: distinct([
      ...quoted.filter((phrase) => phrase.length > 0),
      ...codes,
      ...shortCodes.filter(([code]) => code !== undefined && tokens.includes(code)),
    ]),
  }
}

/** Whether there is nothing to look for: the text had no letter and no digit. */
export function isEmptyQuery(query: Query): boolean {
  return query.terms.length === 0 && query.phrases.length === 0
}

function toTerms(run: Run): string[] {
  if (!run.unspaced) return [run.text]
  const bigrams = toBigrams(run.text)
  return bigrams.length > 0 ? bigrams : [`${run.text}*`]
}

/**
 * The tokens of a phrase as they stand in the index. Only its last run may go on in the text, so
 * only that one is written without the closing single character of an index run.
 */
function toPhrase(text: string): string[] {
  const runs = toRuns(text)
  const last = runs.at(-1)
  if (last === undefined) return []
  const tokens = [...runs.slice(0, -1).flatMap(toIndexTokens), ...toTerms(last)]
  return tokens.slice(0, longestPhrase)
}

/** A code or a number is looked up; words with a hyphen between them are only likely to stand together. */
function isCode(compound: readonly string[]): boolean {
  return compound.length > 1 && compound.some((part) => /\p{N}/u.test(part))
}

function distinct(phrases: string[][]): string[][] {
  const all = [...new Map(phrases.map((phrase) => [phrase.join(' '), phrase])).values()]
  return all.slice(0, maximumPhrases)
}

// Its dictionary holds the words of Chinese and of Japanese.
const segmenter = new Intl.Segmenter('zh', { granularity: 'word' })

/** What a question is about, as opposed to how it is asked. */
export interface Subject {
  /** Words, and pairs of characters inside of words, that name the subject. */
  terms: ReadonlySet<string>
  /** Whether it consists of function words alone, which then are its terms. */
  isGrammar: boolean
}

/** Finds the words of a question that name its subject. */
export function toSubject(text: string): Subject {
  const words = toRuns(normalise(text)).flatMap((run) =>
    run.unspaced
      ? [...segmenter.segment(run.text)].map(({ segment }) => ({ text: segment, unspaced: true }))
      : [run],
  )
  const grammar = functionWordsOf(words.map(({ text }) => text))
  const subject = words.filter(({ text }) => !grammar.has(text))
  const isGrammar = subject.length === 0
  return { terms: new Set((isGrammar ? words : subject).flatMap(toNamingTerms)), isGrammar }
}

function toNamingTerms({ text, unspaced }: { text: string; unspaced: boolean }): string[] {
  if (!unspaced) return [text]
  const pairs = toBigrams(text)
  const naming = pairs.filter((pair) => !isEnding(pair))
  if (naming.length > 0) return naming
  return pairs.length > 0 ? pairs : [`${text}*`]
}
