import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { InvalidArgumentError } from 'commander'
import {
  compareRuns,
  type Measures,
  mean,
  quantile,
  type Separation,
  type ThresholdFigures,
} from '../../domain/ranking-measures.js'
import {
  defaultWeights,
  type Retriever,
  type RetrieverWeights,
} from '../../domain/retriever-weights.js'
import {
  describeFalseHits,
  describeMisses,
  type OffTopicAnswer,
  type QuestionAnswer,
} from './misses.js'

/** A run as it is stored, for later comparisons. */
export interface Results {
  dataset: string
  documents: number
  questions: number
  /** Weights of the retrievers; the defaults if missing. */
  weights?: RetrieverWeights
  mean: Measures
  latency: { p50: number; p95: number }
  /** From questions about something else, if there were any. */
  separation?: Separation
  /** Effects of the advised `minScore` and of the best one for these questions; present with `separation`. */
  thresholds?: { advised: ThresholdFigures; suggested: ThresholdFigures }
  /** By question. */
  each: Record<string, Measures>
  /** The results by question; older files lack them. */
  answers?: QuestionAnswer[]
  /** The results of questions about something else, if there were any. */
  offTopic?: OffTopicAnswer[]
}

export function summarize(
  dataset: string,
  documents: number,
  each: ReadonlyMap<string, Measures>,
  milliseconds: readonly number[],
): Results {
  const all = [...each.values()]
  return {
    dataset,
    documents,
    questions: all.length,
    mean: {
      ndcg: mean(all.map(({ ndcg }) => ndcg)),
      recall: mean(all.map(({ recall }) => recall)),
      mrr: mean(all.map(({ mrr }) => mrr)),
    },
    latency: { p50: quantile(milliseconds, 0.5), p95: quantile(milliseconds, 0.95) },
    each: Object.fromEntries(each),
  }
}

const names = { ndcg: 'nDCG@10', recall: 'Recall@10', mrr: 'MRR@10' } as const
const order = ['ndcg', 'recall', 'mrr'] as const

/** Formats the results for people, line by line. */
export function describeResults(results: Results, baseline?: Results): string[] {
  const { documents, questions, latency, weights, separation, thresholds } = results
  return [
    `${documents} documents, ${questions} questions`,
    ...(weights === undefined ? [] : [`weights    ${describeWeights(weights)}`]),
    ...order.map((measure) => {
      const line = `${names[measure].padEnd(10)} ${results.mean[measure].toFixed(4)}`
      return baseline === undefined
        ? line
        : `${line}  ${describeChange(results, baseline, measure)}`
    }),
    `latency    p50 ${latency.p50.toFixed(1)} ms, p95 ${latency.p95.toFixed(1)} ms`,
    ...(separation === undefined ? [] : describeSeparation(separation)),
    ...(thresholds === undefined
      ? []
      : [
          describeThreshold('advised', thresholds.advised),
          describeThreshold('suggested', thresholds.suggested),
        ]),
  ]
}

/** Formats what a threshold does for people. */
export function describeThreshold(name: string, figures: ThresholdFigures): string {
  const { minScore, kept, refused } = figures
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`
  return `  minScore ${minScore.toFixed(2)} (${name}) keeps ${percent(kept)} of the answered, refuses ${percent(refused)} of the off topic`
}

/** Formats the result for people, line by line. */
function describeSeparation({ chance, answered, offTopic }: Separation): string[] {
  return [
    `separation ${chance.toFixed(4)}`,
    `  answered   best scores: median ${answered.median.toFixed(2)}, lowest tenth up to ${answered.low.toFixed(2)}`,
    `  off topic  best scores: median ${offTopic.median.toFixed(2)}, highest tenth from ${offTopic.high.toFixed(2)}`,
  ]
}

/**
 * Lists the questions with bad results, line by line.
 *
 * @param max maximum number of listed questions of each kind
 */
export function describeQuestions({ answers = [], offTopic = [] }: Results, max: number) {
  return [...describeMisses(answers, max), ...describeFalseHits(offTopic, max)]
}

/** Below this p-value, chance is an unlikely explanation. */
export const significant = 0.05

function describeChange(results: Results, baseline: Results, measure: keyof Measures): string {
  const { difference, pValue, questions } = compare(results, baseline, measure)
  if (questions === 0) return 'the baseline has none of these questions'
  const sign = difference >= 0 ? '+' : '-'
  const verdict = pValue < significant ? 'a real difference' : 'may be chance'
  return `${sign}${Math.abs(difference).toFixed(4)} (p ${pValue.toFixed(4)}: ${verdict})`
}

export function compare(results: Results, baseline: Results, measure: keyof Measures) {
  const values = ({ each }: Results) =>
    new Map(Object.entries(each).map(([id, measures]) => [id, measures[measure]]))
  return compareRuns(values(baseline), values(results))
}

/** @throws Error that names the file if it is not a stored run */
export async function readResults(file: string): Promise<Results> {
  if (!existsSync(file)) throw new Error(`There is no file ${file}.`)
  const results = parse(await readFile(file, 'utf8'))
  if (Array.isArray(results)) {
    throw new Error(`${file} is of several weightings: a baseline has one.`)
  }
  const measures: unknown[] = Object.values(Object(results?.each))
  if (results === undefined || measures.length === 0 || !measures.every(isMeasured)) {
    throw new Error(`${file} is no result of "botstead eval --json".`)
  }
  return results
}

function isMeasured(measures: unknown): boolean {
  return typeof Object(measures).ndcg === 'number'
}

function parse(content: string): Results | Results[] | undefined {
  try {
    return JSON.parse(content)
  } catch {
    return undefined
  }
}

const retrieverNames = Object.keys(defaultWeights).join(', ')

/** Reads `keyword,grams`: only these retrievers, with their default weights. */
export function readRetrievers(text: string): RetrieverWeights {
  const retrievers = text
    .split(',')
    .map((name) => toRetriever(name, `It is a list of ${retrieverNames}`))
  return Object.fromEntries(retrievers.map((name) => [name, defaultWeights[name]]))
}

/**
 * Reads `keyword=.4,grams=.3,semantic=.3`, once for each ranking to be measured.
 *
 * @param before weights from earlier options
 */
export function readWeights(
  text: string,
  before: readonly RetrieverWeights[] = [],
): RetrieverWeights[] {
  const form = 'It is like keyword=.5,grams=.25,semantic=.25'
  const parts = text.split(',').map((part) => {
    const [name = '', value = ''] = part.split('=')
    const weight = Number(value)
    if (value.trim() === '' || !(weight >= 0 && weight <= 1)) {
      throw new InvalidArgumentError(`${form}: numbers from 0 to 1, not "${part}".`)
    }
    return [toRetriever(name, form), weight] as const
  })
  if (parts.every(([, weight]) => weight === 0)) {
    throw new InvalidArgumentError(`${form}: some retriever must weigh more than 0.`)
  }
  return [...before, Object.fromEntries(parts)]
}

function describeWeights(weights: RetrieverWeights): string {
  return Object.entries(weights)
    .map(([name, weight]) => `${name} ${weight}`)
    .join(', ')
}

function toRetriever(text: string, form: string): Retriever {
  const name = text.trim()
  if (isRetriever(name)) return name
  throw new InvalidArgumentError(
    `${form}, with commas between them; retrievers are ${retrieverNames}.`,
  )
}

function isRetriever(name: string): name is Retriever {
  return Object.hasOwn(defaultWeights, name)
}
