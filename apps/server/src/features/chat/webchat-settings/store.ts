import type { Db, Tx } from '../../../platform/db/schema.js'

/** The settings of a bot: the JSON of values by name. */
export async function listSettings(executor: Db | Tx, botId: string): Promise<Map<string, string>> {
  const rows = await executor
    .selectFrom('webchat_settings')
    .select(['name', 'value'])
    .where('bot_id', '=', botId)
    .orderBy('name')
    .execute()
  return new Map(rows.map(({ name, value }) => [name, value]))
}

export async function putSetting(
  tx: Tx,
  row: { bot_id: string; name: string; value: string },
): Promise<void> {
  const { value } = row
  await tx
    .insertInto('webchat_settings')
    .values(row)
    .onConflict((conflict) => conflict.columns(['bot_id', 'name']).doUpdateSet({ value }))
    .execute()
}

export async function deleteSetting(tx: Tx, botId: string, name: string): Promise<void> {
  await tx
    .deleteFrom('webchat_settings')
    .where('bot_id', '=', botId)
    .where('name', '=', name)
    .execute()
}

/** Deletes all of a bot: it has as many rows as there are settings. */
export async function deleteSettings(tx: Tx, botId: string): Promise<void> {
  await tx.deleteFrom('webchat_settings').where('bot_id', '=', botId).execute()
}
