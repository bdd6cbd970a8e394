import { type Clock, isoTime, type Timers } from '../../../platform/clock.js'
import type { Run } from '../../../platform/db/schema.js'
import type { Log } from '../../../platform/telemetry/log.js'
import { markUsed, type TokenRow } from './store.js'

/** Stores when tokens were last used, in the background. */
export interface TokenUsage {
  /** Records that a token was just used; the stored time is at most a minute older. */
  record(token: Pick<TokenRow, 'id' | 'last_used_at'>): void
  /** Stores the recorded uses. Never rejects: a failed write is repeated after the next use. */
  flush(): Promise<void>
  /** Stores the recorded uses and stops. */
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
/** Milliseconds for which uses are collected for one write. */
const gathering = 1000

/** Makes the recorder of token uses, which collects them for a second and stores them in one write. */
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
