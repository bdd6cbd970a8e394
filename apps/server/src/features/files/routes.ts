import { contract, waitTimeoutDefault } from '@botstead/contract'
import { type Route, route } from '../../http/mount.js'
import { toPageMeta } from '../../http/paging.js'
import type { FileAddresses } from './addresses.js'
import type { Downloads } from './contents/index.js'
import type { Copies } from './copies.js'
import type { FileEvents } from './file-events.js'
import type { FilesService } from './service.js'
import type { FileRow } from './table.js'
import { toFile, toFileEvent, toUploadableFile } from './view.js'
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

    route(contract.fileTags.list, async ({ actor, query }) => {
      const page = await service.listTagNames(actor, query)
      return { tags: [...page.rows], meta: toPageMeta(page) }
    }),

    route(contract.fileTags.listValues, async ({ actor, params, query }) => {
      const page = await service.listTagValues(actor, params.tag, query)
      return { values: [...page.rows], meta: toPageMeta(page) }
    }),

    route(contract.content.get, ({ params, query, headers, isHead }) =>
      downloads.answer({ ...params, ...query }, { ...headers, isHead }),
    ),

    route(contract.fileEvents.list, async ({ actor, query }) => {
      const page = await events.list(actor, query)
      return { events: page.rows.map(toFileEvent), meta: toPageMeta(page) }
    }),
  ]
}
