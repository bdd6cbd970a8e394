import type { Timers } from '../../../platform/clock.js'
import type { Log } from '../../../platform/telemetry/log.js'
import type { CodeOwner } from '../../bots/deployments/index.js'
import type { Programs } from './programs.js'

/** Keeps the code of bots running that are declared to be always alive. */
export interface AlwaysAlive {
  /** Begins to start them, one after the other. */
  start(): void
  /** Which bots are declared so may have changed. */
  lookAgain(): void
  stop(): void
}

export interface AlwaysAliveDeps {
  timers: Timers
  log: Log
  /** Ids of the bots that are declared so and whose code runs here, at most as many as asked for, the same ones each time. */
  listAlwaysAlive: (limit: number) => Promise<string[]>
  programs: Pick<Programs, 'keepAlive'>
  /** Programs that are kept running at most; the other bots start with their first request. */
  most: number
}

/** Milliseconds between two looks at whether all of them run. */
const checkMs = 2000
/** Milliseconds after which the list is read again although no hint said so: a hint may be lost. */
const listedMs = 60_000

/** Each process of the server keeps its own programs: any of them may be given the next request. */
export function createAlwaysAlive(deps: AlwaysAliveDeps): AlwaysAlive {
  const { timers, log, listAlwaysAlive, programs, most } = deps
  let owners: readonly CodeOwner[] = []
  let isStale = true
  let looking: Promise<void> | undefined
  let isStarted = false
  let isBounded = false
  let cancelCheck = () => {}
  let cancelListing = () => {}

  async function list(): Promise<void> {
    isStale = false
    const ids = await listAlwaysAlive(most + 1)
    if (ids.length > most && !isBounded) {
      log.warn({ most }, 'more bots are declared alwaysAlive than this process keeps running')
    }
    isBounded = ids.length > most
    owners = ids.slice(0, most).map((id) => ({ type: 'bot', id }))
  }

  async function look(): Promise<void> {
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

  function wake(): void {
    if (!isStarted || looking) return
    cancelCheck()
    looking = look().finally(() => {
      looking = undefined
      if (isStarted && (owners.length > 0 || isStale)) cancelCheck = timers.after(checkMs, wake)
    })
  }

  function lookAgain(): void {
    isStale = true
    wake()
  }

  function listLater(): void {
    cancelListing = timers.after(listedMs, () => {
      lookAgain()
      listLater()
    })
  }

  return {
    start() {
      isStarted = true
      wake()
      listLater()
    },
    lookAgain,
    stop() {
      isStarted = false
      cancelCheck()
      cancelListing()
    },
  }
}
