import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Client } from '@botstead/contract'
import { cutText } from '../text.js'
import { describeThreshold } from './results.js'

type Run = Awaited<ReturnType<Client['getEvaluationRun']>>['evaluationRun']
type Result = Awaited<ReturnType<Client['listEvaluationResults']>>['evaluationResults'][number]
type Comparison = Awaited<ReturnType<Client['compareEvaluationRuns']>>['comparison']

/** A run of a set of the server, and how it compares with the last completed run with the same parameters. */
export interface SetResults {
  run: Run
  misses: Result[]
  comparison: Comparison | undefined
}

const pollMs = 500
const pageSize = 100
const maxTextLength = 72

/**
 * Runs an evaluation set of the server.
 *
 * @param nameOrId of the set
 * @param max maximum number of misses to fetch, 0 to 100
 * @throws Error if there is no such set, or if the run fails
 */
export async function runSet(
  client: Client,
  nameOrId: string,
  max: number,
  { say, signal }: { say(line: string): void; signal: AbortSignal },
): Promise<SetResults> {
  const { id } = await findSet(client, nameOrId)
  const { evaluationRun } = await client.startEvaluationRun({ id, note: 'botstead eval' })
  const runId = evaluationRun.id
  let run = evaluationRun
  for (let done = -1; run.state === 'waiting' || run.state === 'running'; ) {
    if (run.done !== done && run.total > 0) say(`${run.done} of ${run.total} cases`)
    done = run.done
    await sleep(pollMs, undefined, { signal })
    run = (await client.getEvaluationRun({ id, runId })).evaluationRun
  }
  if (run.state === 'failed') throw new Error(`The run failed: ${run.failedReason}`)
  const { evaluationResults: misses } =
    max === 0
      ? { evaluationResults: [] }
      : await client.listEvaluationResults({
          id,
          runId,
          only: 'misses',
          pageSize: Math.min(max, pageSize),
        })
  return { run, misses, comparison: await compareWithLast(client, id, run) }
}

async function findSet(client: Client, nameOrId: string): Promise<{ id: string }> {
  let nextToken: string | undefined
  do {
    const page = await client.listEvaluationSets({ pageSize, ...(nextToken && { nextToken }) })
    const found = page.evaluationSets.find(({ id, name }) => id === nameOrId || name === nameOrId)
    if (found !== undefined) return found
    nextToken = page.meta.nextToken
  } while (nextToken !== undefined)
  throw new Error(`The bot has no evaluation set with the name or id ${nameOrId}.`)
}

/**
 * Compares a run with the newest completed one before it that had the same parameters; with others, a difference says
 * nothing about the documents.
 */
async function compareWithLast(
  client: Client,
  id: string,
  { id: runId, parameters }: Run,
): Promise<Comparison | undefined> {
  const { evaluationRuns } = await client.listEvaluationRuns({ id, pageSize })
  const at = evaluationRuns.findIndex((each) => each.id === runId)
  const baseline = evaluationRuns
    .slice(at + 1)
    .find((each) => each.state === 'completed' && isDeepStrictEqual(each.parameters, parameters))
  if (baseline === undefined) return undefined
  return (await client.compareEvaluationRuns({ id, runId, baselineId: baseline.id })).comparison
}

const measures = [
  ['ndcg', 'nDCG@10'],
  ['recall', 'Recall@10'],
  ['mrr', 'MRR@10'],
] as const

/** Formats the results for people, line by line. */
export function describeSet({ run, misses, comparison }: SetResults): string[] {
  const { summary } = run
  if (summary === undefined) return []
  return [
    `${run.total} cases, ${summary.answerable} with an answer`,
    ...measures.map(([measure, name]) => {
      const line = `${name.padEnd(10)} ${summary.mean[measure].toFixed(4)}`
      if (comparison === undefined) return line
      const { difference, pValue } = comparison.measures[measure]
      const sign = difference >= 0 ? '+' : '-'
      return `${line}  ${sign}${Math.abs(difference).toFixed(4)} (p ${pValue.toFixed(4)})`
    }),
    ...(summary.gone > 0 ? [`${summary.gone} cases have lost what they refer to`] : []),
    `misses: ${summary.misses} of ${summary.answerable} with an answer`,
    ...(summary.unanswerable > 0
      ? [`false hits: ${summary.falseHits} of ${summary.unanswerable} without an answer`]
      : []),
    ...(summary.thresholds === undefined
      ? []
      : [
          describeThreshold('advised', summary.thresholds.advised),
          describeThreshold('suggested', summary.thresholds.suggested),
        ]),
    ...(comparison === undefined ? [] : describeChanges(comparison)),
    ...misses.flatMap(describeMiss),
  ]
}

function describeChanges({
  baseline,
  better,
  worse,
  documents,
  documentsChanged,
}: Comparison): string[] {
  const named = documents.slice(0, 5).map(({ fileKey, change }) => `${fileKey} (${change})`)
  return [
    `since the run of ${baseline.createdAt}: ${better} better, ${worse} worse, ${documentsChanged} documents changed`,
    ...(named.length > 0 ? [`  ${named.join(', ')}`] : []),
  ]
}

function describeMiss({ question, measures, missing, found: [first] }: Result): string[] {
  const line = cutText(question.replace(/\s+/g, ' ').trim(), maxTextLength)
  const expected = missing.map(({ fileKey, state }) =>
    state === 'gone' ? `${fileKey} is gone` : `${fileKey} not in the first 10`,
  )
  const instead =
    first === undefined
      ? 'nothing was found'
      : `first came ${first.fileKey} (${first.score.toFixed(2)})`
  return [
    `  ${(measures?.ndcg ?? 0).toFixed(2)}  ${line}`,
    `        ${[...expected, instead].join('; ')}`,
  ]
}
