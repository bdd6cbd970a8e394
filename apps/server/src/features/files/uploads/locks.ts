import { randomUUID } from 'node:crypto'
import { ApiError } from '@botstead/contract'
import type { UploadTarget } from '../addresses.js'

/** What a request holds while it sends to an upload address. */
export interface UploadLock {
  /** Names the request in the row of the content, so that other processes notice it too. */
  requestId: string
  /** Aborts when a newer request takes the upload over. */
  signal: AbortSignal
}

/** Whether a request sends a whole content or goes on with one. */
type UploadKind = 'whole' | 'part'

interface RunningUpload {
  kind: UploadKind
  arrival: number
  controller: AbortController
  done: Promise<void>
}

export type UploadLocks = ReturnType<typeof createUploadLocks>

/**
 * One request at a time sends to an upload address, the newest one: a client that comes back has most likely
 * lost the connection of the older request, which this side may not notice for a minute. In this process the
 * older one ends before the newer begins; in another one it cannot store anything any more, because the
 * content names the request that may.
 */
export function createUploadLocks() {
  const running = new Map<string, RunningUpload>()
  let arrivals = 0
  const nameOf = ({ fileId, generation }: UploadTarget) => `${fileId}.${generation}`

  /** Numbers a request in the order of arrival, before it is known what it is for. */
  function nextArrival(): number {
    arrivals += 1
    return arrivals
  }

  /**
   * Does the work of a request, alone.
   * @param arrival its number from `nextArrival`: looking up its file took a while
   */
  async function withLock<T>(
    target: UploadTarget,
    { kind, arrival }: { kind: UploadKind; arrival: number },
    work: (lock: UploadLock) => Promise<T>,
  ): Promise<T> {
    const name = nameOf(target)
    const controller = new AbortController()
    const { promise: done, resolve } = withResolvers()
    const own = { kind, arrival, controller, done }
    const older = running.get(name)
    if (older !== undefined && older.arrival > arrival) throw takenOver()
    running.set(name, own)
    try {
      await end(older)
      controller.signal.throwIfAborted()
      return await work({ requestId: randomUUID(), signal: controller.signal })
    } finally {
      if (running.get(name) === own) running.delete(name)
      resolve()
    }
  }

  /** Ends a request that goes on with a content, after it has stored what came. */
  async function interrupt(target: UploadTarget): Promise<void> {
    const older = running.get(nameOf(target))
    if (older?.kind === 'part') await end(older)
  }

  async function end(older: RunningUpload | undefined): Promise<void> {
    older?.controller.abort(takenOver())
    await older?.done
  }

  return { nextArrival, withLock, interrupt }
}

/** The error of a request that was sending to an address when a newer one came. */
export function takenOver(): ApiError {
  return new ApiError(
    'ResourceLockedConflict',
    'A newer request sends to this upload address: one at a time can.',
  )
}

function withResolvers() {
  let resolve = (): void => undefined
  const promise = new Promise<void>((resolveIt) => {
    resolve = resolveIt
  })
  return { promise, resolve }
}
