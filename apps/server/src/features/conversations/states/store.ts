import type { Selectable, Updateable } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import { type PageRange, pageOf } from '../../../platform/db/paginate.js'
import { prepared } from '../../../platform/db/prepared.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { StatesTable } from './table.js'

export type StateRow = Selectable<StatesTable>

/** Identifies a state. */
export type StateKey = Pick<StateRow, 'bot_id' | 'type' | 'owner_id' | 'integration' | 'name'>

const selectByKey = ({ isLocked }: { isLocked: boolean }) =>
  prepared<StateKey>()((db, parameter, dialect) => {
    const query = db
      .selectFrom('states')
      .selectAll()
      .where('bot_id', '=', parameter('bot_id'))
      .where('type', '=', parameter('type'))
      .where('owner_id', '=', parameter('owner_id'))
      .where('integration', '=', parameter('integration'))
      .where('name', '=', parameter('name'))
    return isLocked ? dialect.lockRows(query) : query
  })
const selectState = selectByKey({ isLocked: false })
const selectStateLocked = selectByKey({ isLocked: true })

export async function findState(db: Db, key: StateKey): Promise<StateRow | undefined> {
  return await selectState.first(db, key)
}

/** The state with this key, locked until the transaction ends: the job that ends expired states may run now. */
export async function lockStateByKey(tx: Tx, key: StateKey): Promise<StateRow | undefined> {
  return await selectStateLocked.first(tx, key)
}

/** The state with this id, locked until the transaction ends. */
export async function lockState(tx: Tx, botId: string, id: string): Promise<StateRow | undefined> {
  const query = tx.selectFrom('states').selectAll().where('id', '=', id).where('bot_id', '=', botId)
  return await dialectOf(tx).lockRows(query).executeTakeFirst()
}

export async function insertState(tx: Tx, row: StateRow): Promise<void> {
  await tx.insertInto('states').values(row).execute()
}

export async function patchState(
  tx: Tx,
  botId: string,
  id: string,
  patch: Updateable<StatesTable>,
): Promise<void> {
  await tx
    .updateTable('states')
    .set(patch)
    .where('id', '=', id)
    .where('bot_id', '=', botId)
    .execute()
}

export async function deleteState(tx: Tx, botId: string, id: string): Promise<void> {
  await tx.deleteFrom('states').where('id', '=', id).where('bot_id', '=', botId).execute()
}

/** Whether an owner has any state. */
export async function hasStates(
  tx: Tx,
  botId: string,
  type: StateRow['type'],
  ownerId: string,
): Promise<boolean> {
  const found = await tx
    .selectFrom('states')
    .select('id')
    .where('bot_id', '=', botId)
    .where('type', '=', type)
    .where('owner_id', '=', ownerId)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/** Deletes the states of a deleted owner. */
export async function deleteStatesOf(
  tx: Tx,
  botId: string,
  type: StateRow['type'],
  ownerId: string,
): Promise<void> {
  await tx
    .deleteFrom('states')
    .where('bot_id', '=', botId)
    .where('type', '=', type)
    .where('owner_id', '=', ownerId)
    .execute()
}

/** The states that an integration stores for itself in a bot, under one of its versions. */
interface VersionStates {
  botId: string
  alias: string
  /** Id of the version, which owns the states. */
  integrationId: string
}

/**
 * Gives the states of one version of an integration to another, in place of those that this one has under the same names.
 * @param kept names of states that stay with the first version
 */
export async function moveStates(
  tx: Tx,
  { botId, alias, integrationId }: VersionStates,
  nextId: string,
  kept: readonly string[],
): Promise<void> {
  const of = { bot_id: botId, type: 'integration', integration: alias } as const
  let own = tx
    .selectFrom('states')
    .select('name')
    .where(({ and }) => and({ ...of, owner_id: integrationId }))
  if (kept.length > 0) own = own.where('name', 'not in', [...kept])
  const moved = (await own.execute()).map(({ name }) => name)
  if (moved.length === 0) return
  await tx
    .deleteFrom('states')
    .where(({ and }) => and({ ...of, owner_id: nextId }))
    .where('name', 'in', moved)
    .execute()
  await tx
    .updateTable('states')
    .set({ owner_id: nextId })
    .where(({ and }) => and({ ...of, owner_id: integrationId }))
    .where('name', 'in', moved)
    .execute()
}

/** @returns how many were deleted, at most `limit` */
export async function deleteSomeStates(tx: Tx, botId: string, limit: number): Promise<number> {
  const result = await tx
    .deleteFrom('states')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('states').select('id').where('bot_id', '=', botId).limit(limit),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

/** States of a conversation that have not expired in a range, and one more, in the order of their last changes. */
export async function listStatesIn(
  db: Db,
  { botId, conversationId }: { botId: string; conversationId: string },
  now: string,
  range: PageRange<'updated_at'>,
): Promise<StateRow[]> {
  const query = db
    .selectFrom('states')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('type', '=', 'conversation')
    .where('owner_id', '=', conversationId)
    .where(({ eb, or }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
  return await pageOf(query, range).execute()
}
