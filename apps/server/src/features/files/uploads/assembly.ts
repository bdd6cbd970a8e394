import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { BlobStore } from '../../../platform/blobs/blob-store.js'
import { putAndClose } from '../../../platform/blobs/put-and-close.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import { discardBlob, type StoredBytes } from '../contents/blob-use-store.js'
import { type ContentRow, findContent } from '../contents/content-store.js'
import type { Generations } from '../contents/generations.js'
import { besideLostBlob } from '../contents/lost-blobs.js'
import { listParts, type PartRow } from '../contents/part-store.js'
import { type AssembleContent, sweepBlobsJob } from '../job-kinds.js'
import type { FilesDeps } from '../service.js'
import * as store from '../store.js'

/**
 * The job that puts the parts of a content together: one blob that is served like every other, with
 * the hash over all of it. It can be interrupted and repeated; the parts stay until it is done.
 */
export function createAssembly({
  db,
  blobs,
  queue,
  generations,
}: Pick<FilesDeps, 'db' | 'blobs' | 'queue'> & { generations: Generations }): JobHandler<
  AssembleContent,
  StoredBytes | undefined
> {
  return {
    handler: async ({ payload: { botId, ...id } }, { signal }) => {
      const content = await findContent(db, botId, id)
      if (!isWhole(content)) return undefined
      const parts = await listParts(db, botId, id)
      const blobKey = randomUUID()
      const bytes = Readable.from(bytesOf(blobs, parts), { objectMode: false })
      const stored = await putAndClose(blobs, blobKey, bytes, {
        maxBytes: content.size,
        signal,
      })
      if (stored.size !== content.size) {
        await blobs.remove(blobKey)
        throw new Error(`The parts have ${stored.size} bytes, the content ${content.size}`)
      }
      return await besideLostBlob({ db, blobs }, botId, { blobKey, ...stored })
    },

    onDone: async (tx, { payload: { botId, ...id } }, stored) => {
      if (stored === undefined) return
      const file = await store.lockFile(tx, botId, id.fileId)
      const content = await findContent(tx, botId, id)
      if (file !== undefined && isWhole(content)) {
        await generations.completeUpload(tx, file, content, stored)
        return
      }
      // The file was deleted or upserted again meanwhile.
      await discardBlob(tx, stored.blobKey)
      await queue.enqueue(tx, { kind: sweepBlobsJob, key: 'all', payload: {} })
    },

    onDead: async (tx, { payload: { botId, ...id } }) => {
      const file = await store.lockFile(tx, botId, id.fileId)
      const content = await findContent(tx, botId, id)
      if (file === undefined || !isWhole(content)) return
      const reason =
        'The content came, but could not be put together: the log of the server says why.'
      await generations.failUpload(tx, file, content, reason)
    },
  }
}

/** Whether all parts are there and still wait to be put together. */
function isWhole(content: ContentRow | undefined): content is ContentRow {
  return content?.status === 'upload_pending' && content.received === content.size
}

async function* bytesOf(blobs: BlobStore, parts: readonly PartRow[]): AsyncGenerator<Uint8Array> {
  for (const { blob_key } of parts) yield* await blobs.get(blob_key)
}
