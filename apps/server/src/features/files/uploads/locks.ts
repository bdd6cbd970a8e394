import { randomUUID } from 'node:crypto'
import { ApiError } from '@botstead/contract'
import type { UploadTarget } from '../addresses.js'

/** A request that sends to an upload address. */
export interface Writer {
  /** Names the request in the row of the content, so that other processes notice it too. */
  id: string
  /** Aborts when a newer request takes the upload over. */
  signal: AbortSignal
}

/** Whether a request sends a whole content or goes on with one. */
type WriterKind = 'whole' | 'part'

interface Running {
  kind: WriterKind
  arrival: number
  controller: AbortController
  done: Promise<void>
}

export type Writers = ReturnType<typeof createWriters>

/**
 * Sees to it that one request at a time sends to an upload address, the newest one: a client that
 * comes back has most likely lost the connection of the older request, which this side may not know
 * for a minute. In this process the older one ends before the newer begins; in another one it cannot
 * store anything any more, because the content names its writer.
 */
export function createWriters() {
  const running = new Map<string, Running>()
  let arrivals = 0
  const nameOf = ({ fileId, generation }: UploadTarget) => `${fileId}.${generation}`

  async function end(older: Running | undefined): Promise<void> {
    older?.controller.abort(takenOver())
    await older?.done
  }

  return {
    /** Notes that a request has come; what it is for is not known yet. */
    arrive(): number {
      arrivals += 1
      return arrivals
    },

    /**
     * Does the work of a request, alone.
     * @param arrival when it came, as `arrive` said: looking up its file took a while
     */
    async write<T>(
      target: UploadTarget,
      { kind, arrival }: { kind: WriterKind; arrival: number },
      work: (writer: Writer) => Promise<T>,
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
        return await work({ id: randomUUID(), signal: controller.signal })
      } finally {
        if (running.get(name) === own) running.delete(name)
        resolve()
      }
    },

    /** Ends a request that goes on with a content, after it has stored what came. */
    async interrupt(target: UploadTarget): Promise<void> {
      const older = running.get(nameOf(target))
      if (older?.kind === 'part') await end(older)
    },
  }
}

/** What a request hears that sent to an address when a newer one came. */
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
