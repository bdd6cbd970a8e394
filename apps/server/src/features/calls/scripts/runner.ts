import type { Clock } from '../../../platform/clock.js'
import { createLruCache } from '../../../platform/lru-cache.js'
import type { Log } from '../../../platform/telemetry/log.js'
import { WorkerLimitError } from '../../../platform/workers/gate.js'
import { createWorkerPool } from '../../../platform/workers/worker-pool.js'
import { WorkerExitError } from '../../../platform/workers/worker-process.js'
import type { ScriptInput, ScriptOutput, ScriptProgress } from './script-task.js'

/** A script cannot be run, or failed; the message is for its author. */
export class ScriptError extends Error {
  override readonly name = 'ScriptError'
}

/** A script ran into a limit, or is refused because another one of its owner did: it says nothing about the data. */
export class ScriptLimitError extends ScriptError {}

/** Too many scripts wait to be run: the same may succeed in a second. */
export class ScriptsBusyError extends Error {
  override readonly name = 'ScriptsBusyError'
}

/** One run of a script. */
export interface ScriptRun {
  /** In VRL. */
  script: string
  /** What the script sees as `.`; JSON. */
  data: Readonly<Record<string, unknown>>
  /** Whose script it is: scripts of one owner run one after the other, and share limits. */
  owner: string
}

/** What a script made of its data. */
export interface ScriptOutcome {
  /** `.` as the script left it. */
  data: unknown
  /** Value of its last expression. */
  result: unknown
}

/** Milliseconds that a script may run, by the clock; most need less than one. */
const scriptLimitMs = 5000
/** Milliseconds in which the engine has to load. */
const startLimitMs = 60_000
/** Milliseconds for which the scripts of an owner are refused after one of them ran into a limit. */
const suspensionMs = 15_000
/** Scripts of one owner that run or wait. */
const mostOfOwner = 50
const maxOutputBytes = 1024 * 1024
const maxOwners = 1000
const busy = 'Too many scripts at once: try again in a second.'

/**
 * Runs scripts in one process of its own, which is started by the first script and ends after five minutes without
 * any. All owners share it in turns: each has one script in its queue at a time, and is suspended for a while when
 * one takes too long.
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
  const suspendedUntil = createLruCache<string, number>(maxOwners)
  const running = new Map<string, { count: number; last: Promise<unknown> }>()

  function suspend(owner: string, reason: string): ScriptError {
    suspendedUntil.set(owner, clock.now() + suspensionMs)
    return new ScriptLimitError(reason)
  }

  /** Runs a script after the ones of its owner that came before. */
  async function inTurn<T>(owner: string, act: () => Promise<T>): Promise<T> {
    const ofOwner = running.get(owner) ?? { count: 0, last: Promise.resolve() }
    if (ofOwner.count >= mostOfOwner) throw new ScriptsBusyError(busy)
    running.set(owner, ofOwner)
    ofOwner.count++
    const turn = ofOwner.last.then(act)
    ofOwner.last = turn.catch(() => undefined)
    try {
      return await turn
    } finally {
      if (--ofOwner.count === 0) running.delete(owner)
    }
  }

  function toScriptError(error: unknown, owner: string): unknown {
    if (error instanceof WorkerExitError) {
      return suspend(owner, 'It needs too much memory, or is nested too deeply.')
    }
    if (!(error instanceof WorkerLimitError)) return error
    switch (error.limit) {
      case 'time':
        return suspend(owner, `It takes longer than ${scriptLimitMs / 1000} seconds.`)
      case 'memory':
        return suspend(owner, 'It needs too much memory.')
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
    return await inTurn(run.owner, () => runNow(run))
  }

  async function runNow({ script, data, owner }: ScriptRun): Promise<ScriptOutcome> {
    if ((suspendedUntil.get(owner) ?? 0) > clock.now()) {
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
          // The time in which the engine loads is not the script's.
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
      throw toScriptError(error, owner)
    } finally {
      clearTimeout(timer)
    }
  }

  return { run, stop: () => pool[Symbol.asyncDispose]() }
}

/** The engine ends at halves of characters. */
function toJson(data: unknown): string {
  return JSON.stringify(data, (_, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed() : value,
  )
}
