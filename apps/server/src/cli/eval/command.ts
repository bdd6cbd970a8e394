import { writeFile } from 'node:fs/promises'
import { Command, InvalidArgumentError } from 'commander'
import { ask, awaitSettled } from './ask.js'
import { type Dataset, readDataset } from './dataset.js'
import { type Measures, measure } from './measures.js'
import {
  compare,
  describeResults,
  type Results,
  readResults,
  significant,
  summarize,
} from './results.js'
import { openTarget, type TargetOptions } from './target.js'
import { awaitIndexed, uploadAll } from './upload.js'

const LEGS = ['keyword', 'grams', 'semantic']

interface EvalOptions extends TargetOptions {
  dataset: string
  baseline?: string
  json?: string
  settle: string
  timeout: string
  skipUpload?: boolean
}

/** `botstead eval`: how well search answers questions whose answers are known. */
export function evalCommand(): Command {
  return new Command('eval')
    .description('Measure how well search answers questions whose answers are known.')
    .requiredOption(
      '--dataset <folder>',
      'folder with corpus.jsonl, queries.jsonl and qrels/test.tsv, as in BEIR',
    )
    .option('--url <address>', 'server to measure; without it, a temporary one is started')
    .option('--token <token>', 'key of the bot, or a personal token, on that server')
    .option('--bot <id>', 'bot on that server; the documents become files of it')
    .option('--skip-upload', 'ask only: the documents are there already')
    .option('--legs <list>', 'legs of the temporary server: keyword,grams,semantic', toLegs)
    .option('--settle <seconds>', 'how long answers must stay the same before it counts', '10')
    .option('--timeout <seconds>', 'longest wait for the files to become searchable', '1800')
    .option('--json <file>', 'write the results, question by question, to a file; - for the output')
    .option('--baseline <file>', 'compare with such a file; the exit status is 1 if it was better')
    .action(async (options: EvalOptions) => {
      const baseline =
        options.baseline === undefined ? undefined : await readResults(options.baseline)
      const results = await evaluate(options)
      await report(results, baseline, options.json)
      if (baseline !== undefined && isWorse(results, baseline)) process.exitCode = 1
    })
}

async function evaluate(options: EvalOptions): Promise<Results> {
  const dataset = await readDataset(options.dataset)
  dataset.warnings.forEach(say)
  await using target = await openTarget(options)
  const { client } = target
  const signal = AbortSignal.timeout(toMilliseconds('--timeout', options.timeout))
  if (!options.skipUpload) {
    const total = dataset.documents.length
    await uploadAll(client, dataset.documents, (done) => {
      if (done % 100 === 0 || done === total) say(`uploaded ${done} of ${total}`)
    })
  }
  for (const { key, reason } of await awaitIndexed(client, signal)) {
    say(`${key} is not searchable: ${reason}`)
  }
  say('waiting until the ranking has settled')
  const settleMs = toMilliseconds('--settle', options.settle)
  await awaitSettled(client, dataset.questions, settleMs, signal)
  return await askAll(client, dataset, options.dataset)
}

async function askAll(
  client: Parameters<typeof ask>[0],
  { documents, questions }: Dataset,
  name: string,
): Promise<Results> {
  say(`asking ${questions.length} questions`)
  const each = new Map<string, Measures>()
  const milliseconds: number[] = []
  for (const question of questions) {
    const answer = await ask(client, question)
    each.set(question.id, measure(answer.documents, question.relevant))
    milliseconds.push(answer.milliseconds)
  }
  return summarize(name, documents.length, each, milliseconds)
}

async function report(
  results: Results,
  baseline: Results | undefined,
  file: string | undefined,
): Promise<void> {
  const json = `${JSON.stringify(results, null, 2)}\n`
  if (file !== undefined && file !== '-') await writeFile(file, json)
  const lines = `${describeResults(results, baseline).join('\n')}\n`
  process.stdout.write(file === '-' ? json : lines)
  if (file === '-') process.stderr.write(lines)
}

function isWorse(results: Results, baseline: Results): boolean {
  const { difference, pValue } = compare(results, baseline, 'ndcg')
  return difference < 0 && pValue < significant
}

function toLegs(text: string): string[] {
  const legs = text.split(',').map((leg) => leg.trim())
  if (legs.every((leg) => LEGS.includes(leg))) return legs
  throw new InvalidArgumentError(`It is a list of ${LEGS.join(', ')}, with commas between them.`)
}

function toMilliseconds(option: string, text: string): number {
  const seconds = Number(text)
  if (!(seconds >= 0 && seconds <= 86_400)) {
    throw new Error(`${option} accepts seconds from 0 to 86400, not "${text}".`)
  }
  return seconds * 1000
}

/** Progress is for people, and not a part of the output. */
function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
