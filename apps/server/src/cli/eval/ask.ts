import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Client } from '@botstead/contract'
import type { Question } from './dataset.js'
import { documentOf } from './upload.js'

/** A document that was found, with the score of its best passage, from 0 to 1. */
export interface RankedDocument {
  document: string
  score: number
}

/** The result of one question. */
export interface Answer {
  /** Documents, best first, each once. */
  found: RankedDocument[]
  /** Score of the best passage; 0 without a result. */
  score: number
  milliseconds: number
}

/** Passages that are requested: enough to cover ten documents. */
const limit = 50
const sampleSize = 20
const pollMs = 1000

export async function ask(client: Client, question: Pick<Question, 'text'>): Promise<Answer> {
  const begin = performance.now()
  const { passages } = await client.searchFiles({ query: question.text, limit, contextDepth: 0 })
  const milliseconds = performance.now() - begin
  const best = new Map<string, number>()
  for (const { file, score } of passages) {
    const document = documentOf(file.key)
    if (!best.has(document)) best.set(document, score)
  }
  return {
    found: [...best].map(([document, score]) => ({ document, score })),
    score: passages[0]?.score ?? 0,
    milliseconds,
  }
}

/** Ids of the documents, best first. */
export function idsOf({ found }: Answer): string[] {
  return found.map(({ document }) => document)
}

/**
 * Waits until the ranking is stable: vectors are made after passages. It is stable when the results
 * stay the same for some time.
 *
 * @param settleMs that time, in milliseconds
 */
export async function awaitSettled(
  client: Client,
  questions: readonly Question[],
  settleMs: number,
  signal: AbortSignal,
): Promise<void> {
  const step = Math.max(1, Math.floor(questions.length / sampleSize))
  const sample = questions.filter((_, at) => at % step === 0)
  let last: string[][] = []
  let since = performance.now()
  for (;;) {
    const answers: string[][] = []
    for (const question of sample) answers.push(idsOf(await ask(client, question)))
    if (!isDeepStrictEqual(answers, last)) {
      last = answers
      since = performance.now()
    }
    if (performance.now() - since >= settleMs) return
    await sleep(pollMs, undefined, { signal })
  }
}
