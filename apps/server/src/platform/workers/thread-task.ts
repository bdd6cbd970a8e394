import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { allowEnd, type EndState } from './thread-end.js'

/** What a pool starts a thread with. */
export interface ThreadData {
  setup: unknown
  endState: EndState
}

/** The result of a task in a thread. */
export type ThreadResult<Output> =
  | { output: Output }
  | { error: { name: string; message: string; stack?: string } }

/** The first message of a thread: it is prepared, and what it gets now it does at once. */
export interface ThreadReady {
  ready: true
}

/**
 * Makes the thread a worker of a thread pool; to be called once by the pool's entry module.
 *
 * The pool ends a thread at any time, but not within `uncut`: calls of add-ons belong there. Add-ons are loaded by static imports
 * of the entry module, because nothing is ended until then.
 *
 * @param prepare gets what the pool gives every thread, and returns what does one task; inputs and
 *   outputs are cloned
 */
export function serveThread<Setup, Input, Output>(
  prepare: (setup: Setup) => Promise<(input: Input) => Promise<Output>>,
): void {
  if (parentPort === null) throw new Error('This module runs in a thread of a pool')
  const port = parentPort
  const { setup, endState } = workerData as ThreadData
  yieldToEventLoop()
  allowEnd(endState)
  const prepared = prepare(setup as Setup)
  // A thread that cannot begin ends with the reason instead of failing every task with it.
  prepared.then(
    () => port.postMessage({ ready: true } satisfies ThreadReady),
    (error: unknown) => {
      throw error
    },
  )
  port.on('message', (input: Input) => {
    void perform(prepared, input).then((result) => port.postMessage(result))
  })
}

/** A third of the time that the event loop gets when both want all of it. */
const niceness = 5

/**
 * Lets the system prefer the thread that serves requests where processors are scarce. Only Linux has a
 * priority for each thread, and a name for the calling thread.
 */
function yieldToEventLoop(): void {
  try {
    const id = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    if (id > 0) setPriority(id, niceness)
  } catch {
    // Another system, or one that does not allow it: all are alike.
  }
}

async function perform<Input, Output>(
  prepared: Promise<(input: Input) => Promise<Output>>,
  input: Input,
): Promise<ThreadResult<Output>> {
  const handler = await prepared
  try {
    return { output: await handler(input) }
  } catch (error) {
    const { name, message, stack } = error instanceof Error ? error : new Error(String(error))
    return { error: { name, message, ...(stack !== undefined && { stack }) } }
  }
}
