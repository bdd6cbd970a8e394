import type { Db } from '../../../platform/db/schema.js'
import type { FileScope, TagCondition } from '../../files/lookup/index.js'
import type { Frequencies, KeywordHit, KeywordReader } from '../keywords/index.js'
import type { Query } from '../query.js'
import { findWords } from '../vocabulary-store.js'
import type { Substitutes } from './coverage.js'
import { findGermanForms } from './german.js'
import { neighbourhood, toExpandable, toSubstitutes } from './query-expansion.js'
import { toOtherEnglish, toSpellings } from './spellings.js'

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
  /** How common the words of the question are. */
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
      }))
      // With as many matches as can be used, compounds of a word add nothing.
      .filter(({ isMissing }) => isMissing || !isFull),
  )
  const near =
    expandable.length === 0
      ? new Map()
      : toSubstitutes(expandable, await findWords(db, botId, neighbourhood(expandable)))
  const german = await findGermanForms(db, botId, search.query, query.terms)
  const substitutes = join([toEnglishForms(query.terms), german, near])
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
  for (const { isMissing, worth } of groups) {
    const ofGroup = [...substitutes].filter(
      ([word]) => (frequencies.counts.get(word) === 0) === isMissing,
    )
    const terms = [...new Set(ofGroup.flatMap(([, others]) => [...others.keys()]))]
    if (terms.length === 0) continue
    const query = { terms, phrases: [], exact: [] }
    all = merge(all, await keywords.search({ ...search, query }), worth, search.limit)
  }
  return all
}

/** American counterparts of British words and the reverse, which have the same meaning. */
function toEnglishForms(terms: readonly string[]): Substitutes {
  const forms = terms.map((word): [string, ReadonlyMap<string, number>] => [
    word,
    new Map(toOtherEnglish(word).map((other) => [other, spellingWorth])),
  ])
  return new Map(forms.filter(([, others]) => others.size > 0))
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
