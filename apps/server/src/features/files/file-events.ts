import { ApiError, type contract, type fileEventTypes, type Query } from '@botstead/contract'
import type { BotActor } from '../../domain/actor.js'
import type { EventBus } from '../../platform/bus/event-bus.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import type { Pager } from '../../platform/db/pager.js'
import type { Page } from '../../platform/db/paginate.js'
import type { Db, Tx } from '../../platform/db/schema.js'
import { afterCommit } from '../../platform/db/transaction.js'
import { announceEvents, appendNextEvent } from '../../platform/events/publisher.js'
import { readEvents, type StoredEvent } from '../../platform/events/read.js'
import type { FileRow } from './table.js'

/** Topic of the hints that a file has changed; the key is its id. */
const fileTopic = 'file'

/** Types of events in the log of files. */
export type FileEvent = (typeof fileEventTypes)[number]

/** The data of an event besides its type and the id of the file. */
export interface FileEventData {
  key: string
  generation: number
}

export type FileEvents = ReturnType<typeof createFileEvents>

/** The log of the changes to the files of each bot. */
export function createFileEvents(deps: { db: Db; clock: Clock; bus: EventBus; pager: Pager }) {
  const { db, clock, bus, pager } = deps

  /** Logs an event in the transaction of the change, and wakes the waiters for the file after the commit. */
  async function append(tx: Tx, type: FileEvent, file: FileRow, generation: number): Promise<void> {
    const stream = eventStream(file.bot_id)
    const data: FileEventData = { key: file.key, generation }
    const sequence = await appendNextEvent(tx, {
      stream,
      botId: file.bot_id,
      type,
      subjectId: file.id,
      data,
      createdAt: isoTime(clock.now()),
    })
    afterCommit(tx, () => {
      announceEvents(bus, stream, sequence)
      bus.publish({ topic: fileTopic, key: file.id })
    })
  }

  /** Events in order, after `after` or the previous page. */
  async function list(
    actor: BotActor,
    query: Query<typeof contract.fileEvents.list>,
  ): Promise<Page<StoredEvent>> {
    if (actor.caller.type === 'integration') {
      throw new ApiError(
        'Forbidden',
        'The events tell of all files of the bot: an integration may not read them.',
      )
    }
    const { nextToken, pageSize, after = 0 } = query
    const page = pager.page({
      operation: 'listFileEvents',
      scope: actor.botId,
      filter: { after },
      sort: 'sequence',
      direction: 'asc',
      nextToken,
      pageSize,
    })
    const start = Math.max(after, Number(page.after?.value ?? 0))
    const found = await readEvents(db, eventStream(actor.botId), start, page.size + 1)
    const rows = found.slice(0, page.size)
    const last = rows.at(-1)
    const more = found.length > rows.length && last !== undefined
    return {
      rows,
      nextToken: more ? page.tokenAfter({ value: last.sequence, id: '' }) : undefined,
    }
  }

  return { append, list }
}

/** The stream of one bot in the events log. */
function eventStream(botId: string): string {
  return `files:${botId}`
}

/** Concurrent waiting requests of one process: each holds a connection. */
const maximumWaiters = 500

export type Waiting = ReturnType<typeof createWaiting>

/**
 * Lets callers wait for the indexing of files without polling: hints trigger a check.
 * @param get finds a file that the caller may see; throws `ResourceNotFound` if there is none
 */
export function createWaiting(
  bus: EventBus,
  get: (actor: BotActor, idOrKey: string) => Promise<FileRow>,
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
      if (waiters.size >= maximumWaiters) {
        throw new ApiError('RateLimited', 'Too many requests wait for files: come back in 5 s.', {
          metadata: { retryAfterSeconds: 5 },
        })
      }
      const end = new AbortController()
      const stop = () => end.abort()
      const timer = setTimeout(stop, timeoutMs)
      signal?.addEventListener('abort', stop)
      waiters.add(stop)
      try {
        return await wait(actor, idOrKey, file.id, end.signal)
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
