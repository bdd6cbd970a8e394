import type { Tx } from '../../../platform/db/schema.js'
import type { Quotas } from '../dependencies.js'
import { findFileById, patchFile } from '../store.js'
import type { ContentRow, FileRow } from '../table.js'
import { addBotUsage, addUsage, type BotUsage, moveFiles, type Usage } from '../usage-store.js'
import { listContents } from './store.js'

/**
 * Updates the share of a file in the usage of its workspace and its bot, after its generations have changed. Of two
 * generations the larger one counts: a replacement is not counted twice, and a smaller one does not free space early.
 * @param quotas undefined: what exists already counts without limits
 * @throws ApiError `QuotaExceeded` when the file has grown and a quota is exceeded
 */
export async function updateUsage(
  tx: Tx,
  file: Pick<FileRow, 'bot_id' | 'id' | 'workspace_id'>,
  quotas: Quotas | undefined,
): Promise<void> {
  const counted = usageOf(await listContents(tx, file.bot_id, file.id))
  // Read again: one transaction may count a file several times.
  const before = await findFileById(tx, file.bot_id, file.id)
  const change = difference(counted, countedOf(before))
  if (change.storage === 0 && change.vector === 0) return
  await patchFile(tx, file.bot_id, file.id, {
    counted_storage: counted.storage,
    counted_vector: counted.vector,
  })
  const workspace = await addUsage(tx, file.workspace_id, change)
  const bot = await addBotUsage(tx, file.bot_id, change)
  const owner = { workspaceId: file.workspace_id, botId: file.bot_id }
  await quotas?.requireStorage(tx, owner, change, { bot, workspace })
}

/**
 * Moves the files of a bot to another workspace with their share of its usage.
 * @throws ApiError `QuotaExceeded` when a quota of that workspace is exceeded
 */
export async function moveUsage(
  tx: Tx,
  botId: string,
  move: { from: string; to: string },
  quotas: Quotas,
): Promise<void> {
  const { moved, total } = await moveFiles(tx, botId, move)
  const owner = { workspaceId: move.to, botId }
  await quotas.requireStorage(tx, owner, moved, { workspace: total })
}

/** Subtracts a deleted file from the usage of its workspace and its bot. */
export async function subtractUsage(tx: Tx, file: FileRow): Promise<void> {
  const change = difference(countedOf(undefined), countedOf(file))
  await addUsage(tx, file.workspace_id, change)
  await addBotUsage(tx, file.bot_id, change)
}

/** What a file counts; nothing if it does not exist. */
function countedOf(file: Pick<FileRow, 'counted_storage' | 'counted_vector'> | undefined): Usage {
  return { storage: file?.counted_storage ?? 0, vector: file?.counted_vector ?? 0 }
}

function difference(after: Usage, before: Usage): BotUsage {
  return {
    storage: after.storage - before.storage,
    vector: after.vector - before.vector,
    indexedFiles: Math.sign(after.vector) - Math.sign(before.vector),
  }
}

/** The bytes of a file with these generations that count towards the quotas. */
export function usageOf(contents: readonly ContentRow[]): Usage {
  const held = contents.filter(({ status }) => status !== 'upload_failed')
  const indexed = held.filter((content) => content.indexed === 1)
  return {
    storage: Math.max(0, ...held.map(({ size }) => size)),
    vector: Math.max(0, ...indexed.map(({ size }) => size)),
  }
}
