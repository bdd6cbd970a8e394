import { ApiError } from '@botstead/contract'
import type { Timers } from '../../../platform/clock.js'
import { superseded } from './locks.js'

/** Milliseconds between two checks. */
const interval = 60_000
/** Bytes that must arrive in one interval: 500 per second, less than the slowest mobile network. */
const minBytes = 30_000

interface WatchedUpload {
  /** Returns the bytes that have arrived so far. */
  received(): number
  /** Whether the upload may still store what arrives. */
  isCurrent(): Promise<boolean>
  /** Called once, when the upload has to end. */
  onEnd(reason: ApiError): void
}

/**
 * Watches an upload while it runs and ends it when it stalls, so that nobody can hold connections and half a
 * content for long.
 * @returns a function that stops watching
 */
export function watchForStall(timers: Timers, upload: WatchedUpload): () => void {
  let before = upload.received()
  let isOver = false
  let cancel = timers.after(interval, check)

  function check(): void {
    const now = upload.received()
    if (now - before < minBytes) {
      upload.onEnd(tooSlow())
      return
    }
    before = now
    void upload.isCurrent().then(
      (isCurrent) => {
        if (!isCurrent && !isOver) upload.onEnd(superseded())
        else checkAgain()
      },
      // The database does not respond at the moment: storing will show whether the upload is current.
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
    `The content came too slowly: fewer than ${minBytes} bytes in a minute.`,
    { status: 408 },
  )
}
