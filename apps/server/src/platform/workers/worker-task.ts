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

/** Does one task, and may report progress on the way. */
export type TaskHandler<Input, Output, Progress, Piece> = (
  input: Input,
  report: Report<Progress>,
  give: Give<Piece>,
) => Promise<Output>

/** The pipe to the server. */
const messages = 3
/** Written by a process that takes more memory than it may, with its buffers; the server knows the text. */
const tooLargeText = 'The memory of the process is used up'
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
  const read = createFrameReader(
    () => Number.POSITIVE_INFINITY,
    (_, content) => void perform<Input, Output, Progress, Piece>(handler, deserialize(content)),
  )
  process.stdin.on('data', read).once('end', () => process.exit())
  // A terminal or a service manager signals every process of the server. The server decides what becomes
  // of a task: if its process ended by itself, that would count as a fault of the file.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
  watchProcess()
}

async function perform<Input, Output, Progress, Piece>(
  handler: TaskHandler<Input, Output, Progress, Piece>,
  { input, maxOutputBytes }: TaskEnvelope<Input>,
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
    const output = await handler(input, createReport(), (piece) => send('piece', toJson(piece)))
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

/**
 * A task that never yields does not notice that the server was killed, and V8 bounds its heap only, not the buffers that
 * a file is unpacked into. A thread beside the task ends the process in both cases.
 */
function watchProcess(): void {
  const maxMb = Number(process.argv[2])
  const script = `setInterval(() => {
    const isTooLarge = process.memoryUsage.rss() > ${maxMb * 2 ** 20}
    if (isTooLarge) require('node:fs').writeSync(2, ${JSON.stringify(tooLargeText)})
    if (isTooLarge || process.ppid !== ${process.ppid}) process.kill(process.pid, 'SIGKILL')
  }, ${watchIntervalMs})`
  new Worker(script, { eval: true, execArgv: [] }).unref()
}
