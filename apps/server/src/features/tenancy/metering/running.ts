import type { Clock, Timers } from '../../../platform/clock.js'
import type { Log } from '../../../platform/telemetry/log.js'
import type { UsageKind } from './store.js'

/** Counts the time that something takes. */
export interface RunningTime {
  /** Begins to count for a bot. @returns a function that ends it; further calls do nothing */
  begin(botId: string, kind: TimeKind): () => void
  start(): void
  /** Stores what was counted. */
  stop(): Promise<void>
}

type TimeKind = Extract<UsageKind, 'listener_time' | 'hosted_time'>

interface RunningDeps {
  clock: Clock
  timers: Timers
  log: Log
  /** Adds milliseconds to a counter. */
  add(times: readonly { botId: string; kind: TimeKind; ms: number }[]): Promise<void>
}

/** Milliseconds of which the time is lost at most if the process is killed. */
const storeEveryMs = 10_000

/** Counters that one transaction adds to. */
const botsAtOnce = 100

interface Running {
  botId: string
  kind: TimeKind
  /** How many run at the moment. */
  count: number
  /** Up to when their time is in `ms`. */
  since: number
  /** Milliseconds that are not stored. */
  ms: number
}

/** Adds up the time of everything that runs at once, and stores it every ten seconds. */
export function createRunningTime({ clock, timers, log, add }: RunningDeps): RunningTime {
  const all = new Map<string, Running>()
  let cancel = () => {}
  let storing = Promise.resolve()

  function advance(running: Running): void {
    const now = clock.now()
    // The clock may have been set back.
    running.ms += running.count * Math.max(0, now - running.since)
    running.since = now
  }

  async function store(): Promise<void> {
    const times: Running[] = []
    for (const [key, running] of all) {
      advance(running)
      if (running.ms > 0) times.push({ ...running })
      if (running.count === 0) all.delete(key)
      running.ms = 0
    }
    // Sorted, because another process may lock the same rows.
    times.sort((one, other) => (one.botId < other.botId ? -1 : 1))
    while (times.length > 0) {
      try {
        await add(times.slice(0, botsAtOnce))
        times.splice(0, botsAtOnce)
      } catch (err) {
        log.warn({ err }, 'time that was counted could not be stored: it is tried again')
        for (const time of times.splice(0)) keep(time)
      }
    }
  }

  function keep({ ms, ...unstored }: Running): void {
    const key = `${unstored.kind} ${unstored.botId}`
    const running = all.get(key) ?? { ...unstored, count: 0, ms: 0 }
    all.set(key, running)
    running.ms += ms
  }

  function next(): void {
    cancel = timers.after(storeEveryMs, () => {
      storing = store()
      void storing.then(next)
    })
  }

  return {
    begin(botId, kind) {
      const key = `${kind} ${botId}`
      const running = all.get(key) ?? { botId, kind, count: 0, since: clock.now(), ms: 0 }
      all.set(key, running)
      advance(running)
      running.count += 1
      let isOver = false
      return () => {
        if (isOver) return
        isOver = true
        // It may have been stored and taken out in between, if nothing of it ran: not while this did.
        advance(running)
        running.count -= 1
      }
    },
    start: next,
    async stop() {
      cancel()
      await storing
      cancel()
      await store()
    },
  }
}
