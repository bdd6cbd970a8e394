import {
  askingWordsOf,
  functionWordsOf,
  isEnding,
  isUnspaced,
  joinedAsWhole,
  locateSpacedCodes,
  normalise,
  otherNotations,
  type Run,
  type SpacedCode,
  toBigrams,
  toIndexTokens,
  toJoined,
  toRuns,
} from '@botstead/documents/text'

/** Limits the work of one search; a question has about eight terms. */
const maxTerms = 100
const maxPhrases = 20
const maxPhraseTerms = 32

/**
 * A parsed query, independent of the engine. Every token consists of letters, digits and marks
 * only; one that ends with `*` is a prefix.
 */
export interface Query {
  /** Tokens of which any may occur, each listed once. */
  terms: string[]
  /** Adjacent tokens in this order: quoted words, and codes such as `v1.2.3`. */
  phrases: string[][]
  /** The literal phrases: quoted words, codes that contain a digit, and numbers that name things. */
  exact: string[][]
}

const quotedText = /"([^"]+)"|[“„]([^“”„]+)[“”]|«([^«»]+)»|「([^「」]+)」|『([^『』]+)』/g
/** A code without punctuation: `E07`, `RC20`, `4711AB3`. */
const shortCode =
  /(?<![\p{L}\p{N}])(?:\p{Lu}+\p{N}|\p{N}{2,}\p{Lu})[\p{Lu}\p{N}]*(?![\p{L}\p{N}])/gu
/**
 * A number that names a thing, such as a customer or an order: with a zero in front, or of six digits and more. Amounts
 * have points or commas, or fewer digits.
 */
const namingNumber =
  /(?<![\p{L}\p{N}\p{M}.,])(?:0\p{N}{2,}|\p{N}{6,})(?![\p{L}\p{N}\p{M}]|[.,]\p{N})/gu
/** A code, a version or an address, whose parts are joined by punctuation. */
const compoundWord = /[\p{L}\p{N}\p{M}]+(?:[._\-\u2010-\u2014\u2212@/:+#&~^]+[\p{L}\p{N}\p{M}]+)+/gu

/**
 * Parses a question or a list of keywords.
 * Function words are omitted unless there is nothing else; a quoted phrase keeps them.
 */
export function toQuery(text: string): Query {
  const normalised = normalise(text)
  const quoted = [...normalised.matchAll(quotedText)].map((match) =>
    toPhrase(match.slice(1).find((group) => group !== undefined) ?? ''),
  )
  const spaced = locateSpacedCodes(normalised)
  const joined = joinSpaced(normalised, spaced)
  const compounds: string[][] = []
  const codes: string[][] = spaced.map(({ token }) => [token])
  for (const [compound] of joined.matchAll(compoundWord)) {
    const runs = toRuns(compound)
    if (runs.some((run) => run.unspaced)) continue
    const parts = runs.map((run) => run.text)
    compounds.push(parts)
    const whole = joinedAsWhole(compound)
    if (whole !== undefined) codes.push([whole])
    else if (isCode(parts)) codes.push(parts)
  }
  // A part of a longer code is none by itself.
  const words = new Set(toRuns(withWholeCodes(text)).map((run) => run.text))
  const shortCodes = [shortCode, namingNumber].flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([code]) => [normalise(code)]),
  )
  const runs = toRuns(joined)
  const tokens = [...new Set([...runs.flatMap(toTerms), ...toJoined(joined)])]
  // Pairs of characters are not words.
  const grammar = functionWordsOf(runs.filter(({ unspaced }) => !unspaced).map(({ text }) => text))
  const meaningful = tokens.filter((token) => !grammar.has(token))
  return {
    terms: (meaningful.length > 0 ? meaningful : tokens).slice(0, maxTerms),
    phrases: distinct([...quoted, ...compounds].filter((phrase) => phrase.length > 1)),
    exact: distinct([
      ...quoted.filter((phrase) => phrase.length > 0),
      ...codes,
      ...shortCodes.filter(([code]) => code !== undefined && words.has(code)),
    ]),
  }
}

/** A text with its telephone numbers and accounts as one word each. */
function joinSpaced(normalised: string, spaced: readonly SpacedCode[]): string {
  let joined = ''
  let from = 0
  for (const { token, start, end } of spaced) {
    joined += `${normalised.slice(from, start)} ${token} `
    from = end
  }
  return joined + normalised.slice(from)
}

/** Words joined by hyphens, which people also write as one. */
const hyphenated =
  /(?<![\p{L}\p{N}\p{M}])\p{L}{2,20}(?:[-\u2010\u2011]\p{L}{2,20}){1,2}(?![\p{L}\p{N}\p{M}])/gu
const hyphen = /[-\u2010\u2011]/u

/**
 * Other notations of the words and codes of a question, by which passages may have them: tokens with spaces between them,
 * by the term of the query.
 */
export function toNotations(text: string, { terms }: Query): Map<string, string[]> {
  const normalised = normalise(text)
  const notations = new Map(terms.map((term) => [term, otherNotations(term)]))
  for (const { token, others } of locateSpacedCodes(normalised)) notations.set(token, [...others])
  for (const [compound] of normalised.matchAll(hyphenated)) {
    if (isUnspaced(compound)) continue
    const parts = compound.split(hyphen)
    for (const part of parts) notations.get(part)?.push(parts.join(''))
  }
  return new Map([...notations].filter(([, others]) => others.length > 0))
}

/** Whether a query is empty: the text had no letter and no digit. */
export function isEmptyQuery(query: Query): boolean {
  return query.terms.length === 0 && query.phrases.length === 0
}

function toTerms(run: Run): string[] {
  if (!run.unspaced) return [run.text]
  const bigrams = toBigrams(run.text)
  return bigrams.length > 0 ? bigrams : [`${run.text}*`]
}

/**
 * The tokens of a phrase as they are in the index. Only its last run may continue in the text, so
 * only that one is written without the closing single character of an index run.
 */
function toPhrase(text: string): string[] {
  const runs = toRuns(text)
  const last = runs.at(-1)
  if (last === undefined) return []
  const tokens = [...runs.slice(0, -1).flatMap(toIndexTokens), ...toTerms(last)]
  return tokens.slice(0, maxPhraseTerms)
}

/** Whether a compound is a code or a number; words joined by a hyphen are only likely to be adjacent. */
function isCode(compound: readonly string[]): boolean {
  return compound.length > 1 && compound.some((part) => /\p{N}/u.test(part))
}

function distinct(phrases: string[][]): string[][] {
  const all = [...new Map(phrases.map((phrase) => [phrase.join(' '), phrase])).values()]
  return all.slice(0, maxPhrases)
}

// This dictionary contains the words of Chinese and of Japanese.
const segmenter = new Intl.Segmenter('zh', { granularity: 'word' })

/** The subject of a question, as opposed to its grammar. */
export interface Subject {
  /** Words, and pairs of characters inside of words, that name the subject. */
  terms: ReadonlySet<string>
  /** Whether it consists of function words alone, which then are its terms. */
  isGrammar: boolean
}

/** A question in the form of `normalise`, with each code in it as one word. */
export function withWholeCodes(text: string): string {
  const normalised = normalise(text)
  return joinSpaced(normalised, locateSpacedCodes(normalised)).replace(
    compoundWord,
    (compound) => joinedAsWhole(compound) ?? compound,
  )
}

/** Finds the words of a question that name its subject; a code in any notation is one word. */
export function toSubject(text: string): Subject {
  const joined = withWholeCodes(text)
  const words = toRuns(joined).flatMap((run) =>
    run.unspaced
      ? [...segmenter.segment(run.text)].map(({ segment }) => ({ text: segment, unspaced: true }))
      : [run],
  )
  const grammar = functionWordsOf(words.map(({ text }) => text))
  const asking = askingWordsOf(words.map(({ text }) => text))
  const content = words.filter(({ text }) => !grammar.has(text))
  const named = content.filter(({ text }) => !asking.has(text))
  const subject = named.length > 0 ? named : content
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
