import { writeFile } from 'node:fs/promises'
import type { Client } from '@botstead/contract'
import { Command, InvalidArgumentError, Option } from 'commander'
import {
  advisedMinScore,
  judgeThreshold,
  type Measures,
  measure,
  separate,
  suggestThreshold,
} from '../../domain/ranking-measures.js'
import type { RetrieverWeights } from '../../domain/retriever-weights.js'
import { groupBy } from '../../platform/group-by.js'
import { connect } from '../connection.js'
import { notices, out } from '../terminal.js'
import { ask, awaitSettled, idsOf } from './ask.js'
import {
  type Document,
  findGaps,
  type Question,
  readCorpus,
  readDataset,
  readDocuments,
  readQuestions,
} from './dataset.js'
import {
  type OffTopicAnswer,
  type QuestionAnswer,
  toOffTopicAnswer,
  toQuestionAnswer,
} from './misses.js'
import {
  compare,
  describeQuestions,
  describeResults,
  type Results,
  readResults,
  readRetrievers,
  readWeights,
  significant,
  summarize,
} from './results.js'
import { describeSet, runSet } from './server-set.js'
import { openTarget, type TargetOptions } from './target.js'
import { awaitIndexed, documentOf, isUploaded, uploadAll } from './upload.js'

interface EvalOptions extends Omit<TargetOptions, 'weights'> {
  dataset?: string
  documents?: string
  set?: string
  legs?: RetrieverWeights
  weights?: readonly RetrieverWeights[]
  offTopic?: string
  baseline?: string
  json?: string
  misses: number
  settle: string
  timeout: string
  skipUpload?: boolean
}

/** `botstead eval`: measures search with questions whose answers are known. */
export function evalCommand(): Command {
  return new Command('eval')
    .description('Measure how well search answers questions whose answers are known.')
    .option(
      '--dataset <folder>',
      'folder with corpus.jsonl, queries.jsonl and qrels/test.tsv, as in BEIR',
    )
    .addOption(
      new Option(
        '--documents <folder>',
        'files to search instead of corpus.jsonl: of every kind that can be indexed; their ids are their paths',
      ).conflicts('skipUpload'),
    )
    .addOption(
      new Option(
        '--set <name>',
        'run an evaluation set of the bot instead, by its name or id',
      ).conflicts([
        'dataset',
        'documents',
        'legs',
        'weights',
        'offTopic',
        'baseline',
        'skipUpload',
      ]),
    )
    .option(
      '--url <address>',
      'server to measure; without it, that of this folder for --set and --skip-upload, and else a temporary one',
    )
    .option('--token <token>', 'key of the bot, or a personal token, on that server')
    .option('--bot <id or name>', 'bot on that server; the documents become files of it')
    .option(
      '--skip-upload',
      'only ask: the documents are files of the bot, those of an earlier run or others, by their keys',
    )
    .addOption(
      new Option('--legs <list>', 'retrievers of the temporary server: keyword,grams,semantic')
        .argParser(readRetrievers)
        .conflicts('weights'),
    )
    .option(
      '--weights <list>',
      'weights of its retrievers: keyword=.5,grams=.25,semantic=.25; give it more than once to compare',
      readWeights,
    )
    .option(
      '--off-topic <file>',
      'more questions that nothing answers, as in queries.jsonl: shows how well scores separate them',
    )
    .option('--misses <count>', 'how many of the worst questions are listed', toCount, 10)
    .option('--settle <seconds>', 'how long results must stay the same before measuring', '10')
    .option('--timeout <seconds>', 'maximum wait for the files to become searchable', '1800')
    .option('--json <file>', 'write the results, question by question, to a file; - for the output')
    .option(
      '--baseline <file>',
      'compare with such a file; the exit status is 1 if it was significantly better',
    )
    .action(async (options: EvalOptions) => {
      if (options.set !== undefined) {
        if (await evaluateSet(options.set, options)) process.exitCode = 1
        return
      }
      const baseline = options.baseline ? await readResults(options.baseline) : undefined
      const results = await evaluate(options, options.weights ?? [options.legs])
      await report(results, baseline, options)
      if (baseline && results.some((each) => isWorse(each, baseline))) process.exitCode = 1
    })
}

/** Asks all questions once per ranking, of the same passages. */
async function evaluate(
  options: EvalOptions,
  rankings: readonly (RetrieverWeights | undefined)[],
): Promise<Results[]> {
  const { settle, timeout, skipUpload, dataset: folder, url, token, bot } = options
  if (folder === undefined) throw new Error('Give --dataset, or --set for a set of the server.')
  const documents = await documentsOf(folder, options)
  const dataset = await readDataset(folder)
  const offTopic = [
    ...dataset.offTopic,
    ...(options.offTopic ? await readQuestions(options.offTopic) : []),
  ]
  const [weights, ...others] = rankings
  await using target = await openTarget({
    ...(url && { url }),
    ...(token && { token }),
    ...(bot && { bot }),
    ...(skipUpload && { skipUpload }),
    ...(weights && { weights }),
  })
  const signal = AbortSignal.timeout(toMilliseconds('--timeout', timeout))
  if (documents !== undefined) {
    const total = documents.length
    await uploadAll(target.client, documents, signal, (done) => {
      if (done % 100 === 0 || done === total) say(`uploaded ${done} of ${total}`)
    })
  }
  const isAsked = documents === undefined ? () => true : isUploaded
  const { keys, failed } = await awaitIndexed(target.client, signal, isAsked)
  describeFailed(failed).forEach(say)
  const ids = new Set(documents?.map(({ id }) => id) ?? keys.map(documentOf))
  findGaps(dataset, ids).forEach(say)
  say('waiting until the ranking has settled')
  const settleMs = toMilliseconds('--settle', settle)
  await awaitSettled(target.client, dataset.questions, settleMs, signal)
  const asked = { documents: ids.size, questions: dataset.questions, offTopic }
  const results = [await askAll(target.client, asked, folder, weights)]
  for (const other of others) {
    if (other !== undefined) await target.setWeights(other)
    results.push(await askAll(target.client, asked, folder, other))
  }
  return results
}

/** Maximum number of documents named per reason. */
const maxNamed = 3

/** Describes documents that are not searchable, in one line per reason: a folder may have many pictures. */
function describeFailed(failed: readonly { key: string; reason: string }[]): string[] {
  return [...groupBy(failed, ({ reason }) => reason)].map(([reason, files]) => {
    const ids = files.map(({ key }) => documentOf(key))
    const more = ids.length > maxNamed ? ` and ${ids.length - maxNamed} more` : ''
    return `not searchable: ${ids.slice(0, maxNamed).join(', ')}${more}: ${reason}`
  })
}

/** The documents to upload; undefined for those that the bot has. */
async function documentsOf(
  folder: string,
  { documents, skipUpload }: EvalOptions,
): Promise<Document[] | undefined> {
  if (skipUpload) return undefined
  return documents === undefined ? await readCorpus(folder) : await readDocuments(documents)
}

/** The questions of a run, and the number of documents that they are asked of. */
interface Asked {
  documents: number
  questions: readonly Question[]
  offTopic: readonly Pick<Question, 'id' | 'text'>[]
}

async function askAll(
  client: Client,
  { documents, questions, offTopic }: Asked,
  name: string,
  weights: RetrieverWeights | undefined,
): Promise<Results> {
  say(`asking ${questions.length + offTopic.length} questions`)
  const each = new Map<string, Measures>()
  const milliseconds: number[] = []
  const scores: number[] = []
  const answers: QuestionAnswer[] = []
  for (const question of questions) {
    const answer = await ask(client, question)
    const measures = measure(idsOf(answer), question.relevant)
    each.set(question.id, measures)
    answers.push(toQuestionAnswer(question, answer, measures.ndcg))
    milliseconds.push(answer.milliseconds)
    scores.push(answer.score)
  }
  const others: number[] = []
  const otherAnswers: OffTopicAnswer[] = []
  for (const question of offTopic) {
    const answer = await ask(client, question)
    others.push(answer.score)
    otherAnswers.push(toOffTopicAnswer(question, answer))
  }
  return {
    ...summarize(name, documents, each, milliseconds),
    ...(weights && { weights }),
    ...(offTopic.length > 0 && {
      separation: separate(scores, others),
      thresholds: {
        advised: judgeThreshold(scores, others, advisedMinScore),
        suggested: suggestThreshold(scores, others),
      },
    }),
    answers,
    ...(offTopic.length > 0 && { offTopic: otherAnswers }),
  }
}

/** Runs a set of the server; returns whether it became significantly worse. */
async function evaluateSet(set: string, options: EvalOptions): Promise<boolean> {
  const { url, token, bot, timeout, misses, json: file } = options
  const { client } = await connect({
    ...(url && { url }),
    ...(token && { token }),
    ...(bot && { bot }),
  })
  const signal = AbortSignal.timeout(toMilliseconds('--timeout', timeout))
  const results = await runSet(client, set, misses, { say, signal })
  await print(results, describeSet(results), file)
  const { difference = 0, pValue = 1 } = results.comparison?.measures.ndcg ?? {}
  return difference < 0 && pValue < significant
}

/** Without a baseline, the first of several rankings serves as the baseline of the others. */
async function report(
  results: readonly Results[],
  baseline: Results | undefined,
  { json: file, misses }: Pick<EvalOptions, 'json' | 'misses'>,
): Promise<void> {
  const [first, ...others] = results
  const parts = results.map((each, at) => {
    const older = baseline ?? (at > 0 ? first : undefined)
    const lines = [...describeResults(each, older), ...describeQuestions(each, misses)]
    return at === 0 ? lines : ['', ...lines]
  })
  await print(others.length === 0 ? first : results, parts.flat(), file)
}

/**
 * Prints the lines, and writes the JSON to a file, or to the standard output instead of the lines. The file comes last: if
 * it cannot be written, the lines of a long run are there already.
 */
async function print(
  results: unknown,
  lines: readonly string[],
  file: string | undefined,
): Promise<void> {
  if (file === '-') out.json(results, 2)
  for (const line of lines) (file === '-' ? notices : out).line(line)
  if (file !== undefined && file !== '-') {
    await writeFile(file, `${JSON.stringify(results, null, 2)}\n`)
  }
}

function isWorse(results: Results, baseline: Results): boolean {
  const { difference, pValue } = compare(results, baseline, 'ndcg')
  return difference < 0 && pValue < significant
}

function toCount(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number from 0 on.')
}

function toMilliseconds(option: string, text: string): number {
  const seconds = Number(text)
  if (!(seconds >= 0 && seconds <= 86_400)) {
    throw new Error(`${option} accepts seconds from 0 to 86400, not "${text}".`)
  }
  return seconds * 1000
}

/** Progress goes to standard error, not to the output. */
function say(line: string): void {
  notices.line(line)
}
