import type { Readable } from 'node:stream'
import type { Body, contract } from '@botstead/contract'
import { decodeJson } from '../../platform/db/columns.js'
import type { Tx } from '../../schema.js'
import { type ContentRow, findContent, listContents } from './content-store.js'
import type { Generations } from './generations.js'
import type { IndexFile, PassagesOf } from './job-kinds.js'
import type { FilesDeps } from './service.js'
import * as store from './store.js'

/** How the file was asked to be indexed. */
export type IndexingConfiguration = NonNullable<
  Body<typeof contract.files.upsert>['indexing']
>['configuration']

/** A generation that waits to be indexed. */
export interface IndexableContent {
  key: string
  contentType: string
  /** Bytes. */
  size: number
  /** Hex, over the whole content. */
  sha256: string
  configuration: IndexingConfiguration
  open(): Promise<Readable>
}

/** Which passages of a file are of use. */
export interface UsefulPassages {
  /** Generations that are found, or may be soon. */
  generations: readonly number[]
  /** Of what is newer, nothing is known yet. */
  newest: number
}

export type FilesIndexing = ReturnType<typeof createIndexing>

/** What search needs of files: contents to index, and a place to say how it went. */
export function createIndexing(
  deps: Pick<FilesDeps, 'db' | 'blobs'> & { generations: Generations },
) {
  const { db, blobs, generations } = deps

  return {
    /** The content to index, or undefined when it was replaced or deleted meanwhile. */
    async find({ botId, fileId, generation }: IndexFile): Promise<IndexableContent | undefined> {
      const file = await store.findFileById(db, botId, fileId)
      const content = await findContent(db, botId, { fileId, generation })
      if (file === undefined || !isWaiting(content)) return undefined
      const { blob_key: blobKey, sha256 } = content
      if (blobKey === null || sha256 === null) return undefined
      return {
        key: file.key,
        contentType: content.content_type,
        size: content.size,
        sha256,
        configuration:
          content.indexing === null
            ? {}
            : decodeJson<{ configuration: IndexingConfiguration }>(content.indexing).configuration,
        open: () => blobs.get(blobKey),
      }
    },

    /**
     * Publishes a generation in the transaction of the caller: from its commit on, its passages are
     * found and those of the one before are not. With a reason, the file has failed and has none.
     * @returns false when the generation was replaced or deleted meanwhile; then nothing is done
     */
    async finish(tx: Tx, job: IndexFile, failedReason?: string): Promise<boolean> {
      const file = await store.lockFile(tx, job.botId, job.fileId)
      const content = await findContent(tx, job.botId, job)
      if (file === undefined || !isWaiting(content)) return false
      await generations.finishIndexing(tx, file, content, failedReason)
      return true
    },

    /** Whether these are the passages of their file that are found now. */
    async isFound({ botId, fileId, generation }: PassagesOf): Promise<boolean> {
      const file = await store.findFileById(db, botId, fileId)
      return file?.passages_generation === generation
    },

    /** Which passages of a file to keep; undefined when the file is gone. */
    async usefulPassages(botId: string, fileId: string): Promise<UsefulPassages | undefined> {
      const file = await store.findFileById(db, botId, fileId)
      if (file === undefined) return undefined
      const contents = await listContents(db, botId, fileId)
      const coming = contents.filter(
        ({ status }) => status === 'upload_pending' || status === 'indexing_pending',
      )
      const found = file.passages_generation === null ? [] : [file.passages_generation]
      return {
        generations: [...found, ...coming.map(({ generation }) => generation)],
        newest: file.generation,
      }
    },
  }
}

function isWaiting(content: ContentRow | undefined): content is ContentRow {
  return content?.status === 'indexing_pending'
}
