import { toFoldedText } from '@botstead/documents/text'
import { type DatabaseReads, openReads } from '../../../../platform/db/open.js'
import { serveTasks } from '../../../../platform/workers/worker-task.js'
import { countPassages, listNumbers, readPassageTexts } from '../../passage-text-store.js'
import { fitLsa } from './fit.js'
import type {
  DatabaseAddress,
  Embedded,
  EmbedTask,
  FitTask,
  Fitted,
  LsaResult,
  LsaTask,
} from './lsa-embedder.js'
import { createModelCache, encodeModel, toLsaVector } from './model.js'

const dimensions = 128
const maxTerms = 40_000
/** Passages per read. */
const pageSize = 500

const models = createModelCache()
const opened = new Map<string, Promise<Read>>()

type Read = DatabaseReads['snapshot']

/** Runs in a process of its own: it takes seconds of processor time and some memory. */
serveTasks<LsaTask, LsaResult>(async (task) => {
  const read = await open(task.database)
  return task.kind === 'fit' ? await fit(read, task) : await embed(read, task)
})

function open(database: DatabaseAddress): Promise<Read> {
  const name = JSON.stringify(database)
  const known = opened.get(name)
  if (known !== undefined) return known
  const opening = openReads(database).then(({ snapshot }) => snapshot)
  opened.set(name, opening)
  opening.catch(() => opened.delete(name))
  return opening
}

async function fit(read: Read, { botId, maxPassages }: FitTask): Promise<Fitted> {
  const texts: string[] = []
  const amount = await read((db) => countPassages(db, botId))
  const step = Math.ceil(amount / maxPassages)
  let after = -1
  for (;;) {
    // Page by page, so that no snapshot prevents the database from discarding replaced rows.
    const numbers = await read((db) => listNumbers(db, botId, after, pageSize))
    const last = numbers.at(-1)
    if (last === undefined) break
    const sample = numbers.filter((number) => number % step === 0)
    for (const { text } of await read((db) => readPassageTexts(db, botId, sample))) {
      texts.push(toFoldedText(text))
    }
    after = last
  }
  const model = fitLsa(texts, { dimensions, maxTerms })
  return {
    model: Buffer.from(encodeModel(model)).toString('base64'),
    dimensions: model.dimensions,
  }
}

async function embed(read: Read, { botId, space, numbers }: EmbedTask): Promise<Embedded> {
  const model = await read((db) => models.get(db, space))
  if (model === undefined) throw new Error('The space is gone')
  const texts = await read((db) => readPassageTexts(db, botId, numbers))
  const vectors = new Float32Array(texts.length * model.dimensions)
  for (const [at, { text }] of texts.entries()) {
    vectors.set(toLsaVector(model, toFoldedText(text)).values, at * model.dimensions)
  }
  return {
    passages: texts.map(({ number, id }) => ({ number, id })),
    vectors: Buffer.from(vectors.buffer).toString('base64'),
  }
}
