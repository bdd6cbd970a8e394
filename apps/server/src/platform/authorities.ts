import type { EventBus } from './bus/event-bus.js'
import type { Clock, Timers } from './clock.js'
import type { Log } from './telemetry/log.js'

/** Something on which an authority rests. When it is gone or changed, the authority may be gone. */
export type Ground = `${GroundKind}:${string}`

type GroundKind = 'token' | 'workspace' | 'bot' | 'user'

/** The kind of a ground, and the id of the token, workspace, bot or user. */
export function splitGround(ground: Ground): [kind: GroundKind, id: string] {
  const end = ground.indexOf(':')
  return [ground.slice(0, end) as GroundKind, ground.slice(end + 1)]
}

/** The reason for a check of authorities: a change, or the regular round. */
type Occasion = 'change' | 'round'

/**
 * Returns until when each of some authorities lasts, as far as is known now: milliseconds of the clock, 0 for one that
 * has ended.
 */
type CheckAuthorities<Authority> = (authorities: readonly Authority[]) => Promise<readonly number[]>

/** Something open that must end with its authority, such as a stream. */
interface Open<Authority> {
  authority: Authority
  grounds: readonly Ground[]
  /** Called once, when the authority has ended. */
  end(): void
}

/** The open streams of one kind in this process. */
export interface Guard<Authority> {
  /**
   * Watches a stream until its authority ends. It is checked now, because the authority that was verified before may
   * have ended meanwhile; after every change of a ground; when it expires; and every half minute. Returns a function that
   * ends the watching.
   */
  watch(open: Open<Authority>): () => void
}

/**
 * Announces to all processes that authorities may have ended: their caches are cleared, and then the streams that are open
 * there are checked.
 */
export interface Authorities {
  /**
   * Announces that a ground is gone or was changed. Call it after the commit. When it returns, the caches of this
   * process are cleared; those of others follow by a hint.
   */
  change(ground: Ground): void
  /**
   * Registers a function that clears from a cache what rests on a ground, or everything if the ground is undefined.
   * Streams are checked after all caches are cleared.
   */
  onChange(forget: (ground: Ground | undefined) => void): void
  /** Makes the guard of one kind of streams. A check that throws is logged and repeated. */
  guard<Authority>(check: CheckAuthorities<Authority>): Guard<Authority>
  /** Stops checking. */
  stop(): void
}

export interface AuthoritiesDeps {
  bus: EventBus
  clock: Clock
  timers: Timers
  log: Log
  /** See `Database`: shows that a command, which sends no hints on SQLite, changed the database. */
  foreignChanges(): number | undefined
}

const topic = 'authorities'
/** Streams whose authorities are checked together. */
const checkedAtOnce = 500
const tickMs = 1000
/** Milliseconds after which an authority is checked without a hint: hints can be lost. */
const roundMs = 30_000

/** Makes the authorities of one process. */
export function createAuthorities(deps: AuthoritiesDeps): Authorities {
  const { bus, clock, timers, log } = deps
  const caches: ((ground: Ground | undefined) => void)[] = []
  const watched = new Map<Ground, Set<Watched>>()
  const all = new Set<Watched>()
  /** Watched streams by the second of the clock at which their check is due. */
  const due = new Map<number, Set<Watched>>()
  let cancelTick: (() => void) | undefined
  let stopped = false
  let foreign: number | undefined

  function take(ground: Ground): void {
    for (const forget of caches) forget(ground)
    for (const each of watched.get(ground) ?? []) each.check('change')
  }

  function takeAny(): void {
    for (const forget of caches) forget(undefined)
    for (const each of all) each.check('change')
  }

  bus.subscribe({ topic }, { onHint: ({ key }) => take(key as Ground), onGap: takeAny })

  function putDue(each: Watched, at: number): void {
    const second = Math.floor(Math.min(at, clock.now() + roundMs) / tickMs)
    const others = due.get(second) ?? new Set()
    due.set(second, others.add(each))
    each.dueSecond = second
  }

  function dropDue(each: Watched): void {
    const others = due.get(each.dueSecond)
    if (others?.delete(each) && others.size === 0) due.delete(each.dueSecond)
  }

  function tick(): void {
    const now = Math.floor(clock.now() / tickMs)
    noticeForeignChanges()
    for (const [second, some] of due) {
      // A second that is further ahead than any check can be is due, too: the clock was set back.
      if (second > now && second <= now + roundMs / tickMs + 1) continue
      due.delete(second)
      for (const each of some) each.check('round')
    }
    cancelTick = undefined
    schedule()
  }

  function schedule(): void {
    if (stopped || cancelTick !== undefined || all.size === 0) return
    cancelTick = timers.after(tickMs, tick)
  }

  function readForeignChanges(): number | undefined {
    try {
      return deps.foreignChanges()
    } catch {
      // The database is closed, or fails: the checks report that.
      return undefined
    }
  }

  function noticeForeignChanges(): void {
    const known = foreign
    foreign = readForeignChanges()
    if (known !== undefined && known !== foreign) takeAny()
  }

  function add(each: Watched, grounds: readonly Ground[]): void {
    if (all.size === 0) foreign = readForeignChanges()
    all.add(each)
    for (const ground of grounds) {
      const others = watched.get(ground) ?? new Set()
      watched.set(ground, others.add(each))
    }
    schedule()
  }

  function remove(each: Watched, grounds: readonly Ground[]): void {
    if (!all.delete(each)) return
    dropDue(each)
    for (const ground of grounds) {
      const others = watched.get(ground)
      if (others?.delete(each) && others.size === 0) watched.delete(ground)
    }
  }

  return {
    change(ground) {
      take(ground)
      bus.publish({ topic, key: ground })
    },

    onChange(forget) {
      caches.push(forget)
    },

    guard(check) {
      const checks = createChecks(check, log)
      return {
        watch({ authority, grounds, end }) {
          const isOpen = () => all.has(each) && !stopped
          const settle = (until: number): void => {
            if (!isOpen()) return
            if (until > clock.now()) {
              dropDue(each)
              putDue(each, until)
              return
            }
            remove(each, grounds)
            end()
          }
          const request = {
            authority,
            isOpen,
            settle,
            // Until the next check, the stream stays open, as it does without a hint.
            fail: () => settle(clock.now() + tickMs),
          }
          const each: Watched = {
            dueSecond: Number.NaN,
            check: (occasion) => checks.add(request, occasion),
          }
          add(each, grounds)
          each.check('change')
          return () => remove(each, grounds)
        },
      }
    },

    stop() {
      stopped = true
      cancelTick?.()
    },
  }
}

interface Watched {
  dueSecond: number
  check(occasion: Occasion): void
}

interface Request<Authority> {
  authority: Authority
  isOpen(): boolean
  settle(until: number): void
  fail(): void
}

/** Checks authorities of one kind, many at a time. Requests that arrive during a check wait for the next one. */
function createChecks<Authority>(check: CheckAuthorities<Authority>, log: Log) {
  const waiting = new Map<Request<Authority>, Occasion>()
  let isRunning = false

  /** The next batch: authorities after a change come before those that are merely due. */
  function next(): Request<Authority>[] {
    for (const occasion of ['change', 'round'] as const) {
      const batch: Request<Authority>[] = []
      for (const [request, its] of waiting) {
        if (its !== occasion) continue
        waiting.delete(request)
        if (request.isOpen()) batch.push(request)
        if (batch.length === checkedAtOnce) break
      }
      if (batch.length > 0) return batch
    }
    return []
  }

  async function run(): Promise<void> {
    // At the end of a turn of the event loop: changes in one turn are one batch, and other work runs between two.
    while (waiting.size > 0) {
      await new Promise((resolve) => setImmediate(resolve))
      const batch = next()
      if (batch.length === 0) continue
      try {
        const until = await check(batch.map(({ authority }) => authority))
        for (const [at, request] of batch.entries()) request.settle(until[at] ?? 0)
      } catch (err) {
        log.warn(
          { err, streams: batch.length },
          'the authorities of open streams cannot be checked; they are checked again in a second',
        )
        for (const request of batch) request.fail()
      }
    }
    isRunning = false
  }

  return {
    add(request: Request<Authority>, occasion: Occasion): void {
      if (waiting.get(request) !== 'change') waiting.set(request, occasion)
      if (isRunning) return
      isRunning = true
      void run()
    },
  }
}
