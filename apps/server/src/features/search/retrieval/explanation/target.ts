import type { searchOutcomes } from '@botstead/contract'
import type { Db } from '../../../../platform/db/schema.js'
import { type FileRow, isSearchable, listFilesByIds } from '../../../files/lookup/index.js'
import { listOfFile, listOwnNumbers, type PassageRow } from '../../passage-store.js'
import { addSubstitutes } from '../keyword-retriever.js'
import {
  addRanks,
  addTexts,
  type Examination,
  type Ranker,
  type RankRequest,
  type Understanding,
} from '../ranker.js'
import type { Candidate } from '../score.js'
import type { Marked } from './marks.js'
import {
  type RetrieverFindings,
  type ScoredCandidate,
  type ScoreParts,
  toScoreParts,
} from './score-parts.js'

/** The outcome of a search for a file or a passage. */
type Outcome = (typeof searchOutcomes)[number]

/** The score of a passage with its contributions and marks. */
export type MatchExplanation = Omit<ScoredCandidate, 'number' | 'explanation'> & Marked

/** A passage that may not have been found, with its outcome. */
interface TargetPassage extends MatchExplanation {
  passage: PassageRow
  outcome: Outcome
  isCandidate: boolean
}

/** A file that should have been found, or one passage of it. */
export interface Target {
  fileId: string
  /** UUID. */
  passageId?: string
}

/** The outcome for a file, with its passages. */
export interface TargetFinding {
  outcome: Outcome
  file: FileRow
  /** Best first. */
  passages: TargetPassage[]
}

/** The search with which a target is compared. */
export interface TargetContext {
  db: Db
  ranker: Ranker
  request: RankRequest
  examination: Examination
  meaning: Understanding
  parts: ScoreParts
  /** Numbers of the passages that were found. */
  found: ReadonlySet<number>
  mark(passage: PassageRow, file: FileRow): Marked
}

/** Number of best passages of a retriever among which a rank is determined. */
const rankDepth = 1000
const maxPassages = 5
/** Passages that are compared to find the best of a file. */
const maxCompared = 20

/** Determines where a file or passage fell, whether it was found or not; undefined if it does not exist any more. */
export async function findTarget(
  context: TargetContext,
  target: Target,
): Promise<TargetFinding | undefined> {
  const { db, request } = context
  const { scope, tags } = request
  const [file] = await listFilesByIds(db, scope.botId, [target.fileId])
  if (file === undefined) return undefined
  const generation = file.passages_generation
  if (generation === null) return { outcome: outcomeOfUnindexed(file), file, passages: [] }
  const exclusion = (await isSearchable(db, scope, [], file.id))
    ? (await isSearchable(db, scope, tags, file.id))
      ? undefined
      : 'excluded_by_tags'
    : 'not_shared'
  const ranks = await rankWidely(context, exclusion === 'excluded_by_tags' ? [] : tags)
  const passages = await selectPassages(context, file, generation, target, ranks)
  if (passages.length === 0) {
    const outcome = target.passageId === undefined ? 'without_passages' : 'replaced'
    return { outcome, file, passages: [] }
  }
  const placed = await placePassages(context, file, passages, ranks, exclusion)
  const outcome = placed.find((each) => each.outcome === 'found')?.outcome ?? placed[0]?.outcome
  return { outcome: outcome ?? 'without_passages', file, passages: placed }
}

function outcomeOfUnindexed({ indexed, status }: FileRow): Outcome {
  if (status.endsWith('_failed')) return 'indexing_failed'
  return indexed === 0 ? 'not_indexed' : 'indexing_pending'
}

/** The best passages by the retrievers that search the whole index, with their ranks from 1. */
interface WideRanks {
  keyword: ReadonlyMap<number, { at: number; rank: number; score: number }>
  semantic: ReadonlyMap<number, number>
}

/** Searches as the search did, for more passages than can become candidates. */
async function rankWidely(
  { db, ranker, request, examination }: TargetContext,
  tags: RankRequest['tags'],
): Promise<WideRanks> {
  const { keywords, words, query, question } = examination
  const wide = { ...request, tags, limit: rankDepth }
  const hits = words && (await keywords.search({ ...wide, query }))
  const found = words && hits ? await addSubstitutes(keywords, { ...words, hits }, wide) : []
  const near = question && (await ranker.semantics.search(db, wide, rankDepth)).question
  return {
    keyword: new Map(
      found.map(({ number, rank, score }, at) => [number, { at: at + 1, rank, score }]),
    ),
    semantic: new Map((near?.nearest ?? []).map(({ number }, at) => [number, at + 1])),
  }
}

/** The passage to explain, or the best passages of the file to explain. */
async function selectPassages(
  { db, parts }: TargetContext,
  { bot_id: botId, id: fileId }: FileRow,
  generation: number,
  { passageId }: Target,
  ranks: WideRanks,
): Promise<PassageRow[]> {
  const place = { botId, fileId, generation }
  if (passageId !== undefined) return await listOfFile(db, place, { passageId })
  const order = [
    ...parts.scored.map(({ number }) => number),
    ...ranks.keyword.keys(),
    ...ranks.semantic.keys(),
  ]
  const own = new Set(await listOwnNumbers(db, place, [...new Set(order)]))
  const numbers = [...new Set(order)].filter((number) => own.has(number)).slice(0, maxCompared)
  return await listOfFile(db, place, numbers.length > 0 ? { numbers } : { first: maxPassages })
}

async function placePassages(
  context: TargetContext,
  file: FileRow,
  passages: readonly PassageRow[],
  ranks: WideRanks,
  exclusion: Outcome | undefined,
): Promise<TargetPassage[]> {
  const { examination, parts, found, mark } = context
  const asIf = await scoreAsIf(context, passages, ranks)
  const real = new Map(parts.scored.map((each) => [each.number, each]))
  const placed = passages.flatMap((passage): TargetPassage[] => {
    const { number } = passage
    const isCandidate = examination.candidates.has(number)
    const scored = isCandidate ? real.get(number) : asIf.get(number)
    if (scored === undefined) return []
    const { rank, score, contributions } = scored
    const outcome = exclusion ?? outcomeOf(scored, { isCandidate, found, parts })
    const retrievers = isCandidate
      ? scored.retrievers
      : withWideRanks(scored.retrievers, number, ranks)
    const explained = { rank, score, contributions, retrievers, ...mark(passage, file) }
    return [{ passage, outcome, isCandidate, ...explained }]
  })
  return placed
    .sort((a, b) => Number(b.isCandidate) - Number(a.isCandidate) || a.rank - b.rank)
    .slice(0, maxPassages)
}

function outcomeOf(
  { number, score }: ScoredCandidate,
  {
    isCandidate,
    found,
    parts,
  }: { isCandidate: boolean; found: ReadonlySet<number>; parts: ScoreParts },
): Outcome {
  if (!isCandidate) return 'not_a_candidate'
  if (found.has(number)) return 'found'
  if (!parts.isEnough) return 'no_evidence'
  return score < parts.minScore ? 'below_minimum' : 'beyond_limit'
}

/** The scores that passages would have if they were candidates too. */
async function scoreAsIf(
  { db, ranker, examination, meaning }: TargetContext,
  passages: readonly PassageRow[],
  ranks: WideRanks,
): Promise<Map<number, ScoredCandidate>> {
  const { query, question, scoring } = examination
  const added = passages
    .map(({ number }) => number)
    .filter((number) => !examination.candidates.has(number))
  if (added.length === 0) return new Map()
  const likenesses = (await question?.likenesses(added)) ?? []
  const candidates = new Map<number, Candidate>()
  for (const { number, rank, word, likeness } of examination.candidates.values()) {
    candidates.set(number, toProposal(number, rank, word, likeness))
  }
  const near = new Map(likenesses.map(({ number, likeness }) => [number, likeness]))
  for (const number of added) {
    const words = ranks.keyword.get(number)
    candidates.set(number, toProposal(number, words?.rank, words?.score, near.get(number)))
  }
  const texts = await ranker.readCandidates(db, [...candidates.keys()])
  addTexts(candidates, texts, query, meaning)
  addRanks(candidates, texts, examination)
  const { scored } = toScoreParts([...candidates.values()], {
    ...scoring,
    isVague: meaning.isVague,
  })
  return new Map(scored.map((each) => [each.number, each]))
}

function toProposal(
  number: number,
  rank: number | undefined,
  word: number | undefined,
  likeness: number | undefined,
): Candidate {
  return {
    number,
    ...(rank !== undefined && { rank }),
    ...(word !== undefined && { word }),
    ...(likeness !== undefined && { likeness }),
  }
}

/** Replaces ranks among the candidates by those in the whole index. */
function withWideRanks(
  { keyword, grams, semantic }: RetrieverFindings,
  number: number,
  ranks: WideRanks,
): RetrieverFindings {
  const wide = (rank: number | undefined) => (rank === undefined ? {} : { rank })
  const withoutRank = ({ score, value }: { score: number; value: number }) => ({ score, value })
  return {
    ...(keyword && {
      keyword: { ...withoutRank(keyword), ...wide(ranks.keyword.get(number)?.at) },
    }),
    ...(grams && { grams }),
    ...(semantic && {
      semantic: { ...withoutRank(semantic), ...wide(ranks.semantic.get(number)) },
    }),
  }
}
