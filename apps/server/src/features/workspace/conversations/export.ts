import { Readable } from 'node:stream'
import { ApiError } from '@botstead/contract'
import type { PageRange, Position } from '../../../platform/db/paginate.js'
import type { Db } from '../../../platform/db/schema.js'
import type { ConversationRow } from '../../conversations/conversations/index.js'
import { listMessagesIn, toMessage } from '../../conversations/messages/index.js'
import type { ConversationRecord } from './records.js'
import { toSummary } from './view.js'

export interface ExportDeps {
  db: Db
  /** Reads the next conversations in the order of activity, the least recently active first. */
  read(after: Position | undefined): Promise<{
    rows: ConversationRow[]
    end: Position | undefined
  }>
  describe(rows: readonly ConversationRow[]): Promise<ConversationRecord[]>
}

/** Exports at a time: a reader who takes little of one could otherwise keep everybody from theirs. */
const maxAtOnce = { perAccount: 2, perProcess: 4 }
const messagesAtOnce = 100

/** Writes conversations as JSON lines, a few at a time: memory is the same however many there are. */
export function createExports() {
  /** The accounts of those that are being written. */
  const running: string[] = []

  /** Throws `RateLimited` if there are too many. Returns the function that makes room again. */
  function reserve(accountId: string): () => void {
    const own = running.filter((each) => each === accountId).length
    if (running.length >= maxAtOnce.perProcess || own >= maxAtOnce.perAccount) {
      const exports =
        own >= maxAtOnce.perAccount ? `${own} exports of this account` : `${running.length} exports`
      throw new ApiError(
        'RateLimited',
        `The server is already writing ${exports}: try again when one has ended.`,
        { metadata: { retryAfterSeconds: 30 } },
      )
    }
    running.push(accountId)
    return () => {
      running.splice(running.indexOf(accountId), 1)
    }
  }

  async function* lines(
    { db, read, describe }: ExportDeps,
    withMessages: boolean,
  ): AsyncGenerator<string> {
    let count = 0
    let after: Position | undefined
    do {
      const { rows, end } = await read(after)
      // If few match, nothing is written for long: only here does an export end whose reader has gone.
      yield ''
      for (const record of await describe(rows)) {
        yield lineOf({ kind: 'conversation', conversation: toSummary(record) })
        if (withMessages) yield* messagesOf(db, record.row)
      }
      count += rows.length
      // Conversations that become active meanwhile are still ahead, and come once more with their present state.
      after = end
    } while (after !== undefined)
    yield lineOf({ kind: 'end', conversations: count })
  }

  async function* messagesOf(db: Db, { id, bot_id: botId }: ConversationRow) {
    let after: Position | undefined
    for (;;) {
      const range: PageRange<'created_at'> = {
        sort: 'created_at',
        direction: 'asc',
        size: messagesAtOnce,
        after,
      }
      const rows = await listMessagesIn(db, id, range)
      const some = rows.slice(0, messagesAtOnce)
      yield some
        .filter((row) => row.bot_id === botId)
        .map((row) => lineOf({ kind: 'message', message: toMessage(row, undefined) }))
        .join('')
      const last = some.at(-1)
      if (rows.length <= messagesAtOnce || last === undefined) return
      after = { value: last.created_at, id: last.id }
    }
  }

  return {
    /** Opens an export. Throws `RateLimited` if there are too many. */
    open(
      deps: ExportDeps,
      { accountId, withMessages }: { accountId: string; withMessages: boolean },
    ): Readable {
      const release = reserve(accountId)
      // A stream that is destroyed because its reader has gone also ends the generator.
      const stream = Readable.from(lines(deps, withMessages), { highWaterMark: 1 })
      stream.once('close', release)
      return stream
    },
  }
}

function lineOf(value: object): string {
  return `${JSON.stringify(value)}\n`
}
