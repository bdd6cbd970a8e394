import { writeSync } from 'node:fs'
import { deserialize, getHeapStatistics } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { createFrameReader, type FrameKind, frameHead } from './worker-frames.js'

/** A task as the pool sends it to a worker. */
export interface TaskEnvelope<Input> {
  input: Input
  maxOutputBytes: number
}

/** The result of a task: an output as JSON, the size of an output that is too large, or the error thrown. */
export type TaskResult =
  | { output: string }
  | { outputBytes: number }
  | { error: { message: string; stack?: string } }

/**
 * Sends a part of the output ahead of the rest, so that a large output never has to be read at once.
 * @throws OutputLimitError once all of the output is larger than allowed, which ends the task
 */
export type Give<Piece> = (piece: Piece) => void

/** An output grew beyond what its pool takes. */
class OutputLimitError extends Error {
  override readonly name = 'OutputLimitError'
  readonly bytes: number

  constructor(bytes: number) {
    super(`The output has ${bytes} bytes`)
    this.bytes = bytes
  }
}

/**
 * Reports the progress of a task. What comes too soon after the last report is left out, unless it is a
 * milestone.
 */
export type Report<Progress> = (progress: Progress, options?: { milestone: boolean }) => void

/**
 * Bounds the processor time that the task, or the part of it that begins, may take from now on; more ends its process.
 * Processor time counts, because waiting beside other processes is no fault of a task.
 *
 * @param milliseconds replaces the former bound of the same kind; without it there is none
 */
export type BoundTime = (of: 'task' | 'part', milliseconds?: number) => void

/** Does one task, and may report progress on the way. */
export type TaskHandler<Input, Output, Progress, Piece> = (
  input: Input,
  report: Report<Progress>,
  give: Give<Piece>,
  boundTime: BoundTime,
) => Promise<Output>

/** The pipe to the server. */
const messages = 3
/** Written by a process that takes more memory than it may, with its buffers; the server knows the text. */
const tooLargeText = 'The memory of the process is used up'
/** Written by a process whose task takes more processor time than it may, followed by the milliseconds. */
export const tooSlowText = 'The processor time of the task is used up: '
/** Maximum length in characters of the message of an error, and of its stack. */
const maxErrorText = 50_000
/** Share of its memory that a process may have in use after a task and take another one. */
const maxKeptShare = 0.4
/** Milliseconds between two reports of progress that are sent; those between are left out. */
const reportIntervalMs = 250

/**
 * Makes the process a worker of a pool; to be called once by the pool's entry module.
 *
 * @param handler does one task; its output, the pieces of it and its progress must survive JSON
 */
export function serveTasks<Input, Output, Progress = never, Piece = never>(
  handler: TaskHandler<Input, Output, Progress, Piece>,
): void {
  const boundTime = watchProcess()
  const read = createFrameReader(
    () => Number.POSITIVE_INFINITY,
    (_, content) => {
      boundTime('task')
      boundTime('part')
      void perform<Input, Output, Progress, Piece>(handler, deserialize(content), boundTime)
    },
  )
  process.stdin.on('data', read).once('end', () => process.exit())
  // A terminal or a service manager signals every process of the server. The server decides what becomes
  // of a task: if its process ended by itself, that would count as a fault of the file.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
}

async function perform<Input, Output, Progress, Piece>(
  handler: TaskHandler<Input, Output, Progress, Piece>,
  { input, maxOutputBytes }: TaskEnvelope<Input>,
  boundTime: BoundTime,
): Promise<void> {
  let outputBytes = 0
  // Checked here, so that an output without bound never reaches the main process.
  const toJson = (value: unknown): Buffer => {
    const json = Buffer.from(JSON.stringify(value))
    outputBytes += json.length
    if (outputBytes > maxOutputBytes) throw new OutputLimitError(outputBytes)
    return json
  }
  try {
    const give: Give<Piece> = (piece) => send('piece', toJson(piece))
    const output = await handler(input, createReport(), give, boundTime)
    tellSpent()
    send('output', toJson(output))
  } catch (error) {
    tellSpent()
    if (error instanceof OutputLimitError) return sendJson('outputBytes', error.bytes)
    const { message, stack } = error instanceof Error ? error : new Error(String(error))
    sendJson('error', {
      message: message.slice(0, maxErrorText),
      stack: stack?.slice(0, maxErrorText),
    })
  }
}

/**
 * Asks for no further task if much memory is in use: libraries keep what they have prepared for a file, and the next
 * file would be refused for what it did not take. Before the result, which may be followed by a task at once.
 */
function tellSpent(): void {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
  if (used > limit * maxKeptShare) sendJson('spent', true)
}

function sendJson(kind: FrameKind, value: unknown): void {
  send(kind, Buffer.from(JSON.stringify(value)))
}

/** Waits while the server has not read what was sent before. */
function send(kind: FrameKind, content: Buffer): void {
  for (const bytes of [frameHead(kind, content.length), content]) {
    for (let at = 0; at < bytes.length; ) at += writeSync(messages, bytes, at)
  }
}

/** Keeps a task that reports after every page from drowning the server in messages. */
function createReport(): Report<unknown> {
  let last = 0
  return (progress, { milestone } = { milestone: false }) => {
    const now = performance.now()
    if (!milestone && now - last < reportIntervalMs) return
    last = now
    sendJson('progress', progress)
  }
}

/** Milliseconds between two looks at the server and at the memory of the process. */
const watchIntervalMs = 250

/** Milliseconds of processor time that no process reaches. */
const unbounded = 2 ** 31 - 1

/**
 * A task that never yields does not notice that the server was killed, nor how long it takes, and V8 bounds its heap
 * only, not the buffers that a file is unpacked into. A thread beside the task ends the process in all of these cases.
 *
 * @returns what bounds the processor time of the task
 */
function watchProcess(): BoundTime {
  const maxMb = Number(process.argv[2])
  // For each bound the processor time of the process at which it is reached, and its length.
  const bounds = new Int32Array(new SharedArrayBuffer(16)).fill(unbounded)
  const script = `const bounds = require('node:worker_threads').workerData
  const end = (why) => {
    if (why !== undefined) require('node:fs').writeSync(2, why)
    process.kill(process.pid, 'SIGKILL')
  }
  setInterval(() => {
    if (process.ppid !== ${process.ppid}) end()
    if (process.memoryUsage.rss() > ${maxMb * 2 ** 20}) end(${JSON.stringify(tooLargeText)})
    const { user, system } = process.cpuUsage()
    for (const at of [0, 2]) {
      const isReached = (user + system) / 1000 > Atomics.load(bounds, at)
      if (isReached) end(${JSON.stringify(tooSlowText)} + Atomics.load(bounds, at + 1))
    }
  }, ${watchIntervalMs})`
  new Worker(script, { eval: true, execArgv: [], workerData: bounds }).unref()
  return (of, milliseconds) => {
    const at = of === 'task' ? 0 : 2
    const { user, system } = process.cpuUsage()
    const reached = milliseconds === undefined ? unbounded : (user + system) / 1000 + milliseconds
    Atomics.store(bounds, at + 1, milliseconds ?? unbounded)
    Atomics.store(bounds, at, Math.min(reached, unbounded))
  }
}
