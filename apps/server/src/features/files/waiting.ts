import { ApiError } from '@botstead/contract'
import type { BotActor } from '../../domain/actor.js'
import type { EventBus } from '../../platform/bus/event-bus.js'
import type { Reach } from '../tenancy/access/index.js'
import { fileTopic } from './file-events.js'
import type { FileRow } from './table.js'

/** Concurrent waiting requests of one process: each holds a connection. */
const maxWaiters = 500

export type Waiting = ReturnType<typeof createWaiting>

/**
 * Lets callers wait for the indexing of files without polling: hints trigger a check.
 * @param get finds a file that the caller may see; throws `ResourceNotFound` if there is none
 * @param requireReader throws unless the caller may still read files, which may have changed during the wait
 */
export function createWaiting(
  bus: EventBus,
  get: (actor: BotActor, idOrKey: string) => Promise<FileRow>,
  requireReader: Reach['requireReader'],
) {
  const waiters = new Set<() => void>()
  let closed = false

  async function wait(
    actor: BotActor,
    idOrKey: string,
    fileId: string,
    over: AbortSignal,
  ): Promise<FileRow> {
    let wake = () => {}
    let hinted = true
    const notice = () => {
      hinted = true
      wake()
    }
    const unsubscribe = bus.subscribe(
      { topic: fileTopic, key: fileId },
      { onHint: notice, onGap: notice },
    )
    over.addEventListener('abort', notice)
    try {
      // Subscribed before the first check: hints announce changes in between.
      for (;;) {
        hinted = false
        const file = await get(actor, idOrKey)
        if (isSettled(file) || over.aborted) return file
        if (!hinted) {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      }
    } finally {
      over.removeEventListener('abort', notice)
      unsubscribe()
    }
  }

  return {
    /**
     * Returns the file once its indexing has ended or cannot end, or after a timeout in its current state.
     * @param timeoutMs milliseconds
     * @throws ApiError `ResourceNotFound`, also when it is deleted in the meantime, and `RateLimited`
     */
    async untilIndexed(
      actor: BotActor,
      idOrKey: string,
      timeoutMs: number,
      signal?: AbortSignal,
    ): Promise<FileRow> {
      const file = await get(actor, idOrKey)
      if (isSettled(file) || closed) return file
      if (waiters.size >= maxWaiters) {
        throw new ApiError('RateLimited', 'Too many requests wait for files. Retry after 5 s.', {
          metadata: { retryAfterSeconds: 5 },
        })
      }
      const end = new AbortController()
      const stop = () => end.abort()
      const timer = setTimeout(stop, timeoutMs)
      signal?.addEventListener('abort', stop)
      waiters.add(stop)
      try {
        const found = await wait(actor, idOrKey, file.id, end.signal)
        await requireReader(actor)
        return found
      } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', stop)
        waiters.delete(stop)
      }
    },

    /** Ends all waits with the files in their current state; later calls return at once. */
    stop(): void {
      closed = true
      for (const end of waiters) end()
    },
  }
}

/** Whether waiting longer is useless: the file is indexed, has failed, or is not to be indexed. */
function isSettled({ status }: FileRow): boolean {
  return status !== 'upload_pending' && status !== 'indexing_pending'
}
