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
  /** Whether the upload may still store arriving bytes. */
  isCurrent(): Promise<boolean>
  /** Called when the upload has to end, possibly more than once. */
  onEnd(reason: unknown): void
}

/**
 * Watches an upload while it runs. Ends it when a newer request takes it over, and when it stalls, so that no client
 * can hold connections and half a content for long.
 * @param signal of its lock
 * @returns a function that stops watching
 */
export function watchUpload(
  timers: Timers,
  signal: AbortSignal,
  upload: WatchedUpload,
): () => void {
  let before = upload.received()
  let isOver = false
  let cancel = timers.after(interval, check)
  const onAbort = () => upload.onEnd(signal.reason)
  signal.addEventListener('abort', onAbort)
  // A newer request may have arrived while this one was claiming.
  if (signal.aborted) onAbort()

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
    signal.removeEventListener('abort', onAbort)
  }
}

function tooSlow(): ApiError {
  return new ApiError(
    'OperationTimeout',
    `The content arrived too slowly: fewer than ${minBytes} bytes in a minute.`,
    { status: 408 },
  )
}
