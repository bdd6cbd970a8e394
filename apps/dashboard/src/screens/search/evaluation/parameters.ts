import type { Comparison, Run, RunParameters } from './queries.js'

/** A filter by tags as it is typed: `team=office, lang`. */
export function formatTags(tags: RunParameters['tags']): string {
  return Object.entries(tags ?? {})
    .map(([name, value]) => (typeof value === 'string' ? `${name}=${value}` : name))
    .join(', ')
}

/** The parameters of a run in one line; empty if all are the usual ones. */
export function describeParameters({ minScore, limit, tags }: RunParameters): string {
  return [
    minScore !== undefined && minScore > 0 && `lowest score ${minScore}`,
    limit !== undefined && `limit ${limit}`,
    tags !== undefined && formatTags(tags),
  ]
    .filter(Boolean)
    .join(', ')
}

/** The parameters of a run as the playground has them in its address. */
export function searchOfParameters({ minScore, limit, tags }: RunParameters) {
  return {
    minScore: minScore === undefined ? undefined : String(minScore),
    limit: limit === undefined ? undefined : String(limit),
    tags: tags === undefined ? undefined : formatTags(tags),
  }
}

/** The measures of a run by their names. */
export const measures = [
  ['ndcg', 'nDCG', 'How close the order of the first ten is to the best possible one, 0 to 1.'],
  ['recall', 'Recall', 'Share of the right ones that are among the first ten.'],
  ['mrr', 'MRR', 'One divided by the rank of the first right one, on average.'],
] as const satisfies readonly [keyof Comparison['measures'], string, string][]

/** The label that distinguishes a run from others of its set. */
export function nameOfRun(run: Run): string {
  const when = new Date(run.createdAt).toLocaleString(undefined, {
    dateStyle: 'medium',
    timeStyle: 'short',
  })
  const what = run.note || describeParameters(run.parameters)
  return what === '' ? when : `${when}: ${what}`
}

/** A difference with its sign: `+0.02`, `−0.10`, `±0`. */
export function formatDifference(value: number): string {
  if (Math.abs(value) < 0.0005) return '±0'
  return `${value > 0 ? '+' : '−'}${Math.abs(value).toFixed(3)}`
}
