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

/**
 * Makes the process a worker of a pool; to be called once by the pool's entry module.
 *
 * @param handler does one task; its output must survive JSON
 */
export function serveTasks<Input, Output>(handler: (input: Input) => Promise<Output>): void {
  process.on('message', (envelope: TaskEnvelope<Input>) => {
    void answer(handler, envelope).then((result) => process.send?.(result))
  })
  process.once('disconnect', () => process.exit())
  watchParent()
}

async function answer<Input, Output>(
  handler: (input: Input) => Promise<Output>,
  envelope: TaskEnvelope<Input>,
): Promise<TaskAnswer> {
  try {
    const output = JSON.stringify(await handler(envelope.input))
    const outputBytes = Buffer.byteLength(output)
    // Checked here, so that an output without bound never reaches the main process.
    return outputBytes > envelope.maximumOutputBytes ? { outputBytes } : { output }
  } catch (error) {
    const { message, stack } = error instanceof Error ? error : new Error(String(error))
    return { error: stack === undefined ? { message } : { message, stack } }
  }
}

/** A task that never yields does not notice that the server was killed; a thread beside it does. */
function watchParent(): void {
  const script = `setInterval(() => {
    if (process.ppid !== ${process.ppid}) process.kill(process.pid, 'SIGKILL')
  }, 1000)`
  new Worker(script, { eval: true, execArgv: [] }).unref()
}
