import { depth, type Measures, measure } from '../../domain/ranking-measures.js'
import type { FoundPassage } from '../search/index.js'
import { beginningOf, type ResolvedTarget, type StoredTarget } from './targets.js'

/** Something that was found: a passage if the case names passages of its file, otherwise the file. */
interface FoundUnit {
  rank: number
  fileId: string
  fileKey: string
  /** Id of its best passage. */
  passageId: string
  text: string
  score: number
  verdict: 'right' | 'wrong' | 'unjudged'
}

/** The details of a result that are stored besides its figures. */
export interface ResultDetails {
  found: FoundUnit[]
  /** Right targets that are not among the first ten. */
  missing: { target: StoredTarget; state: ResolvedTarget['state'] }[]
}

/** The result of a case. */
export interface Judgement extends Measures, ResultDetails {
  /** Whether something should be found. */
  isAnswerable: boolean
  /** Rank of the first right one, from 1; null if it is not among the first ten. */
  rank: number | null
  /** Score of the best passage. */
  score: number
  /** Wrong ones among the first ten. */
  wrong: number
  /** Right targets that are gone. */
  gone: number
}

/**
 * Judges the passages that search found for a question. A file counts once, with its best passage, unless the case names passages
 * of it. A right target that is gone counts as not found: the question has lost its answer.
 */
export function judge(
  found: readonly FoundPassage[],
  { right, wrong }: { right: readonly ResolvedTarget[]; wrong: readonly ResolvedTarget[] },
): Judgement {
  const judgedByPassage = new Set(
    [...right, ...wrong]
      .filter(({ target }) => target.passage !== undefined)
      .map(({ target }) => target.fileId),
  )
  const grades = new Map<string, number>()
  for (const [at, each] of right.entries()) {
    const unit = unitOf(each) ?? `gone ${at}`
    grades.set(unit, Math.max(grades.get(unit) ?? 0, each.target.grade))
  }
  const wrongs = new Set(wrong.flatMap((each) => unitOf(each) ?? []))
  const units = new Map<string, FoundPassage>()
  for (const each of found) {
    const [match] = each.matches
    if (match === undefined) continue
    const unit = judgedByPassage.has(each.file.id) ? match.id : each.file.id
    if (!units.has(unit)) units.set(unit, each)
  }
  const ranked = [...units.keys()]
  const first = ranked.slice(0, depth)
  const isAnswerable = right.length > 0
  const at = first.findIndex((unit) => grades.has(unit))
  const nothing = found.length === 0 ? 1 : 0
  return {
    ...(isAnswerable ? measure(ranked, grades) : { ndcg: nothing, recall: nothing, mrr: nothing }),
    isAnswerable,
    rank: at < 0 ? null : at + 1,
    score: found[0]?.score ?? 0,
    wrong: first.filter((unit) => wrongs.has(unit)).length,
    gone: right.filter(({ state }) => state === 'gone').length,
    found: first.flatMap((unit, index) => {
      const each = units.get(unit)
      const verdict = grades.has(unit) ? 'right' : wrongs.has(unit) ? 'wrong' : 'unjudged'
      return each === undefined ? [] : [toUnit(each, index + 1, verdict)]
    }),
    missing: right
      .filter((each) => !first.includes(unitOf(each) ?? ''))
      .map(({ target, state }) => ({ target, state })),
  }
}

/** The name of a target in a ranking; undefined if it is gone. */
function unitOf({ target, state, passage }: ResolvedTarget): string | undefined {
  if (state === 'gone') return undefined
  return passage?.id ?? target.fileId
}

function toUnit(
  { file, matches: [match], score }: FoundPassage,
  rank: number,
  verdict: FoundUnit['verdict'],
): FoundUnit {
  return {
    rank,
    fileId: file.id,
    fileKey: file.key,
    passageId: match?.id ?? '',
    text: beginningOf(match?.content ?? ''),
    score,
    verdict,
  }
}
