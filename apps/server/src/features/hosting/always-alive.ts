import type { Timers } from '../../platform/clock.js'
import type { Log } from '../../platform/telemetry/log.js'
import type { CodeOwner } from '../bots/deployments/index.js'
import type { Programs } from './programs.js'

/** Keeps the code of bots running that declare `alwaysAlive`. */
export interface AlwaysAlive {
  /** Begins to start them, one after the other. */
  start(): void
  /** Reads the list of these bots again, because it may have changed. */
  refresh(): void
  stop(): void
}

export interface AlwaysAliveDeps {
  timers: Timers
  log: Log
  /** Ids of the bots that declare it and whose code runs here: at most `limit`, the same ones each time. */
  listAlwaysAlive: (limit: number) => Promise<string[]>
  programs: Pick<Programs, 'keepAlive'>
  /** Maximum number of programs that are kept running; the other bots start with their first request. */
  maxPrograms: number
}

/** Milliseconds between two checks of whether all of them run. */
const checkMs = 2000
/** Milliseconds after which the list is read again without a hint: a hint may be lost. */
const refreshMs = 60_000

/** Every process of the server keeps these bots running, because any of them may receive the next request. */
export function createAlwaysAlive(deps: AlwaysAliveDeps): AlwaysAlive {
  const { timers, log, listAlwaysAlive, programs, maxPrograms } = deps
  let owners: readonly CodeOwner[] = []
  let isStale = true
  let checking: Promise<void> | undefined
  let isStarted = false
  let isOverLimit = false
  let cancelCheck = () => {}
  let cancelRefresh = () => {}

  async function list(): Promise<void> {
    isStale = false
    const ids = await listAlwaysAlive(maxPrograms + 1)
    if (ids.length > maxPrograms && !isOverLimit) {
      log.warn(
        { most: maxPrograms },
        'more bots are declared alwaysAlive than this process keeps running',
      )
    }
    isOverLimit = ids.length > maxPrograms
    owners = ids.slice(0, maxPrograms).map((id) => ({ type: 'bot', id }))
  }

  async function check(): Promise<void> {
    try {
      do {
        if (isStale) await list()
        await programs.keepAlive(owners)
      } while (isStale)
    } catch (err) {
      isStale = true
      log.warn({ err }, 'the bots that are always alive cannot be read now')
    }
  }

  function checkNow(): void {
    if (!isStarted || checking) return
    cancelCheck()
    checking = check().finally(() => {
      checking = undefined
      if (isStarted && (owners.length > 0 || isStale)) cancelCheck = timers.after(checkMs, checkNow)
    })
  }

  function refresh(): void {
    isStale = true
    checkNow()
  }

  function refreshLater(): void {
    cancelRefresh = timers.after(refreshMs, () => {
      refresh()
      refreshLater()
    })
  }

  return {
    start() {
      isStarted = true
      checkNow()
      refreshLater()
    },
    refresh,
    stop() {
      isStarted = false
      cancelCheck()
      cancelRefresh()
    },
  }
}
