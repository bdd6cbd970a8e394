import type { Explanation } from './queries.js'

type ExplainedPassage = Explanation['passages'][number]
type Match = ExplainedPassage['matches'][number]
type Target = NonNullable<Explanation['target']>
export type Contributions = Match['contributions']
type Retrievers = Match['retrievers']
export type Mark = Match['marks'][number]
export type Outcome = Target['outcome']

/** A range of a text in UTF-16 units. */
interface Range {
  start: number
  end: number
}

/** A passage as a card shows it: a result, or a passage that the reader chose to explain. */
export interface Found {
  /** The same for the same passage in two searches. */
  id: string
  /** Absent if it consists of several passages of its file. */
  passageId: string | undefined
  rank: number
  score: number
  fileId: string
  fileKey: string
  page: number | undefined
  /** In its file, from 0. */
  position: number
  headings: readonly string[]
  content: string
  /** The match, without the neighbours around it. */
  matches: readonly Range[]
  /** Of all fields. */
  marks: readonly Mark[]
  contributions: Contributions
  retrievers: Retrievers
  terms: Match['terms']
  /** Only of a passage that the reader chose to explain. */
  outcome?: Outcome
}

/** The passages of a search in their order. */
export function foundOf({ passages }: Pick<Explanation, 'passages'>): Found[] {
  return passages.flatMap((passage, index): Found[] => {
    const best = passage.matches.toSorted((a, b) => a.rank - b.rank)[0]
    if (best === undefined) return []
    const isOne = passage.matches.length === 1
    return [
      {
        id: isOne ? best.passageId : passage.file.id,
        passageId: isOne ? best.passageId : undefined,
        rank: index + 1,
        score: passage.score,
        fileId: passage.file.id,
        fileKey: passage.file.key,
        page: passage.meta.pageNumber,
        position: best.position,
        headings: best.headings,
        content: passage.content,
        matches: passage.matches.map(({ start, end }) => ({ start, end })),
        marks: [
          ...best.marks.filter(({ field }) => field !== 'content'),
          ...passage.matches.flatMap(({ marks }) =>
            marks.filter(({ field }) => field === 'content'),
          ),
        ],
        contributions: best.contributions,
        retrievers: best.retrievers,
        terms: best.terms,
      },
    ]
  })
}

/** The passages of the file that the reader chose to explain, best first. */
export function foundOfTarget({ file, passages }: Target): Found[] {
  return passages.map((passage) => ({
    ...passage,
    id: passage.passageId,
    fileId: file.id,
    fileKey: file.key,
    page: undefined,
    matches: [{ start: 0, end: passage.content.length }],
  }))
}

/** The contributions to a score, in the order of the bar. */
export const contributionNames = {
  keyword: 'words',
  semantic: 'meaning',
  grams: 'letters',
  fileName: 'file name',
  literal: 'exact text',
} as const satisfies Record<keyof Contributions, string>

/** Contributions with their names. */
export function partsOfScore(
  contributions: Contributions,
): [keyof Contributions, string, number][] {
  return (Object.keys(contributionNames) as (keyof Contributions)[]).map((part) => [
    part,
    contributionNames[part],
    contributions[part],
  ])
}

/** The reasons for the place of a passage above the next: larger contributions to its score, largest difference first. */
export function whyAbove(upper: Found, lower: Found): string {
  const below = new Map(partsOfScore(lower.contributions).map(([part, , value]) => [part, value]))
  const differences = partsOfScore(upper.contributions)
    .map(([part, name, value]) => ({ name, by: value - (below.get(part) ?? 0) }))
    .filter(({ by }) => Math.abs(by) >= 0.005)
    .toSorted((a, b) => b.by - a.by)
  const sum = upper.score - lower.score
  if (differences.length === 0 || sum < 0.005) return 'As good as the next one.'
  const words = differences.map(
    ({ name, by }) => `${name} ${by > 0 ? '+' : '−'}${Math.abs(by).toFixed(2)}`,
  )
  return `${sum.toFixed(2)} above the next one: ${words.join(', ')}.`
}
