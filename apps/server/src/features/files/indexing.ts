import type { Readable } from 'node:stream'
import type { contract, Output } from '@botstead/contract'
import { encodeJson } from '../../platform/db/columns.js'
import type { Tx } from '../../platform/db/schema.js'
import {
  findBlob,
  findContent,
  type Generations,
  listContents,
  type StoredBytes,
} from './contents/index.js'
import type { FilesDeps } from './dependencies.js'
import type { IndexFile, PassagesOf } from './jobs.js'
import { type IndexingConfiguration, toIndexingConfiguration } from './lookup/index.js'
import * as store from './store.js'
import type { ContentRow } from './table.js'

/** A generation that waits to be indexed. */
export interface IndexableContent {
  key: string
  contentType: string
  /** Bytes. */
  size: number
  /** Hex, over the whole content. */
  sha256: string
  configuration: IndexingConfiguration
  /** Whether the bytes are passages that a caller gave, as JSON, and not the content. */
  isPassages: boolean
  open(): Promise<Readable>
  /** Where the bytes are a file of this machine; undefined when they are elsewhere. */
  path: string | undefined
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
  deps: Pick<FilesDeps, 'db' | 'run' | 'blobs'> & { generations: Generations },
) {
  const { db, run, blobs, generations } = deps

  /** The bytes that passages are made of. */
  async function sourceOf(content: ContentRow): Promise<StoredBytes | undefined> {
    const { blob_key: blobKey, passages_blob_key: passagesKey, sha256, size } = content
    if (passagesKey !== null) return await findBlob(db, passagesKey)
    return blobKey === null || sha256 === null ? undefined : { blobKey, sha256, size }
  }

  return {
    /** The content to index, or undefined when it was replaced or deleted meanwhile. */
    async find({ botId, fileId, generation }: IndexFile): Promise<IndexableContent | undefined> {
      const file = await store.findFileById(db, botId, fileId)
      const content = await findContent(db, botId, { fileId, generation })
      if (file === undefined || !isWaiting(content)) return undefined
      const source = await sourceOf(content)
      if (source === undefined) return undefined
      const { blobKey, sha256, size } = source
      return {
        key: file.key,
        contentType: content.content_type,
        size,
        sha256,
        isPassages: content.passages_blob_key !== null,
        configuration: toIndexingConfiguration(content.indexing),
        open: () => blobs.get(blobKey),
        path: blobs.localPath?.(blobKey),
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

    /** Rejects with the reason when no content can be reached now. */
    checkContents: () => blobs.check(),

    /** Whether these are the passages of their file that are found now. */
    async isFound({ botId, fileId, generation }: PassagesOf): Promise<boolean> {
      const file = await store.findFileById(db, botId, fileId)
      return file?.passages_generation === generation
    },

    /** Says how far the indexing is, while it lasts. */
    async report(job: IndexFile, progress: IndexingProgress): Promise<void> {
      await run((tx) => store.noteProgress(tx, job, encodeJson(progress)))
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

/** How far the indexing of one generation is, as it is stored. */
export interface IndexingProgress
  extends NonNullable<Output<typeof contract.files.get>['file']['indexingProgress']> {
  generation: number
}
