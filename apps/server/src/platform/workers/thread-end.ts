import { writeSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'

/*
 * Node ends a thread wherever it is, also when the process exits. An add-on in C++ whose call is cut, such as that of SQLite,
 * cannot throw into a thread that is being ended, and aborts the whole process instead. So a thread is only ended between
 * such calls: it says when it is in one, and ends itself after it if its end was requested during the call.
 */

const free = 0
const inCall = 1
/** In a call, after which the thread ends. */
const endRequested = 2
/** No call begins any more. */
const ended = 3

/** Milliseconds for which the exit of the process waits for calls, before it is killed: a statement can take minutes. */
const maxWaitMs = 2000

/** Memory that a thread shares with its pool. */
export type EndState = Int32Array<SharedArrayBuffer>

/** Of the threads of this process. */
const states = new Set<EndState>()
let waitsAtExit = false

/** A thread may be ended once it has loaded its code, add-ons included. */
export function createEndState(): EndState {
  return new Int32Array(new SharedArrayBuffer(4)).fill(inCall)
}

/** Makes the exit of the process wait for a thread that is in a call. */
export function awaitAtExit(worker: Worker, state: EndState): void {
  if (!waitsAtExit) process.once('exit', leaveCalls)
  waitsAtExit = true
  states.add(state)
  worker.once('exit', () => states.delete(state))
}

/** Ends a thread: at once, or after the call that it is in the middle of. */
export function endThread(worker: Worker, state: EndState): void {
  if (requestEnd(state) === free) void worker.terminate()
}

/** @returns the state before: a thread that was free may be ended, and begins no call. */
function requestEnd(state: EndState): number {
  for (;;) {
    const before = Atomics.compareExchange(state, 0, free, ended)
    if (before !== inCall) return before
    if (Atomics.compareExchange(state, 0, inCall, endRequested) !== free) return before
  }
}

function leaveCalls(): void {
  const deadline = performance.now() + maxWaitMs
  // All of them first, so that they leave at the same time.
  const called = [...states].filter((state) => [inCall, endRequested].includes(requestEnd(state)))
  for (const state of called) {
    const timeLeft = Math.max(0, deadline - performance.now())
    if (Atomics.wait(state, 0, endRequested, timeLeft) !== 'timed-out') continue
    try {
      writeSync(2, 'A statement of the database does not end, the process is killed.\n')
    } finally {
      // Also where nobody reads the output any more.
      process.kill(process.pid, 'SIGKILL')
    }
  }
}

/** Of this thread; undefined on the main thread, which nobody ends. */
let ownState: EndState | undefined
/** Calls that contain each other: a function in JavaScript that a query calls may query as well. */
let depth = 0

/** To be called in a thread once its code is loaded: from then on it may be ended outside of `uncut`. */
export function allowEnd(state: EndState): void {
  ownState = state
  leave(state)
}

/** Runs calls of an add-on in the middle of which a thread must not be ended. */
export function uncut<Result>(call: () => Result): Result {
  if (ownState === undefined || depth > 0) return call()
  if (Atomics.compareExchange(ownState, 0, free, inCall) !== free) process.exit()
  depth += 1
  try {
    return call()
  } finally {
    depth -= 1
    leave(ownState)
  }
}

function leave(state: EndState): void {
  if (Atomics.compareExchange(state, 0, inCall, free) === inCall) return
  Atomics.store(state, 0, ended)
  Atomics.notify(state, 0)
  process.exit()
}
