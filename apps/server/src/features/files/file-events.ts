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
export const fileTopic = 'file'

/** Types of events in the log of files. */
export type FileEvent = (typeof fileEventTypes)[number]

/** The data of an event besides its type and the id of the file. */
export interface FileEventData {
  key: string
  generation: number
  /** Number of omissions of the content; undefined if it was not read. */
  omissions?: number
}

export type FileEvents = ReturnType<typeof createFileEvents>

/** The log of the changes to the files of each bot. */
export function createFileEvents(deps: { db: Db; clock: Clock; bus: EventBus; pager: Pager }) {
  const { db, clock, bus, pager } = deps

  /** Logs an event in the transaction of the change, and wakes the waiters for the file after the commit. */
  async function append(
    tx: Tx,
    type: FileEvent,
    file: FileRow,
    generation: number,
    omissions?: number,
  ): Promise<void> {
    const stream = eventStream(file.bot_id)
    const data: FileEventData = {
      key: file.key,
      generation,
      ...(omissions !== undefined && { omissions }),
    }
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
