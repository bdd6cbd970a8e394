import { depth } from '../../domain/ranking-measures.js'
import { cutText } from '../text.js'
import type { Answer, RankedDocument } from './ask.js'
import type { Question } from './dataset.js'

/** The result of a question about something else. */
export interface OffTopicAnswer {
  id: string
  text: string
  /** The first ten documents, best first. */
  found: RankedDocument[]
}

/** The result of a question with a known answer. */
export interface QuestionAnswer extends OffTopicAnswer {
  ndcg: number
  /** Rank of the first relevant document, from 1; null if none of the first ten is relevant. */
  rank: number | null
  /** Ids of the relevant documents, best first. */
  expected: string[]
}

/** Returns the first results for a question that no document answers. */
export function toOffTopicAnswer(
  { id, text }: Pick<Question, 'id' | 'text'>,
  { found }: Answer,
): OffTopicAnswer {
  return { id, text, found: found.slice(0, depth) }
}

/** Returns the first results for a question, with its relevant documents and the rank of the first of them. */
export function toQuestionAnswer(question: Question, answer: Answer, ndcg: number): QuestionAnswer {
  const { id, text, found } = toOffTopicAnswer(question, answer)
  const grades = [...question.relevant].sort(([, a], [, b]) => b - a)
  const at = found.findIndex(({ document }) => question.relevant.has(document))
  const expected = grades.map(([document]) => document)
  return { id, text, ndcg, rank: at < 0 ? null : at + 1, expected, found }
}

/** nDCG is a quotient, which may miss 1 by its last digit. */
const perfect = 1 - 1e-9
const maxTextLength = 72
const maxExpected = 3

/**
 * Lists the questions with the worst results for people, line by line.
 *
 * @param max maximum number of listed misses or false hits
 */
export function describeMisses(answers: readonly QuestionAnswer[], max: number): string[] {
  const misses = answers.filter(({ ndcg }) => ndcg < perfect).sort((a, b) => a.ndcg - b.ndcg)
  const named = misses.slice(0, max)
  if (named.length === 0) return []
  return [
    `worst questions, ${named.length} of ${misses.length} with nDCG below 1`,
    ...named.flatMap((miss) => describe(miss, miss.ndcg, describeRanks(miss))),
  ]
}

/** Lists the questions about something else with the highest scores, line by line. */
export function describeFalseHits(answers: readonly OffTopicAnswer[], max: number): string[] {
  const hits = answers.flatMap((answer) => {
    const [best] = answer.found
    return best === undefined ? [] : [{ answer, best }]
  })
  const named = hits.sort((a, b) => b.best.score - a.best.score).slice(0, max)
  if (named.length === 0) return []
  return [
    `highest off topic, ${named.length} of ${hits.length} that found something`,
    ...named.flatMap(({ answer, best }) => describe(answer, best.score, `found ${best.document}`)),
  ]
}

function describe({ id, text }: OffTopicAnswer, value: number, finding: string): string[] {
  const line = cutText(text.replace(/\s+/g, ' ').trim(), maxTextLength)
  return [`  ${value.toFixed(2)}  ${id}  ${line}`, `        ${finding}`]
}

/** Lists the ranks of the relevant documents, and the document that came first instead. */
function describeRanks({ expected, found }: QuestionAnswer): string {
  const ranks = expected.slice(0, maxExpected).map((id) => {
    const at = found.findIndex(({ document }) => document === id)
    return at < 0 ? `${id} not in the first ${depth}` : `${id} at ${at + 1}`
  })
  const more = expected.length > maxExpected ? `, and ${expected.length - maxExpected} more` : ''
  return `expected ${ranks.join(', ')}${more}; ${describeFirst(expected, found)}`
}

function describeFirst(expected: readonly string[], [first]: readonly RankedDocument[]): string {
  if (first === undefined) return 'nothing was found'
  const { document, score } = first
  const instead = expected.includes(document) ? '' : ' instead'
  return `first came ${document} (${score.toFixed(2)})${instead}`
}
