import { ApiError, type contract, type fileEventTypes, type Query } from '@botstead/contract'
import type { BotActor } from '../../domain/actor.js'
import type { Pager } from '../../platform/db/pager.js'
import type { Page } from '../../platform/db/paginate.js'
import type { Db } from '../../platform/db/schema.js'
import { readEvents, type StoredEvent } from '../../platform/events/read.js'

/** What the log says about the files of a bot. */
export type FileEvent = (typeof fileEventTypes)[number]

/** What an event says beside its type and the id of the file. */
export interface FileEventData {
  key: string
  generation: number
}

/** The stream of the events log that holds those of one bot. */
export function eventStream(botId: string): string {
  return `files:${botId}`
}

export type EventLog = ReturnType<typeof createEventLog>

/** The log of what happened to the files of a bot, as it is read. */
export function createEventLog({ db, pager }: { db: Db; pager: Pager }) {
  return {
    /** Events in their order, behind `after` or the page before. */
    async list(
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
    },
  }
}
