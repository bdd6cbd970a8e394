import { ApiError } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import {
  type LogPosition,
  type LogReader,
  positionOf,
  type WorkspaceLogLine,
} from '../../../domain/log-lines.js'
import { allBotsOf, type BotScope } from '../../../domain/rights.js'
import type { Standing } from '../../../domain/standing.js'
import { serverIsStopping } from '../../../domain/stopping.js'
import type { Authorities, Ground } from '../../../platform/authorities.js'
import { type Clock, isoTime, type Timers } from '../../../platform/clock.js'
import type { Db } from '../../../platform/db/schema.js'
import { Frame } from '../../../platform/streams/frame.js'
import type { Sink, StartStream } from '../../../platform/streams/sink.js'
import type { Log } from '../../../platform/telemetry/log.js'
import type { LogFilter, PreparedFilter } from './filter.js'
import { endless, scanLines } from './scan.js'

export interface TailsDeps {
  db: Db
  readers: readonly LogReader[]
  clock: Clock
  timers: Timers
  log: Log
  /** Prepares a filter for a caller; throws if it names something foreign. */
  prepare(actor: BotScope, filter: LogFilter): Promise<PreparedFilter>
  authorities: Pick<Authorities, 'guard'>
  standing: Standing
  /** A line in the form for clients. */
  toLine(line: WorkspaceLogLine): object
}

/** An open stream of a caller. */
interface Follower {
  actor: WorkspaceActor
  /** Undefined until the response has begun. */
  sink: Sink | undefined
  filter: LogFilter
  passes: PreparedFilter['passes']
  /** The frames by line that wait until the response has begun and what the caller missed is sent; undefined afterwards. */
  waiting: Map<string, Frame> | undefined
  /** Time of the last frame for it, in milliseconds. */
  sentAt: number
}

/** The followers of one workspace, and what they were sent. */
interface Tail {
  followers: Set<Follower>
  /** Times of the lines that were sent lately, by id. */
  seen: Map<string, string>
  /** ISO 8601 time up to which lines were read. */
  readTo: string
}

/** Milliseconds between two looks at the logs. */
const lookEvery = 1000
/**
 * Milliseconds for which a look goes back: lines are committed a moment after their time, and the clocks
 * of processes differ.
 */
const overlap = 5000
const quiet = 30_000
const maxFollowers = { perAccount: 20, perProcess: 500 }
/** Lines that a stream which continues may have missed. */
const maxMissed = 1000
const lookBudget = 20_000
/** Bytes that may wait for a client that does not read. */
const maxPending = 512 * 1024

export type Tails = ReturnType<typeof createTails>

/** Sends the lines of workspaces to those who follow them: one look a second for all of a workspace. */
export function createTails(deps: TailsDeps) {
  const { clock, timers, log } = deps
  const tails = new Map<string, Tail>()
  let cancelLook: (() => void) | undefined
  let count = 0
  let stopped = false
  const countByAccount = new Map<string, number>()

  function reserve(accountId: string): () => void {
    const own = countByAccount.get(accountId) ?? 0
    if (own >= maxFollowers.perAccount || count >= maxFollowers.perProcess) {
      throw new ApiError(
        'RateLimited',
        'There are too many open streams of logs: close some first.',
        {
          metadata: { retryAfterSeconds: 5 },
        },
      )
    }
    count += 1
    countByAccount.set(accountId, own + 1)
    let released = false
    return () => {
      if (released) return
      released = true
      count -= 1
      const left = (countByAccount.get(accountId) ?? 1) - 1
      if (left > 0) countByAccount.set(accountId, left)
      else countByAccount.delete(accountId)
    }
  }

  async function tailOf(workspaceId: string): Promise<Tail> {
    const known = tails.get(workspaceId)
    if (known !== undefined) return known
    const everything = await deps.prepare(allBotsOf(workspaceId), {})
    const now = isoTime(clock.now())
    // Lines that exist already are history.
    const present =
      (await readSince(deps, everything, lookFrom(deps, now), Number.MAX_SAFE_INTEGER)) ?? []
    const tail: Tail = tails.get(workspaceId) ?? {
      followers: new Set(),
      seen: new Map(present.map(({ id, createdAt }) => [id, createdAt])),
      readTo: now,
    }
    tails.set(workspaceId, tail)
    return tail
  }

  const guard = deps.authorities.guard<Follower>(async (followers) => {
    const until = await deps.standing.untilOf(followers.map(({ actor }) => actor))
    for (const [at, follower] of followers.entries()) {
      if ((until[at] ?? 0) > clock.now() && !(await prepareAgain(deps, follower))) until[at] = 0
    }
    return until
  })

  async function lookAll(): Promise<void> {
    for (const [workspaceId, tail] of tails) {
      for (const follower of tail.followers) attend(deps, follower)
      await look(deps, workspaceId, tail).catch((err: unknown) => {
        log.warn({ err, workspaceId }, 'the logs of a workspace cannot be followed now')
      })
      if (tail.followers.size === 0) tails.delete(workspaceId)
    }
    cancelLook = undefined
    schedule()
  }

  function schedule(): void {
    if (stopped || tails.size === 0 || cancelLook !== undefined) return
    cancelLook = timers.after(lookEvery, () => void lookAll())
  }

  return {
    /**
     * Returns the function that serves the connection of a caller.
     * @param after position of the last line that the caller has
     */
    async follow(
      actor: WorkspaceActor,
      filter: LogFilter,
      after: LogPosition | undefined,
    ): Promise<StartStream> {
      if (stopped) throw serverIsStopping()
      const prepared = await deps.prepare(actor, filter)
      const tail = await tailOf(actor.workspaceId)
      const release = reserve(actor.accountId)
      const now = clock.now()
      // From now on, because the response begins a moment later than the caller is admitted.
      const follower: Follower = {
        actor,
        sink: undefined,
        filter,
        passes: prepared.passes,
        waiting: new Map(),
        sentAt: now,
      }
      // Another one may have taken its place since.
      const current = tails.get(actor.workspaceId) ?? tail
      tails.set(actor.workspaceId, current)
      current.followers.add(follower)
      schedule()
      return (sink) => {
        follower.sink = sink
        const unwatch = guard.watch({
          authority: follower,
          grounds: groundsOf(deps, follower),
          end: () => sink.end('unauthorized'),
        })
        sink.onClose(() => {
          unwatch()
          release()
          current.followers.delete(follower)
        })
        if (stopped) return sink.end()
        if (after === undefined) return sendWaiting(deps, follower)
        catchUp(deps, follower, prepared, after).catch((err: unknown) => {
          log.warn({ err }, 'the logs of a workspace cannot be followed now')
          sink.cut()
        })
      }
    },

    /** Ends all streams. */
    stop(): void {
      stopped = true
      cancelLook?.()
      for (const { followers } of tails.values()) for (const { sink } of followers) sink?.end()
      tails.clear()
    },
  }
}

/** The lines from a time on, oldest first; undefined if there are too many. */
async function readSince(
  { db, readers }: TailsDeps,
  { selection, matches }: PreparedFilter,
  since: string,
  max: number,
): Promise<WorkspaceLogLine[] | undefined> {
  const lines: WorkspaceLogLine[] = []
  const reached = await scanLines(db, readers, {
    selection,
    period: { since, before: endless },
    after: undefined,
    budget: lookBudget,
    take: (line) => {
      if (matches(line)) lines.push(line)
      return lines.length <= max
    },
  })
  return reached !== undefined || lines.length > max ? undefined : lines.reverse()
}

/** The time from which on a look must read so that it misses nothing. */
function lookFrom({ clock }: TailsDeps, time: string): string {
  return isoTime(Math.min(Date.parse(time), clock.now()) - overlap)
}

function send({ clock }: TailsDeps, follower: Follower, frame: Frame): void {
  follower.sink?.send(frame)
  follower.sentAt = clock.now()
  // The client continues from its last line when it reconnects.
  if ((follower.sink?.pending ?? 0) > maxPending) follower.sink?.cut()
}

function sendInTurn(deps: TailsDeps, follower: Follower, id: string, frame: Frame): void {
  if (follower.waiting) follower.waiting.set(id, frame)
  else send(deps, follower, frame)
}

function frameOf(deps: TailsDeps, line: WorkspaceLogLine): Frame {
  const { time, id } = positionOf(line)
  return new Frame({ type: 'log_line', data: deps.toLine(line) }, `${time}/${id}`)
}

function resetFrame({ clock }: TailsDeps): Frame {
  return new Frame({ type: 'reset', data: {} }, `${isoTime(clock.now())}/`)
}

/** Reads the lines of all bots once, and sends each follower those of the bots that it may see. */
async function look(deps: TailsDeps, workspaceId: string, tail: Tail): Promise<void> {
  if (tail.followers.size === 0) return
  const now = deps.clock.now()
  const from = lookFrom(deps, tail.readTo)
  const lines = await readSince(
    deps,
    await deps.prepare(allBotsOf(workspaceId), {}),
    from,
    lookBudget,
  )
  tail.readTo = isoTime(now)
  if (lines === undefined) {
    for (const follower of tail.followers) sendInTurn(deps, follower, '', resetFrame(deps))
    return
  }
  for (const line of lines) {
    if (tail.seen.has(line.id)) continue
    tail.seen.set(line.id, line.createdAt)
    const frame = frameOf(deps, line)
    for (const follower of tail.followers) {
      if (follower.passes(line)) sendInTurn(deps, follower, line.id, frame)
    }
  }
  const next = lookFrom(deps, tail.readTo)
  for (const [id, time] of tail.seen) if (time < next) tail.seen.delete(id)
}

function attend({ clock }: TailsDeps, follower: Follower): void {
  const now = clock.now()
  if (follower.sink === undefined || now - follower.sentAt < quiet) return
  follower.sink.ping()
  follower.sentAt = now
}

/** Prepares the filter of a follower again: integrations may have been installed since. Returns whether it is valid. */
async function prepareAgain(deps: TailsDeps, follower: Follower): Promise<boolean> {
  try {
    follower.passes = (await deps.prepare(follower.actor, follower.filter)).passes
    return true
  } catch (error) {
    // The filter names a bot or an integration that is gone.
    if (error instanceof ApiError) return false
    throw error
  }
}

/** Sends what a caller does not have who continues from a position, and then what came meanwhile. */
async function catchUp(
  deps: TailsDeps,
  follower: Follower,
  prepared: PreparedFilter,
  after: LogPosition,
): Promise<void> {
  const missed = await readSince(deps, prepared, lookFrom(deps, after.time), maxMissed)
  if (missed === undefined) send(deps, follower, resetFrame(deps))
  follower.waiting?.delete(after.id)
  for (const line of missed ?? []) {
    follower.waiting?.delete(line.id)
    if (line.id !== after.id) send(deps, follower, frameOf(deps, line))
  }
  sendWaiting(deps, follower)
}

function groundsOf(deps: TailsDeps, { actor, filter }: Follower): Ground[] {
  const grounds = deps.standing.groundsOf(actor)
  return filter.botId === undefined ? grounds : [...grounds, `bot:${filter.botId}`]
}

function sendWaiting(deps: TailsDeps, follower: Follower): void {
  for (const frame of follower.waiting?.values() ?? []) send(deps, follower, frame)
  follower.waiting = undefined
}
