import type { Readable } from 'node:stream'
import type { contract, Output } from '@botstead/contract'
import { encodeJson } from '../../platform/db/columns.js'
import type { Tx } from '../../platform/db/schema.js'
import {
  findBlob,
  findContent,
  type Generations,
  type IndexingOutcome,
  listContents,
  readingOfPassages,
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
  /** Whether the bytes are passages from a caller, as JSON, instead of the content. */
  isPassages: boolean
  open(): Promise<Readable>
  /** Path of the bytes on this machine; undefined when they are elsewhere. */
  path: string | undefined
}

/** The passages of a file that are still needed. */
export interface UsefulPassages {
  /** Generations that search finds, or may find soon. */
  generations: readonly number[]
  /** The latest generation; nothing is known yet of newer ones. */
  newest: number
}

export type FilesIndexing = ReturnType<typeof createIndexing>

/** The interface for search: contents to index, and functions that report the outcome. */
export function createIndexing(
  deps: Pick<FilesDeps, 'db' | 'run' | 'blobs'> & { generations: Generations },
) {
  const { db, run, blobs, generations } = deps

  /** The bytes from which passages are made. */
  async function sourceOf(content: ContentRow): Promise<StoredBytes | undefined> {
    const { blob_key: blobKey, passages_blob_key: passagesKey, sha256, size } = content
    if (passagesKey !== null) return await findBlob(db, passagesKey)
    return blobKey === null || sha256 === null ? undefined : { blobKey, sha256, size }
  }

  return {
    /** The content to index; undefined when it was replaced or deleted in the meantime. */
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
        path: blobs.localPath?.(blobKey, size),
      }
    },

    /**
     * Publishes a generation in the transaction of the caller: after its commit, its passages are
     * found and those of the previous one are not. With a reason, the file has failed and has none. The omissions
     * are published with it.
     * @returns false when the generation was replaced or deleted in the meantime; then nothing is done
     */
    async finish(tx: Tx, job: IndexFile, outcome: IndexingOutcome): Promise<boolean> {
      const file = await store.lockFile(tx, job.botId, job.fileId)
      const content = await findContent(tx, job.botId, job)
      if (file === undefined || !isWaiting(content)) return false
      await generations.finishIndexing(tx, file, content, outcome)
      return true
    },

    /** Rejects with the reason when contents cannot be reached at all. */
    checkContents: () => blobs.check(),

    /** Whether search finds these passages now. */
    async isFound({ botId, fileId, generation }: PassagesOf): Promise<boolean> {
      const file = await store.findFileById(db, botId, fileId)
      return file?.passages_generation === generation
    },

    /** The omissions of the passages that search finds now; undefined if they are not known. */
    readingOf: (passages: PassagesOf) => readingOfPassages(db, passages),

    /** Stores the progress of indexing. */
    async report(job: IndexFile, progress: IndexingProgress): Promise<void> {
      await run((tx) => store.storeProgress(tx, job, encodeJson(progress)))
    },

    /** The passages of a file that must be kept; undefined when the file is gone. */
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

/** The progress of indexing of one generation, as it is stored. */
export interface IndexingProgress
  extends NonNullable<Output<typeof contract.files.get>['file']['indexingProgress']> {
  generation: number
}
