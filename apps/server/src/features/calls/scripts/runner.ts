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

/** Too many scripts wait to be run: the same script may succeed in a second. */
export class ScriptsBusyError extends Error {
  override readonly name = 'ScriptsBusyError'
}

/** One run of a script. */
export interface ScriptRun {
  /** In VRL. */
  script: string
  /** What the script sees as `.`; JSON. */
  data: Readonly<Record<string, unknown>>
  /** The workspace of the script: scripts of one workspace run one after the other. */
  workspaceId: string
  /** Whose script it is: after one that ran into a limit, those of the owner are refused for a while. */
  owner: string
  /**
   * Network address of who sent the data, if that is an outsider: the limit counts against them first, and
   * against the owner only if it is reached for several.
   */
  caller?: string | undefined
}

/** Milliseconds that a script may run, by the clock; most need less than one. */
const scriptLimitMs = 2000
/** Milliseconds in which the engine has to load. */
const startLimitMs = 60_000
/** Milliseconds for which scripts are refused after one of them ran into a limit. */
const suspensionMs = 15_000
/** Outsiders with whose data scripts of an owner may run into limits within a minute, before all are refused. */
const mostCallers = 3
const minute = 60_000
/** Scripts of one workspace that run or wait. */
const mostOfWorkspace = 50
const maxOutputBytes = 1024 * 1024
/** Owners, and outsiders, that are remembered. */
const mostRemembered = 1000
const busy = 'Too many scripts at once: try again in a second.'

/**
 * Runs scripts in one process of its own, which is started by the first script and ends after five minutes without
 * any. All workspaces share it in turns: each has one script in its queue at a time, and an owner is suspended for a
 * while when one takes too long.
 */
export function createScriptRunner({ clock, log }: { clock: Clock; log: Pick<Log, 'warn'> }) {
  const pool = createWorkerPool<ScriptInput, ScriptOutput, ScriptProgress>({
    entry: new URL('./script-worker.js', import.meta.url),
    workers: 1,
    maximumQueue: 200,
    timeLimitMs: startLimitMs,
    memoryLimitMb: 256,
    maximumOutputBytes: maxOutputBytes,
    idleTimeoutMs: 5 * 60_000,
    onError: (err) => log.warn({ err }, 'the process of scripts ended'),
  })
  const suspendedUntil = createLruCache<string, number>(mostRemembered)
  /** By owner, when scripts ran into limits with the data of outsiders. */
  const failures = createLruCache<string, number[]>(mostRemembered)
  const running = new Map<string, { count: number; last: Promise<unknown> }>()

  function suspend(party: string): void {
    suspendedUntil.set(party, clock.now() + suspensionMs)
  }

  function isSuspended(party: string): boolean {
    return (suspendedUntil.get(party) ?? 0) > clock.now()
  }

  function limit({ owner, caller }: ScriptRun, reason: string): ScriptError {
    if (caller === undefined) suspend(owner)
    else {
      suspend(`${owner} ${caller}`)
      const recent = (failures.get(owner) ?? []).filter((at) => at > clock.now() - minute)
      failures.set(owner, [...recent, clock.now()])
      if (recent.length + 1 >= mostCallers) suspend(owner)
    }
    return new ScriptLimitError(reason)
  }

  /** Runs a script after the ones of its workspace that came before. */
  async function inTurn<T>(workspaceId: string, act: () => Promise<T>): Promise<T> {
    const known = running.get(workspaceId) ?? { count: 0, last: Promise.resolve() }
    if (known.count >= mostOfWorkspace) throw new ScriptsBusyError(busy)
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
      return limit(run, 'It needs too much memory, or is nested too deeply.')
    }
    if (!(error instanceof WorkerLimitError)) return error
    switch (error.limit) {
      case 'time':
        return limit(run, `It takes longer than ${scriptLimitMs / 1000} seconds.`)
      case 'memory':
        return limit(run, 'It needs too much memory.')
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
      throw new ScriptLimitError(
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
            timer ??= setTimeout(
              () => late.abort(new WorkerLimitError('time', 'late')),
              scriptLimitMs,
            )
          },
        },
      )
      if ('failure' in output) throw new ScriptError(output.failure)
      return output
    } catch (error) {
      throw toScriptError(error, run)
    } finally {
      clearTimeout(timer)
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
