import { ApiError } from '@botstead/contract'
import type { BotActor } from '../../domain/actor.js'
import { notFound } from '../../domain/refusals.js'
import type { Db, Tx } from '../../platform/db/schema.js'
import { scopeOf } from './lookup/index.js'
import { findFile, findReadFile, lockFile, type ReadFileRow } from './store.js'
import type { FileRow } from './table.js'

/** First path segments below `/v1/files` that are not files; a file with such a key is addressed by its id. */
const reservedSegments = new Set(['search', 'tags', 'knowledge-bases', 'events'])

/**
 * The file that a caller refers to, if it is visible to the caller.
 * @param now ISO 8601
 * @throws ApiError `ResourceNotFound`
 */
export async function requireFile(
  executor: Db | Tx,
  actor: BotActor,
  idOrKey: string,
  now: string,
): Promise<FileRow> {
  refuseReserved(idOrKey)
  const file = await findFile(executor, scopeOf(actor, now), idOrKey)
  if (file === undefined) throw notFound('file', idOrKey, 'in this bot')
  return file
}

/** Like {@link requireFile}, with its last reading. */
export async function requireReadFile(
  db: Db,
  actor: BotActor,
  idOrKey: string,
  now: string,
): Promise<ReadFileRow> {
  refuseReserved(idOrKey)
  const file = await findReadFile(db, scopeOf(actor, now), idOrKey)
  if (file === undefined) throw notFound('file', idOrKey, 'in this bot')
  return file
}

/** Like {@link requireFile}, locked for the rest of the transaction. */
export async function lockVisibleFile(
  tx: Tx,
  actor: BotActor,
  idOrKey: string,
  now: string,
): Promise<FileRow> {
  const { id } = await requireFile(tx, actor, idOrKey, now)
  const file = await lockFile(tx, actor.botId, id)
  // It may have been deleted between the two queries.
  if (file === undefined) throw notFound('file', idOrKey, 'in this bot')
  return file
}

/**
 * Like {@link lockVisibleFile}, for a change: an integration may not change a file that it only reads.
 * @param verb the change, for the refusal
 */
export async function lockOwnFile(
  tx: Tx,
  actor: BotActor,
  idOrKey: string,
  now: string,
  verb: string,
): Promise<FileRow> {
  const file = await lockVisibleFile(tx, actor, idOrKey, now)
  if (file.key_space !== keySpaceOf(actor) && actor.caller.type === 'integration') {
    throw new ApiError(
      'Forbidden',
      `An integration may ${verb} its own files only; this one it may read.`,
    )
  }
  return file
}

/** The space in which a caller's keys are unique: the bot's, or that of one integration. */
export function keySpaceOf({ caller }: BotActor): string {
  return caller.type === 'integration' ? caller.id : ''
}

function refuseReserved(idOrKey: string): void {
  if (!reservedSegments.has(idOrKey)) return
  throw new ApiError(
    'ResourceNotFound',
    `The path /v1/files/${idOrKey} is reserved: a file with the key ${idOrKey} is addressed by its id.`,
  )
}
