import { ApiError } from '@botstead/contract'
import type { Tx } from '../../../platform/db/schema.js'
import type { Quotas } from '../rules.js'
import { findFileById, patchFile } from '../store.js'
import type { ContentRow, FileRow } from '../table.js'
import { addUsage, moveFiles, type Usage } from '../usage-store.js'
import { listContents } from './store.js'

/**
 * Updates the share of a file in the usage of its workspace, after its generations have changed. Of two
 * generations the larger one counts: a replacement is not counted twice, and a smaller one does not free space early.
 * @throws ApiError `QuotaExceeded` when the file has grown and a quota is exceeded
 */
export async function updateUsage(
  tx: Tx,
  file: Pick<FileRow, 'bot_id' | 'id' | 'workspace_id'>,
  quotas: Quotas,
): Promise<void> {
  const counted = usageOf(await listContents(tx, file.bot_id, file.id))
  // Read again: one transaction may count a file several times.
  const before = await findFileById(tx, file.bot_id, file.id)
  const change = {
    storage: counted.storage - (before?.counted_storage ?? 0),
    vector: counted.vector - (before?.counted_vector ?? 0),
  }
  if (change.storage === 0 && change.vector === 0) return
  await patchFile(tx, file.bot_id, file.id, {
    counted_storage: counted.storage,
    counted_vector: counted.vector,
  })
  const total = await addUsage(tx, file.workspace_id, change)
  requireWithinQuota('storage', change.storage, total.storage, quotas.storage)
  requireWithinQuota('vector', change.vector, total.vector, quotas.vector)
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
  requireWithinQuota('storage', moved.storage, total.storage, quotas.storage)
  requireWithinQuota('vector', moved.vector, total.vector, quotas.vector)
}

/** Subtracts a deleted file from the usage of its workspace. */
export async function subtractUsage(tx: Tx, file: FileRow): Promise<void> {
  await addUsage(tx, file.workspace_id, {
    storage: -file.counted_storage,
    vector: -file.counted_vector,
  })
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

function requireWithinQuota(
  quota: keyof Quotas,
  added: number,
  total: number,
  allowed: number,
): void {
  // A file may always shrink, even where the quota is below the current usage.
  if (added <= 0 || total <= allowed) return
  const used = total - added
  throw new ApiError(
    'QuotaExceeded',
    `The ${quota} quota of the workspace does not suffice: ${used} bytes are used, ${added} more are needed, ${allowed} are allowed.`,
    { metadata: { quota, used, asked: added, allowed } },
  )
}
