import { decodeJson } from '../../platform/db/columns.js'
import { prepared } from '../../platform/db/prepared.js'
import type { Tx } from '../../platform/db/schema.js'

const selectOwner = prepared<{ botId: string; id: string }>()((db, parameter) =>
  db
    .selectFrom('conversations')
    .select('integration')
    .where('bot_id', '=', parameter('botId'))
    .where('id', '=', parameter('id')),
)

/** Alias of the installation that a conversation belongs to; undefined if there is none with this id. */
export async function findOwner(tx: Tx, botId: string, id: string): Promise<string | undefined> {
  return (await selectOwner.first(tx, { botId, id }))?.integration
}

const selectWritten = prepared<{ botId: string; id: string }>()((db, parameter) =>
  db
    .selectFrom('messages')
    .select(['direction', 'payload'])
    .where('bot_id', '=', parameter('botId'))
    .where('id', '=', parameter('id')),
)

/** The content of a message that the bot wrote; undefined for all others. */
export async function findOutgoingPayload(
  tx: Tx,
  botId: string,
  messageId: string,
): Promise<Record<string, unknown> | undefined> {
  const row = await selectWritten.first(tx, { botId, id: messageId })
  return row?.direction === 'outgoing' ? decodeJson(row.payload) : undefined
}
