import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeBoolean, decodeJson, encodeBoolean } from '../../../platform/db/columns.js'
import type { Position } from '../../../platform/db/paginate.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import { pageOfReceivers } from '../listing-store.js'
import { inLockOrder } from '../queue-store.js'
import type { ReplayIn } from '../replaying.js'
import { createSelection, type SelectionDeps } from '../selection.js'
import { rangeOf, type StoredFilter, statusesOf } from './filter.js'
import { maxAttempts, replayJob } from './service.js'
import * as store from './store.js'

export interface StepsDeps extends SelectionDeps {
  db: Db
  run: Run
  clock: Clock
  queue: Pick<Queue, 'enqueue'>
  replayIn: ReplayIn
}

/** Deliveries of one replay that may be pending at a time. */
const maxOpen = 500
/** Deliveries that one transaction replays. */
const atOnce = 100
/** Deliveries that are looked at for one transaction if the filter makes it necessary. */
const maxLookedAtInTurn = 5000
/** Milliseconds between looks for results. */
const pauseMs = 1000
/** Milliseconds after which a job lets others go first. */
const maxMs = 5000

/** The successor of a step: another one now, another one later, or none. */
type Following = 'now' | 'later' | 'nothing'

/** The deliveries whose turn comes next. */
interface Turn {
  /** The position that the replay had when they were read. */
  from: string | null
  ids: readonly string[]
  /** The position after them. */
  to: string | null
  isAtEnd: boolean
}

interface Payload {
  replayId: string
}

/**
 * Makes the steps of replays. The progress is stored in the transaction that replays, so that a crash between two
 * steps repeats nothing and leaves nothing out.
 */
export function createReplayHandler(deps: StepsDeps): JobHandler<Payload, Following> {
  const { db, run, clock, queue, replayIn } = deps
  const { receiversOf } = createSelection(deps)

  /** Reads the next deliveries, oldest first. */
  async function nextTurn(row: store.ReplayRow, room: number): Promise<Turn> {
    const { position: from } = row
    const isAtEnd = decodeBoolean(row.is_at_end)
    if (room <= 0 || isAtEnd) {
      return { from, ids: [], to: from, isAtEnd }
    }
    const filter = decodeJson<StoredFilter>(row.filter)
    const size = Math.min(room, atOnce)
    const botIds =
      row.bot_id === null
        ? await deps.bots.idsIn({
            workspaceId: row.workspace_id,
            rights: { bots: filter.bots ?? { kind: 'all' } },
          })
        : [row.bot_id]
    const statuses = statusesOf(filter)
    if (filter.ids !== undefined) {
      const given = await store.listGiven(db, filter.ids, botIds, statuses)
      const left = given.filter((each) => from === null || positionOf(each) > from)
      const turn = left.slice(0, size)
      const last = turn.at(-1)
      return {
        from,
        ids: turn.map(({ id }) => id),
        to: last ? positionOf(last) : from,
        isAtEnd: turn.length === left.length,
      }
    }
    const slash = from?.indexOf('/') ?? 0
    let to = from
    const page = await pageOfReceivers(
      db,
      await receiversOf(botIds, filter),
      { ...filter, ...rangeOf(filter, row.created_at), statuses },
      {
        sort: 'created_at',
        direction: 'asc',
        size,
        after:
          from === null ? undefined : { value: from.slice(0, slash), id: from.slice(slash + 1) },
        tokenAfter: ({ value, id }: Position) => `${value}/${id}`,
      },
      maxLookedAtInTurn,
    )
    to = page.nextToken ?? to
    return { from, ids: page.rows.map(({ id }) => id), to, isAtEnd: page.nextToken === undefined }
  }

  /** Counts results, and replays the deliveries whose turn has come. */
  async function stepIn(tx: Tx, replayId: string, turn: Turn): Promise<Following> {
    const row = await store.lockReplay(tx, replayId)
    if (row === undefined || !isOpen(row)) return 'nothing'
    // Another worker took the job over and has made this step.
    if (row.position !== turn.from) return 'now'
    const results = await store.takeResults(tx, replayId)
    const held = await store.lockFinished(tx, turn.ids)
    for (const delivery of inLockOrder(held)) await replayIn(tx, delivery)
    await store.insertOpen(tx, replayId, held)
    const counted = {
      replayed: row.replayed + held.length,
      skipped: row.skipped + turn.ids.length - held.length,
      delivered: row.delivered + results.delivered,
      failed: row.failed + results.failed,
      canceled: row.canceled + results.canceled,
    }
    const waiting = counted.replayed - counted.delivered - counted.failed - counted.canceled
    const isDone = turn.isAtEnd && waiting === 0
    const now = isoTime(clock.now())
    await store.patchReplay(tx, replayId, {
      ...counted,
      position: turn.to,
      is_at_end: encodeBoolean(turn.isAtEnd),
      state: isDone ? 'done' : 'running',
      error: null,
      updated_at: now,
      ended_at: isDone ? now : null,
    })
    if (isDone) return 'nothing'
    return !turn.isAtEnd && waiting < maxOpen ? 'now' : 'later'
  }

  async function step(replayId: string): Promise<Following> {
    const row = await store.findReplay(db, replayId)
    if (row === undefined || !isOpen(row)) return 'nothing'
    const room = maxOpen - (await store.countOpen(db, replayId))
    const turn = await nextTurn(row, room)
    return await run((tx) => stepIn(tx, replayId, turn))
  }

  return {
    handler: async ({ payload: { replayId } }, { signal }) => {
      const end = performance.now() + maxMs
      let following: Following = 'now'
      while (following === 'now' && !signal.aborted && performance.now() < end) {
        following = await step(replayId)
      }
      return following
    },

    async onDone(tx, { payload }, following) {
      if (following === 'nothing') return
      await queue.enqueue(tx, {
        kind: replayJob,
        key: payload.replayId,
        payload,
        runAt: clock.now() + (following === 'later' ? pauseMs : 0),
        maxAttempts,
      })
    },

    async onDead(tx, { payload: { replayId } }, error) {
      const row = await store.lockReplay(tx, replayId)
      if (row?.state !== 'running') return
      const now = isoTime(clock.now())
      const failed = { state: 'failed', error: error.message.slice(0, 500) } as const
      await store.patchReplay(tx, replayId, { ...failed, updated_at: now, ended_at: now })
    },
  }
}

/** Whether there is something to do: the operator may also retry the job of a replay that was given up. */
function isOpen({ state }: store.ReplayRow): boolean {
  return state === 'running' || state === 'failed'
}

function positionOf({ created_at, id }: { created_at: string; id: string }): string {
  return `${created_at}/${id}`
}
