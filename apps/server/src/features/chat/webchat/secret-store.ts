import type { Db, Tx } from '../../../platform/db/schema.js'

export async function findSecretHash(db: Db, botId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('chat_secrets')
    .select('hash')
    .where('bot_id', '=', botId)
    .executeTakeFirst()
  return row?.hash
}

export async function putSecretHash(
  tx: Tx,
  row: { bot_id: string; hash: string; created_at: string },
): Promise<void> {
  const { hash, created_at } = row
  await tx
    .insertInto('chat_secrets')
    .values(row)
    .onConflict((conflict) => conflict.column('bot_id').doUpdateSet({ hash, created_at }))
    .execute()
}

export async function deleteSecret(tx: Tx, botId: string): Promise<void> {
  await tx.deleteFrom('chat_secrets').where('bot_id', '=', botId).execute()
}
