import { spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { constants, setPriority } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { serialize } from 'node:v8'
import { guarded } from '../guarded.js'
import type { WorkerEntry } from './worker-entry.js'
import { createFrameReader, type FrameKind, frameHead } from './worker-frames.js'
import { type TaskEnvelope, type TaskResult, tooSlowText } from './worker-task.js'

/** Maximum length of the kept error output of a process, in characters. */
const maxErrorText = 8192
/** Maximum size in bytes of a message that is no output, and maximum number of progress reports of a task. */
const maxMessageBytes = 2 ** 20
const maxReports = 100_000
const outOfMemoryText =
  /heap out of memory|invalid (?:array|table|size)|allocation failed|memory of the process/i

/** A process ended while it had work or before it could have any. */
export class WorkerExitError extends Error {
  override readonly name = 'WorkerExitError'
  /** Whether it ended because its memory did not suffice. */
  readonly outOfMemory: boolean
  /** Milliseconds of processor time that did not suffice, if that is why it ended. */
  readonly processorTimeMs: number | undefined

  constructor(
    message: string,
    outOfMemory: boolean,
    options?: ErrorOptions & { processorTimeMs?: number },
  ) {
    super(message, options)
    this.outOfMemory = outOfMemory
    this.processorTimeMs = options?.processorTimeMs
  }
}

/** Receives what a task sends before its result. */
interface TaskListener {
  /** @param progress as the handler of the task reports it */
  onProgress(progress: unknown): void
  /** @param piece part of its output, as JSON */
  onPiece(piece: string): void
}

/** A process that does one task at a time. */
export interface WorkerProcess {
  /** @throws WorkerExitError if the process ends first */
  run(envelope: TaskEnvelope<unknown>, listener: TaskListener): Promise<TaskResult>
  /** Whether so much of its memory is in use that it should do no further task. */
  isSpent(): boolean
  /** Lets everybody else go first from now on. */
  yieldToOthers(): void
  /** Ends the process whatever it is doing. */
  kill(): void
  /** Resolves with the reason once the process has ended. */
  readonly ended: Promise<WorkerExitError>
}

/** Megabytes besides the heap and as much again for buffers: code, stacks, a file that is read. */
const otherMemoryMb = 256

/**
 * @param memoryLimitMb megabytes of JavaScript heap at which the process ends itself; it also does when it takes twice
 *   as much and 256 MB in all
 */
export function startWorkerProcess(entry: WorkerEntry, memoryLimitMb: number): WorkerProcess {
  const flags = [...entry.execArgv, `--max-old-space-size=${memoryLimitMb}`]
  const maxMb = 2 * memoryLimitMb + otherMemoryMb
  const child = spawn(process.execPath, [...flags, entry.filename, `${maxMb}`], {
    // A process that reads foreign files must not have the secrets of the server.
    env: {},
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
  })
  // Without a free descriptor the system makes neither a process nor pipes. Its error comes in a moment.
  const pipes: readonly (Readable | Writable | null | undefined)[] = child.stdio ?? []
  const messages = pipes[3]
  // Writing fails when the process is ending, of which its end knows more.
  child.stdin?.on('error', () => {})
  let errorText = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errorText = `${errorText}${text}`.slice(-maxErrorText)
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
  /** Bytes of output that the task may still send. */
  let outputLeft = 0
  let reportsLeft = maxReports
  let isSpent = false
  let listener: TaskListener | undefined
  let giveResult: ((result: TaskResult) => void) | undefined
  // The worker reads foreign files: what it sends ends it at worst, never this process.
  const onFault = (cause: unknown) => {
    listener = undefined
    messages?.destroy()
    const why = cause instanceof Error ? cause.message : 'unknown fault'
    gone ??= new WorkerExitError(`A message of the worker cannot be read: ${why}`, false, { cause })
    killChild()
  }

  function receive(kind: FrameKind, content: Buffer): void {
    // JSON has a character at least, so that all messages together are bounded by what they count for.
    if (content.length === 0) throw new Error('it is empty')
    const text = content.toString('utf8')
    if (kind === 'output' || kind === 'piece') {
      outputLeft -= content.length
      if (outputLeft < 0) throw new Error('its output is larger than allowed')
    } else reportsLeft -= 1
    if (reportsLeft < 0) throw new Error('it reports too often')
    if (kind === 'output') giveResult?.({ output: text })
    else if (kind === 'outputBytes') giveResult?.({ outputBytes: Number(text) })
    else if (kind === 'error') giveResult?.({ error: errorIn(JSON.parse(text)) })
    else if (kind === 'progress') listener?.onProgress(JSON.parse(text))
    else if (kind === 'piece') listener?.onPiece(text)
    else if (kind === 'spent') isSpent = true
    else throw new Error('it is no message of a worker')
  }

  const maxBytes = () => Math.max(maxMessageBytes, outputLeft)
  messages?.on('data', guarded(onFault, createFrameReader(maxBytes, receive))).on('error', () => {})
  idle(true)

  /** An idle worker is no reason for the server to stay alive, one that works or ends is. */
  function idle(isIdle: boolean): void {
    const sockets = pipes.filter((pipe) => pipe instanceof Socket)
    for (const handle of [child, ...sockets]) isIdle ? handle.unref() : handle.ref()
  }

  /** A process that did not start has no number, and the signal would go to this one and its whole group. */
  function killChild(): void {
    if (child.pid !== undefined) child.kill('SIGKILL')
  }

  return {
    ended,
    async run(envelope, given) {
      if (gone !== undefined) throw gone
      // The system could not start it, and says why in a moment.
      if (child.pid === undefined) throw await ended
      idle(false)
      outputLeft = envelope.maxOutputBytes
      reportsLeft = maxReports
      try {
        return await new Promise<TaskResult>((resolve, reject) => {
          giveUp = reject
          giveResult = resolve
          listener = given
          const task = serialize(envelope)
          child.stdin?.write(frameHead('task', task.length))
          child.stdin?.write(task)
        })
      } finally {
        listener = undefined
        giveResult = undefined
        giveUp = undefined
        idle(true)
      }
    },
    isSpent: () => isSpent,
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
      killChild()
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
  const spent = errorText.split(tooSlowText)[1]
  return new WorkerExitError(
    `The worker ended ${how}${why}`,
    outOfMemoryText.test(errorText),
    spent === undefined ? {} : { processorTimeMs: Number.parseInt(spent, 10) },
  )
}

function errorIn(given: unknown): { message: string; stack?: string } {
  const { message, stack } = Object(given)
  return { message: String(message), ...(typeof stack === 'string' && { stack }) }
}
