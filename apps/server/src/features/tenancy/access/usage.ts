import { type Clock, isoTime, type Timers } from '../../../platform/clock.js'
import type { Run } from '../../../platform/db/schema.js'
import type { Log } from '../../../platform/telemetry/log.js'
import { markUsed, type TokenRow } from './store.js'

/** Keeps the time of last use of tokens, off the path of requests. */
export interface TokenUsage {
  /** Notes that a token was just used; what is stored is at most a minute older than that. */
  record(token: Pick<TokenRow, 'id' | 'last_used_at'>): void
  /** Stores what was noted. Never rejects: what fails is noted again at the next use. */
  flush(): Promise<void>
  /** Stores what was noted and stops. */
  [Symbol.asyncDispose](): Promise<void>
}

export interface TokenUsageDeps {
  run: Run
  clock: Clock
  timers: Timers
  log: Log
}

/** Milliseconds between two writes for the same token. */
const precision = 60_000
/** Milliseconds that uses are gathered for one write. */
const gathering = 1000

export function createTokenUsage({ run, clock, timers, log }: TokenUsageDeps): TokenUsage {
  const used = new Set<string>()
  let cancel: (() => void) | undefined
  let stopped = false

  async function flush(): Promise<void> {
    cancel?.()
    cancel = undefined
    if (used.size === 0) return
    const ids = [...used]
    used.clear()
    try {
      await run((tx) => markUsed(tx, ids, isoTime(clock.now())))
    } catch (err) {
      log.warn({ err, tokens: ids.length }, 'the last use of tokens could not be stored')
    }
  }

  return {
    record({ id, last_used_at }) {
      if (stopped || (last_used_at && clock.now() - Date.parse(last_used_at) < precision)) return
      used.add(id)
      cancel ??= timers.after(gathering, () => void flush())
    },
    flush,
    async [Symbol.asyncDispose]() {
      stopped = true
      await flush()
    },
  }
}
