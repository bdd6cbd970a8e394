import type { contract, Output } from '@botstead/contract'
import type { PassageRow } from './passage-store.js'
import type { Explanation, FoundPassage, MatchExplanation } from './retrieval/index.js'
import { headingsOf, type PassageView, toPassage, underHeadings } from './view.js'

type WireExplanation = Output<typeof contract.explanations.search>
type WirePassage = WireExplanation['passages'][number]
type WireMatch = WirePassage['matches'][number]
type WireTarget = NonNullable<WireExplanation['target']>

/** A passage as a search returns it, with the reasons. */
export function toExplainedPassage(
  found: FoundPassage,
  view: PassageView,
  explained: Explanation['matches'],
): WirePassage {
  const matches = found.matches.flatMap((match): WireMatch[] => {
    const own = explained.get(match.number)
    if (own === undefined) return []
    const start = startIn(found, match, view)
    const end = start + match.content.length
    const marks = own.marks.map((mark) =>
      mark.field === 'content'
        ? { ...mark, start: mark.start + start, end: mark.end + start }
        : mark,
    )
    return [{ ...toMatch(match, own), rank: own.rank, score: own.score, marks, start, end }]
  })
  return { ...toPassage(found, view), matches }
}

export function toQuestion({
  shares,
  ...question
}: Explanation['question']): WireExplanation['question'] {
  return { ...question, weights: shares }
}

export function toTarget({
  outcome,
  file,
  passages,
}: NonNullable<Explanation['target']>): WireTarget {
  return {
    outcome,
    file: {
      id: file.id,
      key: file.key,
      status: file.status,
      ...(file.failed_reason !== null && { failedStatusReason: file.failed_reason }),
    },
    passages: passages.map((each) => ({
      ...toMatch(each.passage, each),
      rank: each.rank,
      score: each.score,
      outcome: each.outcome,
      content: each.passage.content,
      isCandidate: each.isCandidate,
    })),
  }
}

function toMatch(
  passage: PassageRow,
  { retrievers, contributions, terms, marks }: MatchExplanation,
) {
  const { id: passageId, position } = passage
  const headings = headingsOf(passage)
  return { passageId, position, headings, retrievers, contributions, terms, marks }
}

/** Offset of a match in the returned content, in UTF-16 units. */
function startIn({ around }: FoundPassage, match: PassageRow, view: PassageView): number {
  const upTo = around.slice(0, around.findIndex(({ number }) => number === match.number) + 1)
  const parts =
    view.consolidate || view.includeBreadcrumb
      ? underHeadings(upTo)
      : upTo.map(({ content }) => content)
  return parts.join('\n\n').length - match.content.length
}
