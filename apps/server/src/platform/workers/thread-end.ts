import type { Worker } from 'node:worker_threads'

/*
 * Node ends a thread wherever it is. An add-on in C++ whose call is cut, such as that of SQLite, cannot throw into what
 * is being ended, and ends the whole process instead. So a thread is only ended between such calls: it says when it is in
 * one, and ends itself after it where its end was wanted meanwhile.
 */

const free = 0
const inCall = 1
const endWanted = 2

/** Memory that a thread shares with who ends it. A thread may be ended once it has loaded its code, add-ons included. */
export function createEndState(): Int32Array<SharedArrayBuffer> {
  return new Int32Array(new SharedArrayBuffer(4)).fill(inCall)
}

/** Ends a thread: at once, or after the call that it is in the middle of. */
export function endThread(worker: Worker, state: Int32Array): void {
  if (Atomics.exchange(state, 0, endWanted) === free) void worker.terminate()
}

/** Of this thread; undefined on the main thread, which nobody ends. */
let ownState: Int32Array | undefined
/** Calls that contain each other: a function in JavaScript that a query calls may query as well. */
let depth = 0

/** To be called in a thread once its code is loaded: from then on it may be ended outside of `uncut`. */
export function allowEnd(state: Int32Array): void {
  ownState = state
  leave(state)
}

/** Runs calls of an add-on in the middle of which a thread must not be ended. */
export function uncut<Result>(call: () => Result): Result {
  if (ownState === undefined || depth > 0) return call()
  if (Atomics.compareExchange(ownState, 0, free, inCall) === endWanted) process.exit()
  depth += 1
  try {
    return call()
  } finally {
    depth -= 1
    leave(ownState)
  }
}

function leave(state: Int32Array): void {
  if (Atomics.compareExchange(state, 0, inCall, free) === endWanted) process.exit()
}
