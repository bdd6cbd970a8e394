import type { Selectable } from 'kysely'
import type { JsonColumn, TimeColumn } from '../../platform/db/columns.js'

/** The state of the upload of a content, and then of its indexing if it is to be indexed. */
export type FileStatus =
  | 'upload_pending'
  | 'upload_failed'
  | 'upload_completed'
  | 'indexing_pending'
  | 'indexing_failed'
  | 'indexing_completed'

/** A flag as it is stored. */
type Flag = 0 | 1

/**
 * One row per file: the description by its latest upsert, and the generations of content and passages that
 * are served. Each upsert begins a generation; see `generations.ts`.
 */
export interface FilesTable {
  id: string
  workspace_id: string
  bot_id: string
  key: string
  /** Id of the integration that owns the key space, empty for that of the bot; keys are unique in it. */
  key_space: string
  owner_type: 'bot' | 'integration' | 'user'
  /** Id of the bot, integration or user. */
  owner_id: string
  /** Name of the integration. */
  owner_name: string | null
  /** Alias under which the integration is installed. */
  owner_alias: string | null
  /** The latest generation, from 1. */
  generation: number
  /** The generation whose content is served; null until there is one. */
  serving_generation: number | null
  /** The generation whose passages are found; null while there are none. */
  passages_generation: number | null
  /** Whether those passages were indexed as visible to every integration of the bot. */
  passages_shared: Flag
  /** Of the latest generation. */
  status: FileStatus
  failed_reason: string | null
  /** Bytes; -1 until the upload has completed, because lists sort by it and engines sort nulls differently. */
  size: number
  /** Hex, of the content with that size; null until then. */
  sha256: string | null
  content_type: string
  /** JSON map of strings; `file_tags` has the same for filters. */
  tags: JsonColumn
  metadata: JsonColumn
  public_content: Flag
  /** Policy `integrations`. */
  shared: Flag
  /** Whether the latest generation is to be indexed. */
  indexed: Flag
  expires_at: TimeColumn | null
  /** JSON of `IndexingProgress`: the progress of indexing of a generation. */
  progress: JsonColumn | null
  /**
   * Number of omissions of the last reading, which `file_readings` lists; null if it is not known. While a new
   * content has not been read, it is that of the former one.
   */
  omissions: number | null
  /** Bytes that this file counts in the usage of its workspace. */
  counted_storage: number
  counted_vector: number
  created_at: TimeColumn
  updated_at: TimeColumn
}

export type FileRow = Selectable<FilesTable>

/** One row per generation that is still needed: the latest, the served one, and those between. */
export interface FileContentsTable {
  bot_id: string
  file_id: string
  generation: number
  status: FileStatus
  /** Bytes as declared; the upload must have this size. */
  size: number
  /** Null until the upload has completed. */
  blob_key: string | null
  /** Hex, as `blob_key`. */
  sha256: string | null
  content_type: string
  /** Policies of this content: wider ones of a later upsert must not apply to it. */
  public_content: Flag
  shared: Flag
  /** Public as soon as it is uploaded, before it is indexed. */
  immediate: Flag
  indexed: Flag
  /** `indexing` of the upsert. */
  indexing: JsonColumn | null
  /** Blob of the passages that the caller gave instead of those of the content. */
  passages_blob_key: string | null
  /** Whether the content existed before: if it cannot be indexed, the former passages stay. */
  remade: Flag
  created_at: TimeColumn
  /** Id of the request that may store bytes: the newest one. Null while none has claimed the upload. */
  writer: string | null
  /** Bytes in `content_parts`; null unless the content is uploaded in parts. */
  received: number | null
}

export type ContentRow = Selectable<FileContentsTable>

/** Bytes of a content that is uploaded in parts: without gaps from 0. Removed once it is complete. */
interface ContentPartsTable {
  bot_id: string
  file_id: string
  generation: number
  /** Offset of the part in the content, in bytes. */
  start: number
  /** Bytes. */
  size: number
  blob_key: string
}

export type PartRow = Selectable<ContentPartsTable>

/** The last reading of a content; no row if it has no omissions, or if they are not known. */
interface FileReadingsTable {
  file_id: string
  bot_id: string
  /** The generation that was read. */
  generation: number
  /** JSON of `Reading`. */
  reading: JsonColumn
}

export type ReadingRow = Selectable<FileReadingsTable>

/** The tags of files again, indexed for filters. */
interface FileTagsTable {
  file_id: string
  bot_id: string
  name: string
  value: string
}

/** The usage of the files of a workspace that counts towards its quotas. */
interface FileUsageTable {
  workspace_id: string
  storage_bytes: number
  vector_bytes: number
}

/** The usage of the files of a bot: what they count in that of its workspace. */
interface BotFileUsageTable {
  bot_id: string
  storage_bytes: number
  vector_bytes: number
  /** Files of which something is indexed. */
  indexed_files: number
}

/**
 * Blobs with the contents that share them: equal bytes of one bot, and their copies anywhere. A blob
 * moves to `discarded_blobs` in the transaction that ends its last use, and never comes back.
 */
interface FileBlobsTable {
  blob_key: string
  /** The bot that uploaded the bytes; equal bytes are shared within it. */
  bot_id: string
  sha256: string
  /** Bytes. */
  size: number
  /** Number of references to the blob in rows of `file_contents`. */
  uses: number
}

/** Blobs without references, which the sweeper removes. */
interface DiscardedBlobsTable {
  blob_key: string
}

/** A name for the files that have its id in the tag `kbId`. */
export interface KnowledgeBasesTable {
  id: string
  bot_id: string
  /** Id of the integration that created it; empty for the bot. */
  key_space: string
  name: string
  /** JSON map of strings. */
  tags: JsonColumn
  created_at: TimeColumn
  updated_at: TimeColumn
}

declare module '../../platform/db/schema.js' {
  interface Schema {
    files: FilesTable
    file_contents: FileContentsTable
    content_parts: ContentPartsTable
    file_readings: FileReadingsTable
    file_tags: FileTagsTable
    file_usage: FileUsageTable
    bot_file_usage: BotFileUsageTable
    file_blobs: FileBlobsTable
    knowledge_bases: KnowledgeBasesTable
    discarded_blobs: DiscardedBlobsTable
  }
}
