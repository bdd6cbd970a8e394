import { Worker } from 'node:worker_threads'

/** What the pool sends to a worker for one task. */
export interface TaskEnvelope<Input> {
  input: Input
  maximumOutputBytes: number
}

/** What a worker answers: an output as JSON, the size of one that is too large, or what was thrown. */
export type TaskAnswer =
  | { output: string }
  | { outputBytes: number }
  | { error: { message: string; stack?: string } }

/** What a worker says before its answer about how far it is. */
export interface TaskProgress {
  progress: unknown
}

/**
 * Tells how far a task is. What comes too soon after the last is left out, unless it is told to be a
 * milestone.
 */
export type Report<Progress> = (progress: Progress, options?: { milestone: boolean }) => void

/** Does one task, and may tell on the way how far it is. */
export type TaskHandler<Input, Output, Progress> = (
  input: Input,
  report: Report<Progress>,
) => Promise<Output>

/** Milliseconds between two reports of progress that are sent; those between are left out. */
const REPORT_INTERVAL_MS = 250

/**
 * Makes the process a worker of a pool; to be called once by the pool's entry module.
 *
 * @param handler does one task; its output and its progress must survive JSON
 */
export function serveTasks<Input, Output, Progress = never>(
  handler: TaskHandler<Input, Output, Progress>,
): void {
  process.on('message', (envelope: TaskEnvelope<Input>) => {
    void answer(handler, envelope).then((result) => process.send?.(result))
  })
  process.once('disconnect', () => process.exit())
  watchParent()
}

async function answer<Input, Output, Progress>(
  handler: TaskHandler<Input, Output, Progress>,
  envelope: TaskEnvelope<Input>,
): Promise<TaskAnswer> {
  try {
    const output = JSON.stringify(await handler(envelope.input, createReport()))
    const outputBytes = Buffer.byteLength(output)
    // Checked here, so that an output without bound never reaches the main process.
    return outputBytes > envelope.maximumOutputBytes ? { outputBytes } : { output }
  } catch (error) {
    const { message, stack } = error instanceof Error ? error : new Error(String(error))
    return { error: stack === undefined ? { message } : { message, stack } }
  }
}

/** Keeps a task that reports after every page from drowning the server in messages. */
function createReport(): Report<unknown> {
  let last = 0
  return (progress, { milestone } = { milestone: false }) => {
    const now = performance.now()
    if (!milestone && now - last < REPORT_INTERVAL_MS) return
    last = now
    const message: TaskProgress = { progress }
    process.send?.(message)
  }
}

/** A task that never yields does not notice that the server was killed; a thread beside it does. */
function watchParent(): void {
  const script = `setInterval(() => {
    if (process.ppid !== ${process.ppid}) process.kill(process.pid, 'SIGKILL')
  }, 1000)`
  new Worker(script, { eval: true, execArgv: [] }).unref()
}
