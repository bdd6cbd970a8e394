import { contract, waitTimeoutDefault } from '@botstead/contract'
import { type Route, route } from '../../http/mount.js'
import { toPageMeta } from '../../http/paging.js'
import type { FileAddresses } from './addresses.js'
import type { Copies } from './copies.js'
import type { Descriptions } from './descriptions.js'
import type { EventLog } from './event-log.js'
import type { FileTags } from './file-tags.js'
import type { KnowledgeBaseRow, KnowledgeBases } from './knowledge-bases/service.js'
import type { FileRow, FilesService } from './service.js'
import { toFile, toFileEvent, toKnowledgeBase, toUploadableFile } from './view.js'
import type { Waiting } from './waiting.js'

interface FilesRoutesDeps {
  service: FilesService
  waiting: Waiting
  descriptions: Descriptions
  copies: Copies
  addresses: FileAddresses
  tags: FileTags
  knowledgeBases: KnowledgeBases
  events: EventLog
}

export function filesRoutes(deps: FilesRoutesDeps): Route[] {
  const { service, waiting, descriptions, copies, addresses } = deps
  const { tags, knowledgeBases, events } = deps
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
      file: toFile(await descriptions.update(actor, params.id, body), addresses),
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
      const page = await tags.listNames(actor, query)
      return { tags: [...page.rows], meta: toPageMeta(page) }
    }),

    route(contract.fileTags.listValues, async ({ actor, params, query }) => {
      const page = await tags.listValues(actor, params.tag, query)
      return { values: [...page.rows], meta: toPageMeta(page) }
    }),

    route(contract.knowledgeBases.create, ({ actor, body, once }) =>
      once<KnowledgeBaseRow>(
        (remember) => knowledgeBases.create(actor, body, remember),
        (row) => ({ knowledgeBase: toKnowledgeBase(row) }),
      ),
    ),

    route(contract.knowledgeBases.list, async ({ actor, query }) => {
      const page = await knowledgeBases.list(actor, query)
      return { knowledgeBases: page.rows.map(toKnowledgeBase), meta: toPageMeta(page) }
    }),

    route(contract.knowledgeBases.update, async ({ actor, params, body }) => ({
      knowledgeBase: toKnowledgeBase(await knowledgeBases.update(actor, params.id, body)),
    })),

    route(contract.knowledgeBases.remove, async ({ actor, params }) => {
      await knowledgeBases.remove(actor, params.id)
      return {}
    }),

    route(contract.fileEvents.list, async ({ actor, query }) => {
      const page = await events.list(actor, query)
      return { events: page.rows.map(toFileEvent), meta: toPageMeta(page) }
    }),
  ]
}
