import { useAddressSearch } from '../../../api/address.js'
import type { Found } from '../found.js'
import type { Case } from './queries.js'

/** A file, or a passage of it, that a case names. */
interface Target {
  fileId: string
  passageId?: string
  /** Grade of the match, 1 to 3. */
  grade?: number
}

export type Verdict = 'right' | 'wrong'

/** Targets as the address has them: `file`, `file.passage` or `file.passage.3`, joined by commas. */
function formatTargets(targets: readonly Target[]): string | undefined {
  const texts = targets.map(({ fileId, passageId = '', grade = 1 }) =>
    [fileId, passageId, grade === 1 ? '' : grade].join('.').replace(/\.+$/, ''),
  )
  return texts.length === 0 ? undefined : texts.join(',')
}

function parseTargets(text: string | undefined): Target[] {
  return (text ?? '').split(',').flatMap((each): Target[] => {
    const [fileId = '', passageId = '', grade = ''] = each.split('.')
    if (fileId === '') return []
    return [
      {
        fileId,
        ...(passageId !== '' && { passageId }),
        ...(['2', '3'].includes(grade) && { grade: Number(grade) }),
      },
    ]
  })
}

/** The parameters that leave the address with the next question. */
export const noMarks = { right: undefined, wrong: undefined, case: undefined, note: undefined }

/** The address of the playground with the question of a case, and with its targets marked. */
export function searchOfCase(setId: string, { id, question, right, wrong, note }: Case) {
  return {
    tab: undefined,
    q: question,
    set: setId,
    case: id,
    right: formatTargets(right),
    wrong: formatTargets(wrong),
    note: note === '' ? undefined : note,
  }
}

/** The right and wrong answers that the reader marked for the question; they are in the address. */
export function useMarks() {
  const [search, change] = useAddressSearch()
  const marks = { right: parseTargets(search.right), wrong: parseTargets(search.wrong) }
  const isOf =
    ({ fileId, passageId }: Found) =>
    (target: Target) =>
      target.fileId === fileId && (target.passageId === undefined || target.passageId === passageId)
  const verdictOf = (found: Found): Verdict | undefined =>
    marks.right.some(isOf(found)) ? 'right' : marks.wrong.some(isOf(found)) ? 'wrong' : undefined
  return {
    ...marks,
    verdictOf,
    /** Marks a passage, or takes its mark away. One that stands for all of its file is marked as that. */
    toggle: (found: Found, verdict: Verdict) => {
      const { fileId, passageId } = found
      const others = (targets: readonly Target[]) =>
        targets.filter((target) => !isOf(found)(target))
      const next = { right: others(marks.right), wrong: others(marks.wrong) }
      if (verdictOf(found) !== verdict) {
        next[verdict].push({ fileId, ...(passageId !== undefined && { passageId }) })
      }
      change(
        { right: formatTargets(next.right), wrong: formatTargets(next.wrong) },
        { replace: true },
      )
    },
  }
}

/** Targets with each file as a whole, once. */
export function asFiles(targets: readonly Target[]): Target[] {
  const grades = new Map<string, number>()
  for (const { fileId, grade = 1 } of targets) {
    grades.set(fileId, Math.max(grade, grades.get(fileId) ?? 1))
  }
  return [...grades].map(([fileId, grade]) => ({ fileId, grade }))
}
