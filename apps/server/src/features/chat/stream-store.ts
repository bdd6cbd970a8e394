import type { Insertable, Selectable } from 'kysely'
import { prepared } from '../../platform/db/prepared.js'
import type { Db, Tx } from '../../platform/db/schema.js'
import { emptyEvents } from '../../platform/events/trim.js'
import type { MessageStreamsTable } from './table.js'

type StreamRow = Selectable<MessageStreamsTable>

/** Counts a piece of a message and returns the totals of its stream. */
export async function countPiece(
  tx: Tx,
  row: Insertable<MessageStreamsTable>,
): Promise<Pick<StreamRow, 'characters' | 'pieces'>> {
  return await tx
    .insertInto('message_streams')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['conversation_id', 'stream_id']).doUpdateSet((eb) => ({
        last_sequence: eb.ref('excluded.last_sequence'),
        characters: eb('message_streams.characters', '+', eb.ref('excluded.characters')),
        pieces: eb('message_streams.pieces', '+', eb.ref('excluded.pieces')),
        expires_at: eb.ref('excluded.expires_at'),
      })),
    )
    .returning(['characters', 'pieces'])
    .executeTakeFirstOrThrow()
}

const selectFirst = prepared<{ conversationId: string; now: string }>()((db, parameter) =>
  db
    .selectFrom('message_streams')
    .select((eb) => eb.fn.min('first_sequence').as('first'))
    .where('conversation_id', '=', parameter('conversationId'))
    .where('expires_at', '>', parameter('now')),
)

/** Log number of the first piece of the messages in progress in a conversation. */
export async function findFirstPiece(
  db: Db,
  conversationId: string,
  now: string,
): Promise<number | undefined> {
  const row = await selectFirst.first(db, { conversationId, now })
  return row?.first ?? undefined
}

/** Log number of the first piece of a message in progress, or one that ended a short time ago. */
export async function findFirstPieceOf(
  db: Db,
  conversationId: string,
  streamId: string,
): Promise<number | undefined> {
  const row = await db
    .selectFrom('message_streams')
    .select('first_sequence')
    .where('conversation_id', '=', conversationId)
    .where('stream_id', '=', streamId)
    .executeTakeFirst()
  return row?.first_sequence
}

export async function countStreams(tx: Tx, conversationId: string, now: string): Promise<number> {
  const { count } = await tx
    .selectFrom('message_streams')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('conversation_id', '=', conversationId)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Expired streams, at most `limit`. */
export async function listExpired(tx: Tx, now: string, limit: number): Promise<StreamRow[]> {
  return await tx
    .selectFrom('message_streams')
    .selectAll()
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(limit)
    .execute()
}

/** Deletes a stream and empties its pieces, of which only the numbers stay in the log. */
export async function emptyStream(tx: Tx, stream: StreamRow, pieceType: string): Promise<void> {
  await emptyEvents(tx, {
    stream: stream.conversation_id,
    first: stream.first_sequence,
    last: stream.last_sequence,
    type: pieceType,
    subjectId: stream.stream_id,
  })
  await tx
    .deleteFrom('message_streams')
    .where('conversation_id', '=', stream.conversation_id)
    .where('stream_id', '=', stream.stream_id)
    .execute()
}

/** @returns how many were deleted, at most `limit` */
export async function deleteSomeStreams(tx: Tx, botId: string, limit: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('message_streams')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('conversation_id', 'stream_id'),
        'in',
        selectFrom('message_streams')
          .select(['conversation_id', 'stream_id'])
          .where('bot_id', '=', botId)
          .limit(limit)
          .$asTuple('conversation_id', 'stream_id'),
      ),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
