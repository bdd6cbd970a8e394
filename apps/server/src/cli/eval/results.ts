import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { InvalidArgumentError } from 'commander'
import {
  defaultWeights,
  type Retriever,
  type RetrieverWeights,
} from '../../domain/retriever-weights.js'
import {
  compareRuns,
  describeSeparation,
  type Measures,
  mean,
  quantile,
  type Separation,
} from './measures.js'
import {
  describeFalseHits,
  describeMisses,
  type OffTopicAnswer,
  type QuestionAnswer,
} from './misses.js'

/** A run as it is stored, to be compared with later. */
export interface Results {
  dataset: string
  documents: number
  questions: number
  /** How much each retriever weighed; the default weights if it is missing. */
  weights?: RetrieverWeights
  mean: Measures
  latency: { p50: number; p95: number }
  /** From questions about something else, where such were asked. */
  separation?: Separation
  /** By question. */
  each: Record<string, Measures>
  /** What was found for each question; older files lack it. */
  answers?: QuestionAnswer[]
  /** What was found for questions about something else, where such were asked. */
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

/** The result as a person reads it, line by line. */
export function describeResults(results: Results, baseline?: Results): string[] {
  const { documents, questions, latency, weights, separation } = results
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
  ]
}

/**
 * Which questions the figures are bad for, line by line.
 *
 * @param most how many questions of each kind are named
 */
export function describeQuestions({ answers = [], offTopic = [] }: Results, most: number) {
  return [...describeMisses(answers, most), ...describeFalseHits(offTopic, most)]
}

/** Below this, chance is an unlikely explanation. */
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
  if (typeof results?.each !== 'object') {
    throw new Error(`${file} is no result of "botstead eval --json".`)
  }
  return results
}

function parse(content: string): Results | Results[] | undefined {
  try {
    return JSON.parse(content)
  } catch {
    return undefined
  }
}

const retrieverNames = Object.keys(defaultWeights).join(', ')

/** Reads `keyword,grams`: these retrievers with their default weights, and no other. */
export function readRetrievers(text: string): RetrieverWeights {
  const retrievers = text
    .split(',')
    .map((name) => toRetriever(name, `It is a list of ${retrieverNames}`))
  return Object.fromEntries(retrievers.map((name) => [name, defaultWeights[name]]))
}

/**
 * Reads `keyword=.4,grams=.3,semantic=.3`, once for each ranking that is to be measured.
 *
 * @param before those that were read from earlier options
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
