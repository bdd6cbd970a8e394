import type { Selectable } from 'kysely'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { OutgoingMailsTable } from './table.js'

export type OutgoingMailRow = Selectable<OutgoingMailsTable>

export async function insertMail(tx: Tx, row: OutgoingMailRow): Promise<void> {
  await tx.insertInto('outgoing_mails').values(row).execute()
}

export async function countMails(tx: Tx): Promise<number> {
  const { mails } = await tx
    .selectFrom('outgoing_mails')
    .select(({ fn }) => fn.countAll<number | string>().as('mails'))
    .executeTakeFirstOrThrow()
  return Number(mails)
}

export async function findMail(db: Db, id: string): Promise<OutgoingMailRow | undefined> {
  return await db.selectFrom('outgoing_mails').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function deleteMail(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('outgoing_mails').where('id', '=', id).execute()
}

export async function deleteExpiredMails(tx: Tx, now: string): Promise<number> {
  const result = await tx
    .deleteFrom('outgoing_mails')
    .where('expires_at', '<=', now)
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
