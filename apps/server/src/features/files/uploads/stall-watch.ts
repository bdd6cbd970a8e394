import { ApiError } from '@botstead/contract'
import type { Timers } from '../../../platform/timers.js'

/** Milliseconds between two looks. */
const interval = 60_000
/** Bytes that come in one interval at least: 500 a second, less than the slowest mobile network. */
const leastBytes = 30_000

interface Watched {
  /** Bytes that have come so far. */
  received(): number
  /** Whether the upload may still store what comes. */
  isCurrent(): Promise<boolean>
  /** Called once, when the upload has to end. */
  onEnd(reason: ApiError): void
}

/**
 * Looks after an upload while it runs: one that hardly moves is given up, so that nobody can hold
 * connections and half a content for long. Answers how to stop looking.
 */
export function watchUpload(
  timers: Timers,
  takenOver: () => ApiError,
  watched: Watched,
): () => void {
  let before = watched.received()
  let isOver = false
  let cancel = timers.after(interval, look)

  function look(): void {
    const now = watched.received()
    if (now - before < leastBytes) {
      watched.onEnd(tooSlow())
      return
    }
    before = now
    void watched.isCurrent().then(
      (isCurrent) => {
        if (!isCurrent && !isOver) watched.onEnd(takenOver())
        else lookAgain()
      },
      // The database cannot be asked now: storing will tell.
      lookAgain,
    )
  }

  function lookAgain(): void {
    if (!isOver) cancel = timers.after(interval, look)
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
