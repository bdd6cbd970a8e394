import type { contract, Output } from '@botstead/contract'
import { decodeBoolean, decodeJson } from '../../platform/db/columns.js'
import type { StoredEvent } from '../../platform/events/read.js'
import type { FileAddresses } from './addresses.js'
import type { FileEvent, FileEventData } from './file-events.js'
import type { IndexingProgress } from './indexing.js'
import type { FileRow } from './table.js'

type WireFile = Output<typeof contract.files.get>['file']
type WireFileEvent = Output<typeof contract.fileEvents.list>['events'][number]
type WireUploadableFile = Output<typeof contract.files.upsert>['file']

export function toFile(row: FileRow, addresses: FileAddresses): WireFile {
  const failed = row.status === 'upload_failed' || row.status === 'indexing_failed'
  return {
    id: row.id,
    botId: row.bot_id,
    key: row.key,
    url: decodeBoolean(row.public_content)
      ? addresses.publicContent(row.id)
      : addresses.privateContent(row.id),
    size: row.size < 0 ? null : row.size,
    ...(row.sha256 !== null && { sha256: row.sha256 }),
    contentType: row.content_type,
    tags: decodeJson(row.tags),
    metadata: decodeJson(row.metadata),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    accessPolicies: [
      ...(decodeBoolean(row.public_content) ? (['public_content'] as const) : []),
      ...(decodeBoolean(row.shared) ? (['integrations'] as const) : []),
    ],
    index: decodeBoolean(row.indexed),
    status: row.status,
    ...(failed && row.failed_reason !== null && { failedStatusReason: row.failed_reason }),
    ...(row.expires_at !== null && { expiresAt: row.expires_at }),
    owner: toOwner(row),
    ...toProgress(row),
    ...(row.status === 'indexing_completed' && { indexingStack: 'v1' as const }),
  }
}

/** The progress of this generation; that of an earlier one is not shown. */
function toProgress({ status, generation, progress }: FileRow): Pick<WireFile, 'indexingProgress'> {
  if (status !== 'indexing_pending' || progress === null) return {}
  const { generation: about, ...indexingProgress } = decodeJson<IndexingProgress>(progress)
  return about === generation ? { indexingProgress } : {}
}

/**
 * A file whose content is to be sent: only the response to the upsert has its upload address, and a
 * size that no upload has confirmed yet.
 * @param size as declared, in bytes
 */
export function toUploadableFile(
  row: FileRow,
  size: number,
  addresses: FileAddresses,
): WireUploadableFile {
  const uploadUrl = addresses.upload({ fileId: row.id, generation: row.generation })
  return { ...toFile(row, addresses), size, uploadUrl }
}

function toOwner(row: FileRow): WireFile['owner'] {
  if (row.owner_type !== 'integration') return { type: row.owner_type, id: row.owner_id }
  return {
    type: 'integration',
    ...(row.owner_name !== null && { name: row.owner_name }),
    ...(row.owner_alias !== null && { alias: row.owner_alias }),
  }
}

export function toFileEvent(event: StoredEvent): WireFileEvent {
  // Only this slice writes to the stream, always with this data.
  const { key, generation } = event.data as FileEventData
  return {
    sequence: event.sequence,
    type: event.type as FileEvent,
    fileId: event.subjectId,
    key,
    generation,
    createdAt: event.createdAt,
  }
}
