import { isUnspaced } from '@botstead/documents/text'
import type { Db } from '../../../platform/db/schema.js'
import type { FileScope, TagCondition } from '../../files/lookup/index.js'
import type { Frequencies, KeywordHit, KeywordReader } from '../keywords/index.js'
import { type Query, toNotations } from '../query.js'
import { findWords } from '../vocabulary-store.js'
import type { CandidateText } from './candidate-texts.js'
import type { Substitutes } from './coverage.js'
import { findGermanForms } from './german.js'
import { loadKnownWords } from './known-words.js'
import { neighbourhood, toExpandable, toSubstitutes } from './query-expansion.js'
import { toOtherEnglish, toSpellings } from './spellings.js'
import { toSynonyms } from './synonyms.js'
import { rankByWords, type WordRank } from './word-ranks.js'

/**
 * The worth of a match by a similar word instead of the word of the question: less where the word itself
 * occurs too and is counted already.
 */
const groups = [
  { isMissing: true, worth: 0.7 },
  { isMissing: false, worth: 0.5 },
] as const
/** The worth of a word that differs only in spelling. */
const spellingWorth = 0.95
/** The worth of a code in another notation. */
const notationWorth = 1
/** The worth of a word that means about the same. */
const synonymWorth = 0.7
/** The worth of a word that only asks, such as `long` and `take` in `how long does it take`. */
const askingWorth = 0.25

const hasDigit = /\p{N}/u

/** A question for the keyword index. */
export interface KeywordRequest {
  /** The question as it was typed. */
  query: string
  /** The files to search. */
  scope: FileScope
  tags: readonly TagCondition[]
}

/** The result of a search by words. */
export interface WordFindings {
  /** Best first. */
  hits: KeywordHit[]
  /** Numbers of passages that have the words of the question. */
  frequencies: Frequencies
  /** Words that were searched in addition to those of the question. */
  substitutes: Substitutes
}

/** Finds passages that have words of a question, or words similar to those that no passage has. */
export async function findByWords(
  keywords: KeywordReader,
  db: Db,
  query: Query,
  search: KeywordRequest & { limit: number },
): Promise<WordFindings> {
  const { botId } = search.scope
  const frequencies = await keywords.frequencies(query)
  if (frequencies.passages === 0) return { hits: [], frequencies, substitutes: new Map() }
  const known = await loadKnownWords()
  const hits = await keywords.search({ ...search, query: occurring(query, frequencies) })
  const isFull = hits.length >= search.limit
  const spellings = toSpellings(search.query)
  const expandable = toExpandable(
    query.terms
      .map((word) => ({
        word,
        spellings: spellings.get(word)?.similar ?? [],
        marked: spellings.get(word)?.marked ?? [],
        isMissing: frequencies.counts.get(word) === 0,
        isWord: known.has(word),
      }))
      // With as many matches as can be used, compounds of a word add nothing.
      .filter(({ isMissing }) => isMissing || !isFull),
  )
  const near =
    expandable.length === 0
      ? new Map()
      : toSubstitutes(expandable, await findWords(db, botId, neighbourhood(expandable)))
  const german = await findGermanForms(db, botId, search.query, query.terms)
  // Substitutes add little if passages have the word itself, or if there are as many matches as can be used.
  const absent = query.terms.filter((word) => frequencies.counts.get(word) === 0)
  const synonyms = isFull ? new Map() : toAll(absent, toSynonyms, () => synonymWorth)
  const english = toAll(query.terms, toOtherEnglish, () => spellingWorth)
  const notations = toNotations(search.query, query)
  const written = toAll(
    query.terms,
    (term) => notations.get(term) ?? [],
    (term) => (hasDigit.test(term) ? notationWorth : spellingWorth),
  )
  const substitutes = join([written, english, synonyms, german, near])
  const found = { hits, frequencies, substitutes }
  return { ...found, hits: await addSubstitutes(keywords, found, search) }
}

/** The parts of a query that some passage has; the others find nothing, and cost as much as rare words. */
function occurring({ terms, phrases, exact }: Query, { counts }: Frequencies): Query {
  return {
    terms: terms.filter((term) => counts.get(term) !== 0),
    phrases: phrases.filter((phrase) => counts.get(phrase.join(' ')) !== 0),
    exact,
  }
}

/** Adds the passages that have substitutes for the words of a question to those that have the words. */
export async function addSubstitutes(
  keywords: KeywordReader,
  { hits, frequencies, substitutes }: WordFindings,
  search: KeywordRequest & { limit: number },
): Promise<KeywordHit[]> {
  let all = hits
  for (const { terms, worth } of groupsOf(substitutes, frequencies)) {
    const phrases = terms.filter((term) => term.includes(' ')).map((term) => term.split(' '))
    const words = terms.filter((term) => !term.includes(' '))
    const query = { terms: words, phrases, exact: [] }
    all = merge(all, await keywords.search({ ...search, query }), worth, search.limit)
  }
  return all
}

/** Substitutes for the words that no passage has, and for the others, which count differently. */
function groupsOf(
  substitutes: Substitutes,
  { counts }: Frequencies,
): { terms: string[]; worth: number }[] {
  return groups.flatMap(({ isMissing, worth }) => {
    const ofGroup = [...substitutes].filter(([word]) => (counts.get(word) === 0) === isMissing)
    const terms = [...new Set(ofGroup.flatMap(([, others]) => [...others.keys()]))]
    return terms.length === 0 ? [] : [{ terms, worth }]
  })
}

/**
 * Ranks candidates by their texts: those with words of the question, or with substitutes for them.
 *
 * @param subject the words of the question that name its subject; the others only ask
 */
export function rankTexts(
  query: Query,
  { frequencies, substitutes }: Pick<WordFindings, 'frequencies' | 'substitutes'>,
  texts: ReadonlyMap<number, CandidateText>,
  subject: ReadonlySet<string>,
): Map<number, WordRank> {
  const others = groupsOf(substitutes, frequencies).map(({ terms, worth }) => ({
    parts: terms.map((term) => term.split(' ')),
    worth,
  }))
  const occurring = (tokens: readonly string[]) => frequencies.counts.get(tokens.join(' ')) !== 0
  // Pairs of characters that are in no word of a question are not words that ask.
  const isNaming = (term: string) => subject.has(term) || isUnspaced(term)
  const named = query.terms.filter(isNaming).map((term) => [term])
  const asking = query.terms.filter((term) => !isNaming(term)).map((term) => [term])
  const own = [
    { parts: [...named, ...query.phrases].filter(occurring), worth: 1 },
    { parts: asking.filter(occurring), worth: askingWorth },
  ]
  return rankByWords([...own, ...others], frequencies, texts)
}

/** Substitutes that do not depend on the passages. */
function toAll(
  terms: readonly string[],
  othersOf: (term: string) => readonly string[],
  worthOf: (term: string) => number,
): Substitutes {
  const found = terms.map((term): [string, ReadonlyMap<string, number>] => [
    term,
    new Map(othersOf(term).map((other) => [other, worthOf(term)])),
  ])
  return new Map(found.filter(([, others]) => others.size > 0))
}

/** Combines substitutes for each word; one that occurs several times has its highest worth. */
function join(found: readonly Substitutes[]): Substitutes {
  const all = new Map<string, Map<string, number>>()
  for (const [word, others] of found.flatMap((each) => [...each])) {
    const known = all.get(word) ?? new Map<string, number>()
    for (const [other, worth] of others) known.set(other, Math.max(worth, known.get(other) ?? 0))
    all.set(word, known)
  }
  return all
}

/** Merges matches by words and by substitutes, which count less. */
function merge(
  hits: readonly KeywordHit[],
  others: readonly KeywordHit[],
  worth: number,
  limit: number,
): KeywordHit[] {
  const all = new Map(hits.map((hit) => [hit.number, hit]))
  for (const { number, rank, score } of others) {
    const hit = all.get(number) ?? { number, rank: 0, score: 0 }
    all.set(number, {
      number,
      rank: hit.rank + rank * worth,
      score: Math.max(hit.score, score * worth),
    })
  }
  return [...all.values()].sort((a, b) => b.rank - a.rank || a.number - b.number).slice(0, limit)
}
