import { ApiError } from '@botstead/contract'
import type { Timers } from '../../../platform/clock.js'
import { takenOver } from './locks.js'

/** Milliseconds between two checks. */
const interval = 60_000
/** Bytes that come in one interval at least: 500 a second, less than the slowest mobile network. */
const leastBytes = 30_000

interface WatchedUpload {
  /** Bytes that have come so far. */
  received(): number
  /** Whether the upload may still store what comes. */
  isCurrent(): Promise<boolean>
  /** Called once, when the upload has to end. */
  onEnd(reason: ApiError): void
}

/**
 * Watches an upload while it runs: one that hardly moves ends, so that nobody can hold connections and half a
 * content for long.
 * @returns stops watching
 */
export function watchForStall(timers: Timers, upload: WatchedUpload): () => void {
  let before = upload.received()
  let isOver = false
  let cancel = timers.after(interval, check)

  function check(): void {
    const now = upload.received()
    if (now - before < leastBytes) {
      upload.onEnd(tooSlow())
      return
    }
    before = now
    void upload.isCurrent().then(
      (isCurrent) => {
        if (!isCurrent && !isOver) upload.onEnd(takenOver())
        else checkAgain()
      },
      // The database does not respond now: storing will show whether it is current.
      checkAgain,
    )
  }

  function checkAgain(): void {
    if (!isOver) cancel = timers.after(interval, check)
  }

  return () => {
    isOver = true
    cancel()
  }
}

function tooSlow(): ApiError {
  return new ApiError(
    'OperationTimeout',
    `The content came too slowly: fewer than ${leastBytes} bytes in a minute.`,
    { status: 408 },
  )
}
