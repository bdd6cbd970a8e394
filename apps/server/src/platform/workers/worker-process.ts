import { fork } from 'node:child_process'
import { Socket } from 'node:net'
import { constants, setPriority } from 'node:os'
import { guarded } from '../guarded.js'
import type { WorkerEntry } from './worker-entry.js'
import type { TaskMessage, TaskResult } from './worker-task.js'

/** How much of the error output of an ending process is kept, in characters. */
const maximumErrorText = 8192
const outOfMemoryText = /heap out of memory|invalid (?:array|table|size)|allocation failed/i

/** A process ended while it had work or before it could have any. */
export class WorkerExitError extends Error {
  override readonly name = 'WorkerExitError'
  /** Whether it ended because its memory did not suffice. */
  readonly outOfMemory: boolean

  constructor(message: string, outOfMemory: boolean, options?: ErrorOptions) {
    super(message, options)
    this.outOfMemory = outOfMemory
  }
}

/** Receives what a task sends before its result. */
interface TaskListener {
  /** How far it is, as its handler reports it. */
  onProgress(progress: unknown): void
  /** @param piece part of its output, as JSON */
  onPiece(piece: string): void
}

/** A process that does one task at a time. */
export interface WorkerProcess {
  /** @throws WorkerExitError if the process ends first */
  run(envelope: object, listener: TaskListener): Promise<TaskResult>
  /** Lets everybody else go first from now on. */
  yieldToOthers(): void
  /** Ends the process whatever it is doing. */
  kill(): void
  /** Resolves with the reason once the process has ended. */
  readonly ended: Promise<WorkerExitError>
}

/**
 * @param memoryLimitMb megabytes of JavaScript heap at which the process ends itself
 */
export function startWorkerProcess(entry: WorkerEntry, memoryLimitMb: number): WorkerProcess {
  const child = fork(entry.filename, {
    execArgv: [...entry.execArgv, `--max-old-space-size=${memoryLimitMb}`],
    // A process that reads foreign files must not have the secrets of the server.
    env: {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let errorText = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errorText = `${errorText}${text}`.slice(-maximumErrorText)
  })
  let gone: WorkerExitError | undefined
  // Called and not raced against `ended`: a promise that lives as long as the process would keep a
  // reaction, and with it the result, for every task that ever ran.
  let giveUp: ((reason: WorkerExitError) => void) | undefined
  const ended = new Promise<WorkerExitError>((resolve) => {
    const finish = (reason: WorkerExitError) => {
      gone ??= reason
      resolve(gone)
      giveUp?.(gone)
    }
    // There may be more than one: of the start, of a signal that cannot be sent.
    child.on('error', (error) => finish(new WorkerExitError(error.message, false)))
    child.once('close', (code, signal) => finish(toExitError(code, signal, errorText)))
  })
  let onMessage: ((message: TaskMessage) => void) | undefined
  // The worker reads foreign files: what it sends ends it at worst, never this process.
  const onFault = (cause: unknown) => {
    onMessage = undefined
    const why = cause instanceof Error ? cause.message : 'unknown fault'
    gone ??= new WorkerExitError(`A message of the worker cannot be read: ${why}`, false, { cause })
    child.kill('SIGKILL')
  }
  child.on(
    'message',
    guarded(onFault, (message: TaskMessage) => onMessage?.(message)),
  )
  idle(true)

  /** An idle worker is no reason for the server to stay alive, one that works or ends is. */
  function idle(isIdle: boolean): void {
    const stderr = child.stderr instanceof Socket ? child.stderr : undefined
    for (const handle of [child, child.channel, stderr]) isIdle ? handle?.unref() : handle?.ref()
  }

  return {
    ended,
    async run(envelope, { onProgress, onPiece }) {
      if (gone !== undefined) throw gone
      // The system could not start it, and says why in a moment.
      if (child.pid === undefined) throw await ended
      idle(false)
      try {
        return await new Promise<TaskResult>((resolve, reject) => {
          giveUp = reject
          onMessage = (message) => {
            if ('progress' in message) onProgress(message.progress)
            else if ('piece' in message) onPiece(message.piece)
            else resolve(message)
          }
          // A failure to send means that the process is ending, of which its end knows more.
          child.send(envelope, () => {})
        })
      } finally {
        onMessage = undefined
        giveUp = undefined
        idle(true)
      }
    },
    yieldToOthers() {
      try {
        if (child.pid !== undefined)
          setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
      } catch {
        // It has just ended, or the system does not allow it: it goes on as it was.
      }
    },
    kill() {
      // Its end is waited for.
      idle(false)
      child.kill('SIGKILL')
    },
  }
}

function toExitError(
  code: number | null,
  signal: NodeJS.Signals | null,
  errorText: string,
): WorkerExitError {
  const how = signal === null ? `with code ${code}` : `by ${signal}`
  const why = errorText.trim() === '' ? '' : `: ${errorText.trim()}`
  return new WorkerExitError(`The worker ended ${how}${why}`, outOfMemoryText.test(errorText))
}
