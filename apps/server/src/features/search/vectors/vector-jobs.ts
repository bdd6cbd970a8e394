import { type Clock, isoTime } from '../../../platform/clock.js'
import { purge } from '../../../platform/db/purge.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import { countPassages, listNumbers, listUnchanged } from '../passage-text-store.js'
import { type EmbeddedPassage, type Embedder, OtherLengthError } from './embedder.js'
import * as spaces from './space-store.js'
import type { Space, VectorIndex } from './vector-index.js'

/** Name of the job that makes the vectors of a bot; its key is the id of the bot. */
const vectorsJob = 'search.vectors'

interface MakeVectors {
  botId: string
  /** Whether the vectors may have another length than new ones. Stored in jobs, so the name must not change. */
  isDoubted?: boolean
}

/** Passages whose vectors are made in one batch, and stored in one transaction. */
const batchSize = 200
/** Milliseconds after the first of many changes; one job handles all of them. */
const patience = 500
/** An endpoint may be down for days; the pauses between attempts grow to an hour. */
const maxAttempts = 100
/** Many passages and a slow endpoint take long; completed vectors are kept when an attempt ends. */
const deadlineMs = 6 * 60 * 60 * 1000
const botsAtOnce = 500

export interface VectorJobsDeps {
  db: Db
  run: Run
  clock: Clock
  queue: Queue
  index: VectorIndex
  embedder: Embedder
}

/** The vectors of passages. They are made in the background and deleted with their passages. */
export interface VectorJobs {
  jobs: Record<string, JobHandler>
  /**
   * Records that passages were written, in the transaction that writes them: a job makes their
   * vectors soon after it commits.
   *
   * @param numbers of the rows of the passages
   */
  add(tx: Tx, botId: string, numbers: readonly number[]): Promise<void>
  /** Compares the length of the vectors of a bot with that of new ones; makes all again if they differ. */
  markStale(botId: string): Promise<void>
  /** Enqueues work that an earlier process left, or that another embedder did. */
  schedule(tx: Tx): Promise<void>
  purge(botId: string): Promise<void>
}

/** Makes vectors in the background; meanwhile searches use the existing ones. */
export function createVectorJobs(deps: VectorJobsDeps): VectorJobs {
  const { run, embedder } = deps
  const handler: JobHandler<MakeVectors> = {
    concurrency: 2,
    handler: ({ payload }, { signal }) => makeVectors(deps, payload, signal),
  }
  return {
    jobs: { [vectorsJob]: handler },
    async markStale(botId) {
      await run((tx) => enqueueVectors(deps, tx, { botId, isDoubted: true }))
    },
    async add(tx, botId, numbers) {
      await spaces.insertWaiting(tx, botId, numbers)
      await enqueueVectors(deps, tx, { botId })
    },
    async schedule(tx) {
      const bots = [
        ...(await spaces.listWaitingBots(tx, botsAtOnce)),
        ...(await spaces.listOtherwiseServed(tx, embedder.id, botsAtOnce)),
      ]
      for (const botId of new Set(bots)) await enqueueVectors(deps, tx, { botId })
    },
    async purge(botId) {
      await clearWaiting(deps, botId)
      // Not here: a running attempt could create a space afterwards.
      await run((tx) => enqueueVectors(deps, tx, { botId }))
    },
  }
}

async function enqueueVectors(
  { clock, queue }: VectorJobsDeps,
  tx: Tx,
  payload: MakeVectors,
): Promise<void> {
  const { botId } = payload
  const runAt = clock.now() + patience
  await queue.enqueue(tx, {
    kind: vectorsJob,
    key: botId,
    payload,
    runAt,
    maxAttempts,
    deadlineMs,
  })
}

async function makeVectors(
  deps: VectorJobsDeps,
  { botId, isDoubted }: MakeVectors,
  signal: AbortSignal,
): Promise<void> {
  const { index, db, embedder } = deps
  // Passages keep waiting: the extension may be available at the next start.
  if ((await index.missing(db)) !== undefined) return
  try {
    const serving = isDoubted ? await spaces.findServing(db, botId) : undefined
    if (serving?.embedder === embedder.id) await renewIfOutgrown(deps, botId, serving, signal)
    await makeAllSteps(deps, botId, signal)
  } catch (error) {
    if (!(error instanceof OtherLengthError)) throw error
    const expected = { dimensions: error.expected }
    // A single response that does not fit is a fault; if all do not fit, the model has changed.
    if (!(await renewIfOutgrown(deps, botId, expected, signal))) throw error
    await makeAllSteps(deps, botId, signal)
  }
}

async function makeAllSteps(
  deps: VectorJobsDeps,
  botId: string,
  signal: AbortSignal,
): Promise<void> {
  // Many passages may arrive while vectors are made: so many that the model must be fitted again.
  while ((await makeNextStep(deps, botId, signal)) === 'build');
}

/** Creates a new space if new vectors have another length; returns whether it did. */
async function renewIfOutgrown(
  deps: VectorJobsDeps,
  botId: string,
  space: Pick<Space, 'dimensions'>,
  signal: AbortSignal,
): Promise<boolean> {
  const { embedder, db } = deps
  const { dimensions } = await embedder.prepare(botId, signal)
  if (dimensions === space.dimensions) return false
  const begun = await spaces.findBegun(db, botId, embedder.id)
  // An unfinished space with the former length is useless.
  if (begun?.dimensions !== dimensions) await dropIdleSpaces(deps, botId)
  await buildSpace(deps, botId, await countPassages(db, botId), signal)
  return true
}

/** Performs the next step and returns it. */
async function makeNextStep(
  deps: VectorJobsDeps,
  botId: string,
  signal: AbortSignal,
): Promise<VectorPlan | undefined> {
  const { db, embedder, run } = deps
  const passages = await countPassages(db, botId)
  if (passages === 0) {
    await dropAllSpaces(deps, botId)
    return undefined
  }
  const plan = planVectors(embedder, passages, await spaces.findServing(db, botId))
  if (plan === 'none') {
    await clearWaiting(deps, botId)
    return plan
  }
  if (plan === 'build') await buildSpace(deps, botId, passages, signal)
  await dropIdleSpaces(deps, botId)
  const serving = await spaces.findServing(db, botId)
  // The bot may have been deleted in the meantime.
  if (serving === undefined) return undefined
  await fillSpace(deps, botId, serving, signal)
  const size = await countPassages(db, botId)
  if (size !== serving.size) await run((tx) => spaces.resize(tx, botId, serving.number, size))
  return plan
}

/** Builds a space of all passages, or continues one that an earlier attempt began. */
async function buildSpace(
  deps: VectorJobsDeps,
  botId: string,
  passages: number,
  signal: AbortSignal,
): Promise<void> {
  const { db, embedder, run } = deps
  const begun = await spaces.findBegun(db, botId, embedder.id)
  const space = begun ?? (await beginSpace(deps, botId, passages, signal))
  const old = await spaces.findServing(db, botId)
  // An endpoint that has changed makes no more vectors for the former space.
  const goesOn =
    old?.embedder === embedder.id && (embedder.isFitted || old.dimensions === space.dimensions)
  let after = begun === undefined ? -1 : await spaces.lastNumber(db, space.number)
  let served = after
  for (;;) {
    const numbers = await listNumbers(db, botId, after, batchSize)
    const last = numbers.at(-1)
    if (last === undefined) break
    if (goesOn) served = await serveMeanwhile(deps, botId, old, served, signal)
    await embed(deps, botId, space, numbers, signal)
    after = last
  }
  await run((tx) => spaces.serve(tx, botId, space.number))
}

/**
 * Makes vectors of new passages in the serving space while another one is built, so that they need
 * not wait until it is complete. They stay in the queue, because the new space does not have them yet.
 */
async function serveMeanwhile(
  deps: VectorJobsDeps,
  botId: string,
  old: Space,
  after: number,
  signal: AbortSignal,
): Promise<number> {
  const { db, embedder, run } = deps
  const numbers = await spaces.findWaiting(db, botId, batchSize, after)
  const last = numbers.at(-1)
  if (last === undefined) return after
  const made = await embedder.embed(botId, old, numbers, signal)
  await run((tx) => addUnchanged(deps, tx, old, made))
  return last
}

async function beginSpace(
  { embedder, clock, run, index }: VectorJobsDeps,
  botId: string,
  passages: number,
  signal: AbortSignal,
): Promise<Space> {
  const made = await embedder.prepare(botId, signal)
  const row = { botId, embedder: embedder.id, passages, createdAt: isoTime(clock.now()), ...made }
  const number = await run(async (tx) => {
    const space = await spaces.insertSpace(tx, row)
    await index.prepare(tx, made.dimensions)
    return space
  })
  return { number, dimensions: made.dimensions, size: passages, revision: 0 }
}

async function fillSpace(
  deps: VectorJobsDeps,
  botId: string,
  space: Space,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const numbers = await spaces.findWaiting(deps.db, botId, batchSize)
    if (numbers.length === 0) return
    await embed(deps, botId, space, numbers, signal)
  }
}

async function embed(
  deps: VectorJobsDeps,
  botId: string,
  space: Space,
  numbers: readonly number[],
  signal: AbortSignal,
): Promise<void> {
  const { embedder, run } = deps
  signal.throwIfAborted()
  const made = await embedder.embed(botId, space, numbers, signal)
  signal.throwIfAborted()
  await run(async (tx) => {
    const same = await addUnchanged(deps, tx, space, made)
    await spaces.deleteWaiting(
      tx,
      botId,
      numbers.filter((each) => isDone(each, made, same)),
    )
  })
}

/** Stores vectors of passages that are unchanged and returns their numbers. */
async function addUnchanged(
  { index }: VectorJobsDeps,
  tx: Tx,
  space: Space,
  made: readonly EmbeddedPassage[],
): Promise<ReadonlySet<number>> {
  const same = await listUnchanged(tx, made)
  const entries = made.filter(({ number }) => same.has(number))
  await index.add(tx, space, entries)
  return same
}

async function clearWaiting({ db, run }: VectorJobsDeps, botId: string): Promise<void> {
  for (;;) {
    const numbers = await spaces.findWaiting(db, botId, batchSize)
    if (numbers.length === 0) return
    await run((tx) => spaces.deleteWaiting(tx, botId, numbers), { mayUseReserve: true })
  }
}

async function dropIdleSpaces(deps: VectorJobsDeps, botId: string): Promise<void> {
  for (const space of await spaces.listIdle(deps.db, botId)) await dropSpace(deps, botId, space)
}

async function dropAllSpaces(deps: VectorJobsDeps, botId: string): Promise<void> {
  for (const space of await spaces.listSpaces(deps.db, botId)) await dropSpace(deps, botId, space)
}

async function dropSpace({ run }: VectorJobsDeps, botId: string, space: number): Promise<void> {
  await purge(run, (tx, limit) => spaces.deleteVectors(tx, space, limit))
  await run((tx) => spaces.deleteSpace(tx, botId, space), { mayUseReserve: true })
}

/** Growth or loss after which a fitted model is fitted again. */
const muchMore = 1.5
const muchLess = 0.5

/** The next step for the vectors of a bot. */
type VectorPlan =
  /** Nothing: the bot has too few passages for meaningful vectors. */
  | 'none'
  /** Build a new space of all passages; searches use the former one until it is complete. */
  | 'build'
  /** Make vectors of the passages that have none. */
  | 'fill'

/**
 * @param passages the current number of passages of the bot
 * @param serving the space that searches use, if any
 */
function planVectors(
  embedder: Pick<Embedder, 'id' | 'minPassages' | 'isFitted'>,
  passages: number,
  serving: { embedder: string; passages: number } | undefined,
): VectorPlan {
  if (serving?.embedder === embedder.id) {
    if (!embedder.isFitted || passages < embedder.minPassages) return 'fill'
    const growth = passages / Math.max(1, serving.passages)
    return growth >= muchMore || growth <= muchLess ? 'build' : 'fill'
  }
  if (passages >= embedder.minPassages) return 'build'
  return 'none'
}

/** A passage that changed while its vector was made is queued again by itself. */
function isDone(
  number: number,
  made: readonly EmbeddedPassage[],
  same: ReadonlySet<number>,
): boolean {
  return same.has(number) || !made.some((each) => each.number === number)
}
