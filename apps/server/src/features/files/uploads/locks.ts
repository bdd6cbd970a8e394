import { randomUUID } from 'node:crypto'
import { ApiError } from '@botstead/contract'
import type { UploadTarget } from '../addresses.js'

/** The lock of a request that sends to an upload address. */
export interface UploadLock {
  /** Identifies the request in the row of the content, so that other processes see it too. */
  requestId: string
  /** Aborts when a newer request takes over the upload. */
  signal: AbortSignal
}

/** Whether a request sends a whole content or continues one. */
type UploadKind = 'whole' | 'part'

interface RunningUpload {
  kind: UploadKind
  arrival: number
  controller: AbortController
  done: Promise<void>
}

export type UploadLocks = ReturnType<typeof createUploadLocks>

/**
 * One request at a time may send to an upload address, the newest one: a client that reconnects has most likely
 * lost the connection of the older request, which the server may not notice for a minute. In this process the
 * older one ends before the newer one begins; in another process it can no longer store anything, because the
 * content contains the id of the request that may.
 */
export function createUploadLocks() {
  const running = new Map<string, RunningUpload>()
  let arrivals = 0
  const nameOf = ({ fileId, generation }: UploadTarget) => `${fileId}.${generation}`

  /** Numbers a request in the order of arrival, before its target is known. */
  function nextArrival(): number {
    arrivals += 1
    return arrivals
  }

  /**
   * Runs the work of a request under the lock.
   * @param arrival its number from `nextArrival`: finding its file took a while
   */
  async function withLock<T>(
    target: UploadTarget,
    { kind, arrival }: { kind: UploadKind; arrival: number },
    work: (lock: UploadLock) => Promise<T>,
  ): Promise<T> {
    const name = nameOf(target)
    const controller = new AbortController()
    const { signal } = controller
    const older = running.get(name)
    if (older !== undefined && older.arrival > arrival) throw superseded()
    const result = end(older).then(async () => {
      signal.throwIfAborted()
      return await work({ requestId: randomUUID(), signal })
    })
    const own = { kind, arrival, controller, done: result.then(noop, noop) }
    running.set(name, own)
    try {
      return await result
    } finally {
      if (running.get(name) === own) running.delete(name)
    }
  }

  /** Interrupts a request that continues a content, after it has stored the bytes that arrived. */
  async function interrupt(target: UploadTarget): Promise<void> {
    const older = running.get(nameOf(target))
    if (older?.kind === 'part') await end(older)
  }

  async function end(older: RunningUpload | undefined): Promise<void> {
    older?.controller.abort(superseded())
    await older?.done
  }

  return { nextArrival, withLock, interrupt }
}

/** The error of a request that was sending to an address when a newer one arrived. */
export function superseded(): ApiError {
  return new ApiError(
    'ResourceLockedConflict',
    'A newer request is sending to this upload address: only one may send at a time.',
  )
}

function noop(): void {}
