import { type Clock, isoTime } from '../../../platform/clock.js'
import { purge } from '../../../platform/db/purge.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { Db, Run, Tx } from '../../../schema.js'
import type { EmbeddedPassage, Embedder } from './embedder.js'
import { countPassages, listNumbers, listUnchanged } from './passage-texts.js'
import { planVectors } from './policy.js'
import * as spaces from './space-store.js'
import type { VectorIndex } from './vector-index.js'
import type { Space, VectorStore } from './vector-store.js'
import * as waiting from './waiting-store.js'

/** Name of the job that makes the vectors of a bot; its key is the id of the bot. */
const vectorsJob = 'search.vectors'

interface MakeVectors {
  botId: string
}

/** Passages that get their vectors in one go, and in one transaction. */
const batchSize = 200
/** Milliseconds after the first of many changes; one job does for all of them. */
const patience = 500
/** An endpoint can be down for days; the pauses between attempts grow to an hour. */
const maxAttempts = 100
/** Many passages and a slow endpoint take long; what is done is kept when an attempt ends. */
const deadlineMs = 6 * 60 * 60 * 1000
const botsAtOnce = 500

export interface VectorJobsDeps {
  db: Db
  run: Run
  clock: Clock
  queue: Queue
  store: VectorStore
  embedder: Embedder
}

export interface VectorJobs extends VectorIndex {
  jobs: Record<string, JobHandler>
  /** Asks for what an earlier process left undone, or made otherwise. */
  schedule(tx: Tx): Promise<void>
  purge(botId: string): Promise<void>
}

/** Makes vectors behind the back of searches, which use what there is. */
export function createVectorJobs(deps: VectorJobsDeps): VectorJobs {
  const { db, run, clock, queue, store, embedder } = deps

  async function enqueue(tx: Tx, botId: string): Promise<void> {
    const payload: MakeVectors = { botId }
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

  async function make(botId: string, signal: AbortSignal): Promise<void> {
    // What waits goes on waiting: the extension may come with the next start.
    if ((await store.missing(db)) !== undefined) return
    const passages = await countPassages(db, botId)
    if (passages === 0) return await dropAll(botId)
    const plan = planVectors(embedder, passages, await spaces.findServing(db, botId))
    if (plan === 'none') return await clearWaiting(botId)
    if (plan === 'build') await build(botId, passages, signal)
    await dropIdle(botId)
    const serving = await spaces.findServing(db, botId)
    // A bot that was deleted meanwhile has none.
    if (serving !== undefined) await fill(botId, serving, signal)
  }

  /** Makes a space of all passages, or goes on with one that an earlier attempt began. */
  async function build(botId: string, passages: number, signal: AbortSignal): Promise<void> {
    const begun = await spaces.findBegun(db, botId, embedder.id)
    const space = begun ?? (await begin(botId, passages, signal))
    let after = begun === undefined ? -1 : await spaces.lastNumber(db, space.number)
    for (;;) {
      const numbers = await listNumbers(db, botId, after, batchSize)
      const last = numbers.at(-1)
      if (last === undefined) break
      await embed(botId, space, numbers, signal)
      after = last
    }
    await run((tx) => spaces.serve(tx, botId, space.number))
  }

  async function begin(botId: string, passages: number, signal: AbortSignal): Promise<Space> {
    const made = await embedder.prepare(botId, signal)
    const row = { botId, embedder: embedder.id, passages, createdAt: isoTime(clock.now()), ...made }
    const number = await run(async (tx) => {
      const space = await spaces.insertSpace(tx, row)
      await store.prepare(tx, made.dimensions)
      return space
    })
    return { number, dimensions: made.dimensions, passages }
  }

  async function fill(botId: string, space: Space, signal: AbortSignal): Promise<void> {
    for (;;) {
      const numbers = await waiting.findWaiting(db, botId, batchSize)
      if (numbers.length === 0) return
      await embed(botId, space, numbers, signal)
    }
  }

  async function embed(
    botId: string,
    space: Space,
    numbers: readonly number[],
    signal: AbortSignal,
  ): Promise<void> {
    signal.throwIfAborted()
    const made = await embedder.embed(botId, space, numbers, signal)
    signal.throwIfAborted()
    await run(async (tx) => {
      const same = await listUnchanged(tx, made)
      await store.add(
        tx,
        space,
        made.filter(({ number }) => same.has(number)),
      )
      await waiting.deleteWaiting(
        tx,
        botId,
        numbers.filter((each) => isDone(each, made, same)),
      )
    })
  }

  async function clearWaiting(botId: string): Promise<void> {
    for (;;) {
      const numbers = await waiting.findWaiting(db, botId, batchSize)
      if (numbers.length === 0) return
      await run((tx) => waiting.deleteWaiting(tx, botId, numbers))
    }
  }

  async function dropIdle(botId: string): Promise<void> {
    for (const space of await spaces.listIdle(db, botId)) await drop(botId, space)
  }

  async function dropAll(botId: string): Promise<void> {
    for (const space of await spaces.listSpaces(db, botId)) await drop(botId, space)
  }

  async function drop(botId: string, space: number): Promise<void> {
    await purge(run, (tx, limit) => store.deleteSome(tx, space, limit))
    await run((tx) => spaces.deleteSpace(tx, botId, space))
  }

  const handler: JobHandler<MakeVectors> = {
    concurrency: 2,
    handler: ({ payload: { botId } }, { signal }) => make(botId, signal),
  }

  return {
    jobs: { [vectorsJob]: handler },
    async add(tx, botId, numbers) {
      await waiting.insertWaiting(tx, botId, numbers)
      await enqueue(tx, botId)
    },
    async schedule(tx) {
      const bots = [
        ...(await waiting.listWaitingBots(tx, botsAtOnce)),
        ...(await spaces.listOtherwiseServed(tx, embedder.id, botsAtOnce)),
      ]
      for (const botId of new Set(bots)) await enqueue(tx, botId)
    },
    async purge(botId) {
      await clearWaiting(botId)
      // Not here: an attempt that runs now could make a space after it.
      await run((tx) => enqueue(tx, botId))
    },
  }
}

/** A passage that changed while its vector was made waits again by itself. */
function isDone(
  number: number,
  made: readonly EmbeddedPassage[],
  same: ReadonlySet<number>,
): boolean {
  return same.has(number) || !made.some((each) => each.number === number)
}
