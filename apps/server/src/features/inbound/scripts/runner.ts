import type { Clock } from '../../../platform/clock.js'
import { createLruCache } from '../../../platform/lru-cache.js'
import type { Log } from '../../../platform/telemetry/log.js'
import { WorkerLimitError } from '../../../platform/workers/gate.js'
import { createWorkerPool } from '../../../platform/workers/worker-pool.js'
import { WorkerExitError } from '../../../platform/workers/worker-process.js'
import type { ScriptInput, ScriptOutcome, ScriptOutput, ScriptProgress } from './script-task.js'

export type { ScriptOutcome } from './script-task.js'

/** A script cannot be run, or failed; the message is for its author. */
export class ScriptError extends Error {
  override readonly name = 'ScriptError'
}

/**
 * A script ran into a limit, or is refused because another one of its owner did a moment ago. The same script may
 * succeed later.
 */
export class ScriptLimitError extends ScriptError {}

/** A script is refused because another one of its owner ran into a limit: it says nothing about this one. */
export class ScriptSuspendedError extends ScriptLimitError {}

/** Too many scripts wait to be run: the same script may succeed in a second. */
export class ScriptsBusyError extends Error {
  override readonly name = 'ScriptsBusyError'
}

/** One run of a script. */
export interface ScriptRun {
  /** In VRL. */
  script: string
  /** The input of the script, which it reads as `.`; JSON. */
  data: Readonly<Record<string, unknown>>
  /** The workspace of the script: scripts of one workspace run one after the other. */
  workspaceId: string
  /** Identifies whose script it is: after one that ran into a limit, scripts of the owner are refused for a while. */
  owner: string
  /**
   * Network address of the outsider who sent the data, if one did. A limit then suspends the scripts of the owner
   * for this caller only, and for all callers when it is the third within a minute.
   */
  caller?: string | undefined
}

/** Milliseconds of real time that a script may run; most need less than one. */
const scriptLimitMs = 2000
/** Milliseconds between two looks at that time: one in which the machine stood still counts as any other. */
const tickMs = 100
/** Milliseconds in which the engine has to load. */
const startLimitMs = 60_000
/** Milliseconds for which scripts are refused after one of them ran into a limit. */
const suspensionMs = 15_000
/** Callers with whose data scripts of an owner may run into limits within a minute, before all are refused. */
const maxFailingCallers = 3
const minuteMs = 60_000
/** Maximum number of scripts of one workspace that run or wait. */
const maxPerWorkspace = 50
/** Maximum bytes of the outcome of a script, in JSON. */
const maxOutputBytes = 1024 * 1024
/** Maximum number of owners and callers whose suspension is remembered. */
const maxRemembered = 1000
const busy = 'Too many scripts at once: try again in a second.'

/**
 * Runs scripts in one process of their own, which the first script starts and which ends after five minutes without
 * any. Workspaces take turns: each has one script at a time in the queue of the process. After one that runs into a
 * limit of time or memory, scripts of its owner are refused for a while.
 */
export function createScriptRunner({ clock, log }: { clock: Clock; log: Pick<Log, 'warn'> }) {
  const pool = createWorkerPool<ScriptInput, ScriptOutput, ScriptProgress>({
    entry: new URL('./script-worker.js', import.meta.url),
    workers: 1,
    maxQueue: 200,
    timeLimitMs: startLimitMs,
    memoryLimitMb: 256,
    maxOutputBytes,
    idleTimeoutMs: 5 * 60_000,
    onError: (err) => log.warn({ err }, 'the process of scripts ended'),
  })
  /** Milliseconds of the clock, by owner, or by owner and caller. */
  const suspendedUntil = createLruCache<string, number>(maxRemembered)
  /** Callers with whose data scripts ran into limits, and when, by owner. */
  const failingCallers = createLruCache<string, { caller: string; at: number }[]>(maxRemembered)
  const running = new Map<string, { count: number; last: Promise<unknown> }>()

  function suspend(party: string): void {
    suspendedUntil.set(party, clock.now() + suspensionMs)
  }

  function isSuspended(party: string): boolean {
    return (suspendedUntil.get(party) ?? 0) > clock.now()
  }

  /** Suspends the caller or the owner of a script that ran into a limit. @returns the error of the run */
  function toLimitError({ owner, caller }: ScriptRun, reason: string): ScriptError {
    if (caller === undefined) suspend(owner)
    else {
      suspend(`${owner} ${caller}`)
      const since = clock.now() - minuteMs
      const others = (failingCallers.get(owner) ?? []).filter(
        (each) => each.at > since && each.caller !== caller,
      )
      failingCallers.set(owner, [...others, { caller, at: clock.now() }])
      if (others.length + 1 >= maxFailingCallers) suspend(owner)
    }
    return new ScriptLimitError(reason)
  }

  /** Runs a script after the earlier ones of its workspace. */
  async function inTurn<T>(workspaceId: string, act: () => Promise<T>): Promise<T> {
    const known = running.get(workspaceId) ?? { count: 0, last: Promise.resolve() }
    if (known.count >= maxPerWorkspace) throw new ScriptsBusyError(busy)
    running.set(workspaceId, known)
    known.count++
    const turn = known.last.then(act)
    known.last = turn.catch(() => undefined)
    try {
      return await turn
    } finally {
      if (--known.count === 0) running.delete(workspaceId)
    }
  }

  function toScriptError(error: unknown, run: ScriptRun): unknown {
    if (error instanceof WorkerExitError) {
      return toLimitError(run, 'It needs too much memory, or is nested too deeply.')
    }
    if (!(error instanceof WorkerLimitError)) return error
    switch (error.limit) {
      case 'time':
        return toLimitError(run, `It takes longer than ${scriptLimitMs / 1000} seconds.`)
      case 'memory':
        return toLimitError(run, 'It needs too much memory.')
      case 'output':
        return new ScriptError(`It returns more than ${maxOutputBytes} bytes.`)
      case 'queue':
        return new ScriptsBusyError(busy)
    }
  }

  /**
   * Runs a script to its end.
   * @throws ScriptError if it cannot be compiled, fails or runs into a limit
   * @throws ScriptsBusyError if too many others wait
   */
  async function run(run: ScriptRun): Promise<ScriptOutcome> {
    return await inTurn(run.workspaceId, () => runNow(run))
  }

  async function runNow(run: ScriptRun): Promise<ScriptOutcome> {
    const { script, data, owner, caller } = run
    if (isSuspended(owner) || isSuspended(`${owner} ${caller}`)) {
      throw new ScriptSuspendedError(
        'A script ran into a limit a moment ago: it is tried again in some seconds.',
      )
    }
    const late = new AbortController()
    let timer: NodeJS.Timeout | undefined
    try {
      const output = await pool.run(
        { script, data: toJson(data) },
        {
          signal: late.signal,
          // The time in which the engine loads does not count.
          onProgress() {
            let left = scriptLimitMs
            timer ??= setInterval(() => {
              left -= tickMs
              if (left <= 0) late.abort(new WorkerLimitError('time', 'late'))
            }, tickMs)
          },
        },
      )
      if ('failure' in output) throw new ScriptError(output.failure)
      return output
    } catch (error) {
      throw toScriptError(error, run)
    } finally {
      clearInterval(timer)
    }
  }

  return { run, stop: () => pool[Symbol.asyncDispose]() }
}

/** Replaces lone surrogates, at which the engine fails. */
function toJson(data: unknown): string {
  return JSON.stringify(data, (_, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed() : value,
  )
}
