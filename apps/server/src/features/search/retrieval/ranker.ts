import { isStopword, toIndexText } from '@botstead/documents/text'
import {
  defaultWeights,
  type Retriever,
  type RetrieverWeights,
} from '../../../domain/retriever-weights.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Db } from '../../../platform/db/schema.js'
import {
  createKeywordIndex,
  type Frequencies,
  type KeywordHit,
  type KeywordReader,
} from '../keywords/index.js'
import { type Query, type Subject, toQuery, toSubject, withWholeCodes } from '../query.js'
import { type AskedKind, toAskedKind } from './asked-kind.js'
import {
  type CandidateText,
  createCandidateReader,
  type ReadCandidates,
} from './candidate-texts.js'
import {
  coverageOf,
  hasPhrase,
  isLiteral,
  type QueryPart,
  type Substitutes,
  shareBesides,
  titleCoverageOf,
  toQueryParts,
} from './coverage.js'
import { scoreGrams } from './grams.js'
import {
  findByWords,
  type KeywordRequest,
  rankTexts,
  type WordFindings,
} from './keyword-retriever.js'
import { type KnownWords, loadKnownWords } from './known-words.js'
import { type Candidate, type RankedPassage, type ScoreOptions, score } from './score.js'
import {
  createSemanticRetriever,
  type SemanticQuestion,
  type SemanticRequest,
  type SemanticRetriever,
} from './semantic-retriever.js'
import { bm25Rarity, maxPerWord } from './word-ranks.js'

/** A question, the files in which it searches, and the bounds of the ranking. */
export interface RankRequest extends KeywordRequest, SemanticRequest {
  /** Maximum number of passages, from 1. */
  limit: number
  /** Passages with a lower score are omitted; from 0 to 1. */
  minScore?: number
}

interface Ranking {
  /** Best first. */
  passages: RankedPassage[]
  /**
   * The unavailable retrievers; empty when the ranking is complete. `semantic-unavailable`: the database
   * cannot compare vectors. `semantic-pending`: the first vectors of the bot are being made.
   * `embeddings-unavailable`: the endpoint returned no vector for the question.
   */
  degraded: string[]
}

/** A question in the forms in which it is compared with texts. */
export interface Understanding {
  /** Its words and literal phrases with their weights. */
  parts: readonly QueryPart[]
  /** Its words in the spelling of the passages. */
  spelling: string
  /** Whether it consists only of words that occur everywhere. */
  isVague: boolean
  /** The kind of answer that it requests; undefined if it names none. */
  asked: AskedKind | undefined
  frequencies: Frequencies
}

/** All that a search knows of its candidates before it selects the best. */
export interface Examination {
  query: Query
  /** The candidates with the evidence of all retrievers, by number. */
  candidates: ReadonlyMap<number, Candidate>
  /** Undefined without candidates, with which it would be compared. */
  meaning: Understanding | undefined
  /** Reads the keyword index. */
  keywords: KeywordReader
  words: WordFindings | undefined
  question: SemanticQuestion | undefined
  scoring: ScoreOptions
  degraded: string | undefined
}

/** Turns a question into ranked passages. */
export interface Ranker {
  rank(db: Db, request: RankRequest): Promise<Ranking>
  /** As `rank`, before the best are selected. */
  examine(db: Db, request: RankRequest): Promise<Examination>
  readonly readCandidates: ReadCandidates
  readonly semantics: SemanticRetriever
}

export interface RankerOptions {
  dialect: Dialect
  /** Weights of the retrievers: for measuring the contribution of each. */
  weights?: RetrieverWeights
}

/** Maximum number of passages that each retriever of the whole index proposes. */
const proposals = 100

/** Depends only on the given handle, so that it works on any thread with its own connection. */
export function createRanker({ dialect, weights = defaultWeights }: RankerOptions): Ranker {
  const index = createKeywordIndex(dialect)
  const semantics = createSemanticRetriever(dialect)
  const readCandidates = createCandidateReader()
  const isUsed = (retriever: Retriever) => (weights[retriever] ?? 0) > 0

  async function examine(db: Db, request: RankRequest): Promise<Examination> {
    const query = toQuery(request.query)
    const limit = Math.max(proposals, request.limit)
    const keywords = await index.reader(db, request.scope.botId)
    const words = isUsed('keyword')
      ? await findByWords(keywords, db, query, { ...request, limit })
      : undefined
    const { question, degraded } = isUsed('semantic')
      ? await semantics.search(db, request, limit)
      : {}
    const candidates = await gather(words?.hits ?? [], question)
    let meaning: Understanding | undefined
    if (candidates.size > 0) {
      const texts = await readCandidates(db, [...candidates.keys()])
      const frequencies = words?.frequencies ?? (await keywords.frequencies(query))
      const known = await loadKnownWords()
      const substitutes = words?.substitutes ?? new Map()
      meaning = understand(request.query, query, frequencies, substitutes, known)
      addTexts(candidates, texts, query, meaning)
      addRanks(candidates, texts, { words, query, meaning })
    }
    const scoring = {
      weights,
      confidence: question?.confidence ?? 0,
      isLearned: question?.isLearned ?? true,
      terms: meaning?.parts.length ?? 0,
      maxRank: meaning === undefined ? 1 : maxRankOf(meaning.frequencies, meaning.parts),
      isVague: meaning?.isVague ?? false,
      limit: request.limit,
      minScore: request.minScore ?? 0,
    }
    return { query, candidates, meaning, keywords, words, question, scoring, degraded }
  }

  return {
    examine,
    readCandidates,
    semantics,

    async rank(db, request) {
      const { candidates, scoring, degraded } = await examine(db, request)
      return {
        passages: score([...candidates.values()], scoring),
        degraded: degraded === undefined ? [] : [degraded],
      }
    },
  }
}

/** BM25 of a passage that repeats each word of a question very often. */
function maxRankOf({ passages, counts }: Frequencies, parts: readonly QueryPart[]): number {
  const rarities = parts.map(({ tokens }) => {
    const having = Math.min(passages, counts.get(tokens.join(' ')) ?? 0)
    return bm25Rarity(passages, having)
  })
  return maxPerWord * rarities.reduce((sum, each) => sum + each, 0)
}

/** Collects the proposals of all retrievers, with the similarities of the semantic one for all of them. */
async function gather(
  hits: readonly KeywordHit[],
  question: SemanticQuestion | undefined,
): Promise<Map<number, Candidate>> {
  const candidates = new Map<number, Candidate>()
  for (const { number, rank, score } of hits) candidates.set(number, { number, rank, word: score })
  if (question === undefined) return candidates
  const near = new Map(question.nearest.map((each) => [each.number, each.likeness]))
  const unknown = hits.flatMap(({ number }) => (near.has(number) ? [] : [number]))
  for (const each of await question.likenesses(unknown)) near.set(each.number, each.likeness)
  for (const [number, likeness] of near) {
    if (likeness === 0 && !candidates.has(number)) continue
    candidates.set(number, { ...candidates.get(number), number, likeness })
  }
  return candidates
}

/** Share of a question from which a passage is examined for the requested kind of answer. */
const minShareIfAsked = 0.3

/** Adds the evidence of the texts of candidates. */
export function addTexts(
  candidates: ReadonlyMap<number, Candidate>,
  texts: ReadonlyMap<number, CandidateText>,
  query: Query,
  { spelling, parts, asked }: Pick<Understanding, 'spelling' | 'parts' | 'asked'>,
): void {
  const letters = scoreGrams(spelling, texts)
  const coverage = coverageOf(parts)
  const titleCoverage = titleCoverageOf(parts)
  const sections = new Map<string, Member[]>()
  // Codes have no other substitutes than their notations.
  const notations = new Map(
    parts.filter(isLiteral).map(({ tokens, substitutes }) => [tokens.join(' '), substitutes]),
  )
  const othersOf = (phrase: readonly string[]) =>
    [...(notations.get(phrase.join(' ')) ?? new Map<string, number>()).keys()].map((other) =>
      other.split(' '),
    )
  // Most candidates of a question belong to a few files.
  const coverageByName = new Map<string, number>()
  for (const [number, hashed] of texts) {
    const candidate = candidates.get(number)
    if (candidate === undefined) continue
    const { text, name, titles, section } = hashed
    const { share, isSure, sure } = coverage(hashed)
    candidate.found = share
    candidate.isSure = isSure
    candidate.titled = titleCoverage(titles)
    if (section !== undefined && isSure) {
      const members = sections.get(section)
      if (members === undefined) sections.set(section, [{ candidate, sure }])
      else members.push({ candidate, sure })
    }
    candidate.isAsked = share >= minShareIfAsked && asked?.isIn(text) === true
    candidate.named = coverageByName.get(name.text) ?? coverage(name).share
    coverageByName.set(name.text, candidate.named)
    const grams = letters.get(number)
    if (grams !== undefined) {
      candidate.grams = grams.score
      candidate.coverage = grams.coverage
    }
    if (query.exact.length > 0) {
      const stands = query.exact.filter((phrase) =>
        [phrase, ...othersOf(phrase)].some((tokens) => hasPhrase(text, tokens)),
      )
      candidate.literal = stands.length / query.exact.length
    }
  }
  for (const members of sections.values()) addNeighbours(members)
}

/** A passage of a section. */
interface Member {
  candidate: Candidate
  /** Its coverage of each part of the question. */
  sure: Float64Array
}

/** Passages of one section that are compared with each other: those that cover most. */
const maxCompared = 10

/** Adds what the passages below one heading cover of the question besides each other. */
function addNeighbours(members: Member[]): void {
  if (members.length < 2) return
  const best = members
    .sort((a, b) => (b.candidate.found ?? 0) - (a.candidate.found ?? 0))
    .slice(0, maxCompared)
  for (const { candidate, sure } of best) {
    candidate.beside = Math.max(...best.map((other) => shareBesides(other.sure, sure)))
  }
}

/** Replaces the ranks of the engine, which only select candidates, by those of the texts. */
export function addRanks(
  candidates: ReadonlyMap<number, Candidate>,
  texts: ReadonlyMap<number, CandidateText>,
  { words, query, meaning }: Pick<Examination, 'words' | 'query' | 'meaning'>,
): void {
  if (words === undefined) return
  const subject = new Set(meaning?.parts.flatMap(({ tokens }) => tokens))
  const ranks = rankTexts(query, words, texts, subject)
  for (const candidate of candidates.values()) {
    const found = ranks.get(candidate.number)
    if (found === undefined) {
      delete candidate.rank
      delete candidate.word
      continue
    }
    candidate.rank = found.rank
    candidate.word = found.score
  }
}

/** Weighs the words of a question by how common they are. */
export function understand(
  text: string,
  query: Query,
  frequencies: Frequencies,
  substitutes: Substitutes,
  known: KnownWords,
): Understanding {
  const asked = toAskedKind(text)
  const subject = withoutWords(toSubject(text), asked?.words)
  const { parts, isVague } = toQueryParts(query, subject, frequencies, substitutes, known)
  const codes = new Set(query.exact.flatMap((tokens) => (tokens.length === 1 ? tokens : [])))
  const spelling = asSpeltInPassages(
    withoutCodes(meaningful(text), codes),
    substitutes,
    frequencies,
  )
  return { parts, spelling, isVague, asked, frequencies }
}

/** A subject without words that only ask; as it is if nothing else is left. */
function withoutWords(subject: Subject, words: ReadonlySet<string> | undefined): Subject {
  if (words === undefined || subject.isGrammar) return subject
  const terms = [...subject.terms].filter((term) => !words.has(term))
  return terms.length === 0 ? subject : { ...subject, terms: new Set(terms) }
}

/** The words of a question without stopwords; all words if there is no other. */
function meaningful(query: string): string {
  const words = toIndexText(withWholeCodes(query))
  const kept = words.split(' ').filter((word) => !isStopword(word))
  return kept.length > 0 ? kept.join(' ') : words
}

const longNumber = /\p{N}{5}/u

/** Words without codes and long numbers: those with similar digits mean something else. */
function withoutCodes(words: string, codes: ReadonlySet<string>): string {
  return words
    .split(' ')
    .filter((word) => !codes.has(word) && !longNumber.test(word))
    .join(' ')
}

/** Worth from which a substitute is taken for the intended word. */
const surelyIntended = 0.85

/** The words of a question in the spelling of the passages. */
function asSpeltInPassages(
  words: string,
  substitutes: Substitutes,
  { counts }: Frequencies,
): string {
  if (substitutes.size === 0) return words
  const spelt = words.split(' ').map((word) => {
    if (counts.get(word) !== 0) return word
    const near = [...(substitutes.get(word) ?? [])].sort(([, a], [, b]) => b - a)
    const [[other, worth] = [word, 0]] = near
    return worth >= surelyIntended ? other : word
  })
  return spelt.join(' ')
}
