import { contract, type Output, waitTimeoutDefault } from '@botstead/contract'
import { type Route, route } from '../../http/mount.js'
import { toPageMeta } from '../../http/paging.js'
import { decodeBoolean, decodeJson } from '../../platform/db/columns.js'
import type { StoredEvent } from '../../platform/events/read.js'
import type { FileAddresses } from './addresses.js'
import type { Downloads } from './contents/index.js'
import type { Copies } from './copies.js'
import type { FileEvent, FileEventData, FileEvents } from './file-events.js'
import type { IndexingProgress } from './indexing.js'
import { showsReading, toIndexingReport } from './indexing-report.js'
import type { FilesService } from './service.js'
import type { FileRow } from './table.js'
import type { Waiting } from './waiting.js'

interface FilesRoutesDeps {
  service: FilesService
  waiting: Waiting
  copies: Copies
  downloads: Downloads
  events: Pick<FileEvents, 'list'>
  addresses: FileAddresses
}

export function filesRoutes(deps: FilesRoutesDeps): Route[] {
  const { service, waiting, copies, downloads, events, addresses } = deps
  return [
    route(contract.files.upsert, async ({ actor, body }) => ({
      file: toUploadableFile(await service.upsert(actor, body), body.size, addresses),
    })),

    route(contract.files.list, async ({ actor, query }) => {
      const page = await service.list(actor, query)
      return { files: page.rows.map((row) => toFile(row, addresses)), meta: toPageMeta(page) }
    }),

    route(contract.files.get, async ({ actor, params, query, signal }) => {
      const { waitFor, timeout = waitTimeoutDefault } = query
      const file =
        waitFor === undefined
          ? await service.get(actor, params.id)
          : await waiting.untilIndexed(actor, params.id, timeout, signal)
      return { file: toFile(file, addresses) }
    }),

    route(contract.files.update, async ({ actor, params, body }) => ({
      file: toFile(await service.update(actor, params.id, body), addresses),
    })),

    route(contract.files.copy, ({ actor, params, headers, body, once }) =>
      once<FileRow>(
        (remember) => {
          const destinationBotId = headers['x-destination-bot-id']
          return copies.copy(actor, { ...params, ...body, destinationBotId }, remember)
        },
        (row) => ({ file: toFile(row, addresses) }),
      ),
    ),

    route(contract.files.remove, async ({ actor, params }) => {
      await service.remove(actor, params.id)
      return {}
    }),

    route(contract.indexingReports.get, async ({ actor, params }) => {
      const { file, reading } = await service.getReading(actor, params.id)
      return { report: toIndexingReport(file, reading) }
    }),

    route(contract.fileFolders.list, async ({ actor, query }) => {
      const page = await service.listFolders(actor, query)
      return { folders: [...page.rows], meta: toPageMeta(page) }
    }),

    route(contract.fileTags.list, async ({ actor, query }) => {
      const page = await service.listTagNames(actor, query)
      return { tags: [...page.rows], meta: toPageMeta(page) }
    }),

    route(contract.fileTags.listValues, async ({ actor, params, query }) => {
      const page = await service.listTagValues(actor, params.tag, query)
      return { values: [...page.rows], meta: toPageMeta(page) }
    }),

    route(contract.content.get, ({ params, query, headers, isHead }) =>
      downloads.respond({ ...params, ...query }, { ...headers, isHead }),
    ),

    route(contract.fileEvents.list, async ({ actor, query }) => {
      const page = await events.list(actor, query)
      return { events: page.rows.map(toFileEvent), meta: toPageMeta(page) }
    }),
  ]
}

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
    ...(row.omissions !== null && showsReading(row) && { indexingOmissions: row.omissions }),
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

function toFileEvent(event: StoredEvent): WireFileEvent {
  // Only this slice writes to the stream, always with this data.
  const { key, generation, omissions } = event.data as FileEventData
  return {
    sequence: event.sequence,
    type: event.type as FileEvent,
    fileId: event.subjectId,
    key,
    generation,
    ...(omissions !== undefined && { indexingOmissions: omissions }),
    createdAt: event.createdAt,
  }
}
