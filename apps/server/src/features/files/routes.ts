import { contract } from '@botstead/contract'
import { type Route, route } from '../../http/mount.js'
import { toPageMeta } from '../../http/paging.js'
import type { FileAddresses } from './addresses.js'
import { toContentAnswer } from './content-answer.js'
import type { Downloads } from './downloads.js'
import type { FilesService } from './service.js'
import type { Uploads } from './uploads.js'
import { toFile, toUploadableFile } from './view.js'

interface FilesRoutesDeps {
  service: FilesService
  uploads: Uploads
  downloads: Downloads
  addresses: FileAddresses
}

export function filesRoutes({ service, uploads, downloads, addresses }: FilesRoutesDeps): Route[] {
  return [
    route(contract.files.upsert, async ({ actor, body }) => ({
      file: toUploadableFile(await service.upsert(actor, body), addresses),
    })),

    route(contract.files.list, async ({ actor, query }) => {
      const page = await service.list(actor, query)
      return { files: page.rows.map((row) => toFile(row, addresses)), meta: toPageMeta(page) }
    }),

    route(contract.files.get, async ({ actor, params }) => ({
      file: toFile(await service.get(actor, params.id), addresses),
    })),

    route(contract.files.remove, async ({ actor, params }) => {
      await service.remove(actor, params.id)
      return {}
    }),

    route(contract.content.put, async ({ params, headers, stream }) => {
      await uploads.receive({
        token: params.token,
        tagging: headers['x-amz-tagging'],
        length: headers['content-length'],
        stream,
      })
      return {}
    }),

    route(contract.content.get, async ({ params, query, headers }) =>
      toContentAnswer(await downloads.find(params.fileId, query.signature), headers),
    ),
  ]
}
