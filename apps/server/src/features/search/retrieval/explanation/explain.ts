import { decodeJson } from '../../../../platform/db/columns.js'
import type { Db } from '../../../../platform/db/schema.js'
import type { FileRow } from '../../../files/lookup/index.js'
import type { NearbyRow, PassageRow } from '../../passage-store.js'
import { loadKnownWords } from '../known-words.js'
import {
  type Examination,
  type Ranker,
  type RankRequest,
  type Understanding,
  understand,
} from '../ranker.js'
import type { RankedPassage } from '../score.js'
import { createMarker } from './marks.js'
import { type Relation, relationOf } from './relation.js'
import { type ScoreParts, toScoreParts } from './score-parts.js'
import { findTarget, type MatchExplanation, type Target, type TargetFinding } from './target.js'

/** The target of an explanation besides the passages that were found. */
export interface ExplainOptions {
  /** A file or passage that should have been found. */
  target?: Target
}

/** The interpretation of a question. */
interface QuestionExplanation extends Pick<ScoreParts, 'evidence' | 'shares'> {
  terms: {
    term: string
    weight: number
    passages: number
    substitutes: { word: string; relation: Relation; worth: number }[]
  }[]
  isVague: boolean
  minimum: number
  candidates: number
}

/** The reasons for the results of a search: plain data, which can be cloned. */
export interface Explanation {
  question: QuestionExplanation
  /** By the numbers of the passages that were found. */
  matches: Map<number, MatchExplanation>
  target: TargetFinding | undefined
}

const maxSubstitutes = 60

/** Explains the findings of a search. */
export async function explainFindings(
  db: Db,
  ranker: Ranker,
  request: RankRequest & ExplainOptions,
  examination: Examination,
  findings: {
    hits: readonly RankedPassage[]
    nearby: readonly NearbyRow[]
    files: readonly FileRow[]
  },
): Promise<Explanation> {
  const parts = toScoreParts([...examination.candidates.values()], examination.scoring)
  const meaning = await understandIn(examination, request)
  const marker = createMarker(meaning.parts, examination.query.exact)
  const mark = ({ content, headings }: PassageRow, { key: fileKey }: FileRow) =>
    marker({ content, headings: decodeJson<string[]>(headings), fileKey })
  const scored = new Map(parts.scored.map((each) => [each.number, each]))
  const files = new Map(findings.files.map((file) => [file.id, file]))
  const matches = new Map<number, MatchExplanation>()
  for (const row of findings.nearby) {
    const file = files.get(row.file_id)
    const own = row.number === row.hit ? scored.get(row.number) : undefined
    if (own === undefined || file === undefined) continue
    const { rank, score, retrievers, contributions } = own
    matches.set(row.number, { rank, score, retrievers, contributions, ...mark(row, file) })
  }
  const found = new Set(findings.hits.map(({ number }) => number))
  const context = { db, ranker, request, examination, meaning, parts, found, mark }
  const target = request.target && (await findTarget(context, request.target))
  return { question: explainQuestion(examination, meaning, parts), matches, target }
}

/** The interpretation of a question, also if it has no candidates. */
async function understandIn(
  { meaning, words, keywords, query }: Examination,
  { query: text }: RankRequest,
): Promise<Understanding> {
  if (meaning !== undefined) return meaning
  const frequencies = words?.frequencies ?? (await keywords.frequencies(query))
  return understand(
    text,
    query,
    frequencies,
    words?.substitutes ?? new Map(),
    await loadKnownWords(),
  )
}

function explainQuestion(
  { candidates }: Examination,
  { parts, frequencies, isVague }: Understanding,
  { evidence, shares, minScore }: ScoreParts,
): QuestionExplanation {
  const terms = parts.map(({ tokens, weight, substitutes }) => {
    const term = tokens.join(' ')
    const ranked = [...substitutes]
      .map(([word, worth]) => ({ word, relation: relationOf(term, word), worth }))
      .sort((a, b) => b.worth - a.worth)
      .slice(0, maxSubstitutes)
    return { term, weight, passages: frequencies.counts.get(term) ?? 0, substitutes: ranked }
  })
  return {
    terms,
    isVague,
    evidence,
    minimum: minScore,
    candidates: candidates.size,
    shares,
  }
}
