import type { Neighbourhood } from '../vocabulary-store.js'
import { likelihoodOfSlip } from './slips.js'
import { withoutMarks } from './spellings.js'
import { countBits, isForm, letterSet } from './word-likeness.js'

/** A word of a question that may be expanded by other words. */
export interface ExpandableWord {
  word: string
  /** Alternative spellings. */
  spellings: readonly string[]
  /** Further spellings that must match exactly. */
  marked?: readonly string[]
  /** Whether no passage has it. A word that passages have is only searched as the last part of longer words. */
  isMissing: boolean
  /** Whether it is a word of a language, which people mean when they type it. */
  isWord?: boolean
}

/** Shorter words have too many neighbours with another meaning. */
const shortestExpanded = 4
const maxExpandedLength = 40
/** Words of a query that are expanded, the longest first, because they are the most significant. */
const maxWords = 8
/** Neighbours of one word, and of all words together: each is one more word to search for. */
const maxNeighbours = 20
const maxInAll = 40
/** Letters that the first part of a compound must have, so that `port` does not match `support`. */
const shortestHead = 4
const shortestHeadOfMissing = 2
const shortestPart = 4
/** Shorter words that differ by umlaut and ending are unrelated: _groß_ and _Größe_. */
const minFormLength = 6

/** Inflectional endings of German, Dutch and Scandinavian words, longest first. */
const endings = ['ern', 'ens', 'ar', 'or', 'en', 'er', 'es', 'et', 'em', 'na', 'e', 'n', 's', '']
const knownEndings: ReadonlySet<string> = new Set(endings)
const maxEnding = 3

/** The worth of similar words. */
const worths = {
  spelling: 0.95,
  form: 0.9,
  longer: 0.8,
  compound: 0.7,
  part: 0.9,
  beginning: 0.3,
}

/** Factor of the worth of a similar word if the word of the question belongs to a language. */
const worthsForWords = { slip: 0.25, longer: 0.6, part: 0.6 }

/** Common first letters from which two compounds share a subject, such as the tax of a return and of a notice. */
const shortestBeginning = 6

/** Selects the words that are expanded. */
export function toExpandable(words: readonly ExpandableWord[]): ExpandableWord[] {
  return words
    .filter(({ word, spellings }) => word.length >= shortestExpanded || spellings.length > 0)
    .filter(({ word }) => word.length <= maxExpandedLength && /^[\p{L}\p{M}]+$/u.test(word))
    .sort((a, b) => Number(b.isMissing) - Number(a.isMissing) || b.word.length - a.word.length)
    .slice(0, maxWords)
}

/** The parts of the vocabulary that contain neighbours of the words of a question. */
export function neighbourhood(words: readonly ExpandableWord[]): Neighbourhood {
  const missing = words.filter(({ isMissing }) => isMissing).map(({ word }) => word)
  const typed = missing.filter(({ length }) => length >= shortestExpanded)
  const ways = words.flatMap(({ word, spellings, isMissing }) =>
    isMissing ? [word, ...spellings] : [word],
  )
  const tails = ways.flatMap((word) => endings.map((ending) => stemOf(word) + ending))
  return {
    prefixes: distinct([
      ...typed.flatMap(toIntactBeginnings),
      ...words.flatMap(({ isMissing, marked = [] }) =>
        isMissing ? marked.flatMap(toIntactBeginnings) : [],
      ),
      ...typed.filter(mayBeCompound).map((word) => word.slice(0, shortestBeginning)),
    ]),
    suffixes: distinct([...typed.map((word) => word.slice(-intactEnd)), ...tails]),
    words: distinct([
      ...typed.flatMap(toParts),
      ...typed.flatMap(toSwapped),
      ...words.flatMap(({ isMissing, spellings, marked = [] }) =>
        isMissing ? [...spellings, ...marked] : [],
      ),
    ]),
  }
}

/**
 * Substitutes for words: other spellings, words that differ by a typing error or two, longer words that
 * begin or end with the word, and parts of it. Each with its worth, from 0 to 1.
 *
 * @param listed words in the {@link neighbourhood}
 */
export function toSubstitutes(
  words: readonly ExpandableWord[],
  listed: readonly string[],
): Map<string, Map<string, number>> {
  const others = listed.map(toListed)
  const known = new Set(listed)
  const max = Math.min(maxNeighbours, Math.floor(maxInAll / words.length))
  const found = words.map((each): [string, Map<string, number>] => {
    const worthOf = toJudge(each)
    const near: [string, number][] = []
    for (const other of others) {
      const worth = worthOf(other)
      if (worth > 0) near.push([other.word, worth])
    }
    if (each.isMissing) near.push(...toPairs(each.word, known))
    near.sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
    const best = near[0]?.[1] ?? 0
    // A word that only has the same beginning is a guess, used for lack of anything better.
    const kept = near.filter(([, worth]) => worth > worths.beginning || worth === best)
    return [each.word, new Map(kept.slice(0, max))]
  })
  return new Map(found.filter(([, near]) => near.size > 0))
}

/** The two listed words, one after the other, that a word consists of: `battery driven` for `batterydriven`. */
function toPairs(word: string, listed: ReadonlySet<string>): [string, number][] {
  const pairs: [string, number][] = []
  for (let at = shortestPart; at <= word.length - shortestPart; at++) {
    const [first, second] = [word.slice(0, at), word.slice(at)]
    if (listed.has(first) && listed.has(second)) pairs.push([`${first} ${second}`, worths.spelling])
  }
  return pairs
}

/** A word of the vocabulary, with data that excludes most of them quickly: tens of thousands can be near. */
interface Listed {
  word: string
  letters: number
  /** The same without possible umlauts, if it has any. */
  bare?: Listed
}

type Judge = (other: Listed) => number

const letterE = letterSet('e')
const lettersBeforeE = letterSet('aou')

function toListed(word: string): Listed {
  const listed = { word, letters: letterSet(word) }
  if (!hasAll(listed.letters, letterE) || (listed.letters & lettersBeforeE) === 0) return listed
  const bare = withoutMarks(word)
  return bare === word ? listed : { ...listed, bare: { word: bare, letters: letterSet(bare) } }
}

/** Whether a set of letters contains another one; comparing sets excludes most words. */
function hasAll(letters: number, others: number): boolean {
  return (others & ~letters) === 0
}

function toJudge({ word, spellings, isMissing, isWord = false }: ExpandableWord): Judge {
  if (!isMissing) {
    const stem = stemOf(word)
    const lettersOfStem = letterSet(stem)
    const shortest = stem.length + shortestHead
    return ({ word: other, letters }) =>
      other.length >= shortest &&
      hasAll(letters, lettersOfStem) &&
      headLength(stem, other) >= shortestHead
        ? worths.compound
        : 0
  }
  const asTyped = toJudgeOfMissing(word, isWord)
  const otherwise = spellings.map((each) => toJudgeOfMissing(each, isWord))
  return (other) => {
    if (other.word === word) return 0
    let worth = asTyped(other)
    // People without the keys of another language omit its marks.
    if (other.bare !== undefined) {
      const asForm = word.length >= minFormLength && isForm(word, other.bare.word) ? worths.form : 0
      worth = Math.max(worth, asForm, worths.spelling * asTyped(other.bare))
    }
    for (const judge of otherwise) worth = Math.max(worth, worths.spelling * judge(other))
    return worth
  }
}

function toJudgeOfMissing(word: string, isWord: boolean): Judge {
  if (word.length < shortestExpanded) return (other) => Number(other.word === word)
  const letters = letterSet(word)
  const stem = stemOf(word)
  const lettersOfStem = letterSet(stem)
  const allowed = word.length >= 8 ? 2 : 1
  const factors = isWord ? worthsForWords : { slip: 1, longer: 1, part: 1 }
  return (listed) => {
    const other = listed.word
    if (word === other) return 1
    if (hasAll(listed.letters, letters) && other.startsWith(word))
      return worths.longer * factors.longer
    const isAsLong = Math.abs(word.length - other.length) <= allowed
    // Each error changes at most two letters of the set.
    if (isAsLong && countBits(letters ^ listed.letters) <= 2 * allowed) {
      const slip = likelihoodOfSlip(word, other, allowed)
      if (slip > 0) return slip * factors.slip
    }
    const isLonger = other.length >= stem.length + shortestHeadOfMissing
    const mayEndAlike = isLonger && hasAll(listed.letters, lettersOfStem)
    if (mayEndAlike && headLength(stem, other) >= shortestHeadOfMissing) return worths.compound
    const isPart =
      hasAll(letters, listed.letters) && (word.startsWith(other) || word.endsWith(other))
    if (isPart) return (factors.part * worths.part * other.length) / word.length
    return beginAlike(word, other) ? worths.beginning : 0
  }
}

function mayBeCompound(word: string): boolean {
  return word.length >= shortestBeginning + shortestPart
}

/** Whether two words have the same beginning, followed by something that is long enough for a word. */
function beginAlike(word: string, other: string): boolean {
  if (!mayBeCompound(word) || !mayBeCompound(other)) return false
  let same = 0
  while (word[same] !== undefined && word[same] === other[same]) same++
  const rest = Math.min(word.length, other.length) - same
  return same >= shortestBeginning && rest >= shortestPart
}

/** Number of letters before a stem in a longer word that ends with it or one of its forms; -1 if it does not. */
function headLength(stem: string, longer: string): number {
  let at = longer.indexOf(stem, Math.max(0, longer.length - stem.length - maxEnding))
  while (at >= 0) {
    if (knownEndings.has(longer.slice(at + stem.length))) return at
    at = longer.indexOf(stem, at + 1)
  }
  return -1
}

/** A word without its ending, if enough is left of it. */
function stemOf(word: string): string {
  const ending = endings.find(
    (each) => word.endsWith(each) && word.length - each.length >= shortestPart,
  )
  return word.slice(0, word.length - (ending ?? '').length)
}

/**
 * Letters at the end and at the beginning of a word. One typing error leaves the ones or the others intact in a
 * word of six letters or more, unless it swaps the two letters in the middle.
 */
const intactEnd = 3
const intactBeginning = 3
/** For words of fewer letters than both. */
const intactBeginningOfShort = 2

function toIntactBeginnings(word: string): string[] {
  if (word.length < shortestExpanded) return []
  const isShort = word.length < intactBeginning + intactEnd
  return [word.slice(0, isShort ? intactBeginningOfShort : intactBeginning)]
}

/** The word with each two neighbouring letters swapped. */
function toSwapped(word: string): string[] {
  return Array.from(
    { length: word.length - 1 },
    (_, at) => `${word.slice(0, at)}${word[at + 1]}${word[at]}${word.slice(at + 2)}`,
  )
}

/** The possible parts of a compound: its beginnings and its ends. */
function toParts(word: string): string[] {
  const found: string[] = []
  for (let at = shortestPart; at < word.length; at++) found.push(word.slice(0, at))
  for (let at = 1; at <= word.length - shortestPart; at++) found.push(word.slice(at))
  return found
}

function distinct(words: readonly string[]): string[] {
  return [...new Set(words)]
}
