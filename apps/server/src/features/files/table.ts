import type { Selectable } from 'kysely'
import type { JsonColumn, TimeColumn } from '../../platform/db/columns.js'

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
 * One row per file: the description by its latest upsert, and which generations of content and passages are
 * served meanwhile. Each upsert begins a generation; see `generations.ts`.
 */
export interface FilesTable {
  id: string
  workspace_id: string
  bot_id: string
  key: string
  /** Id of the integration whose keys these are, empty for those of the bot; keys are unique in it. */
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
  /** Whether those passages were indexed for every integration of the bot to see. */
  passages_shared: Flag
  /** Of the latest generation. */
  status: FileStatus
  failed_reason: string | null
  /** Bytes; -1 until the upload has completed, because lists sort by it and null has no place there. */
  size: number
  /** Hex, of the content that has the size; null until then. */
  sha256: string | null
  content_type: string
  /** JSON map of strings; `file_tags` holds the same for filters. */
  tags: JsonColumn
  metadata: JsonColumn
  public_content: Flag
  /** Policy `integrations`. */
  shared: Flag
  /** Whether the latest generation is to be indexed. */
  indexed: Flag
  expires_at: TimeColumn | null
  /** JSON of `IndexingProgress`: how far the indexing of a generation is, or was. */
  progress: JsonColumn | null
  /** Bytes that this file counts in the usage of its workspace. */
  counted_storage: number
  counted_vector: number
  created_at: TimeColumn
  updated_at: TimeColumn
}

export type FileRow = Selectable<FilesTable>

/** One row per generation that is still of use: the latest, the served one, and those between. */
export interface FileContentsTable {
  bot_id: string
  file_id: string
  generation: number
  status: FileStatus
  /** Bytes: as declared, which is what an upload must have. */
  size: number
  /** Null until the upload has completed. */
  blob_key: string | null
  /** Hex, as `blob_key`. */
  sha256: string | null
  content_type: string
  /** Policies of this content: wider ones of a later upsert must not open it. */
  public_content: Flag
  shared: Flag
  /** Public as soon as it is there, before it is indexed. */
  immediate: Flag
  indexed: Flag
  /** `indexing` of the upsert. */
  indexing: JsonColumn | null
  /** Blob of the passages that the caller gave in place of those that the content has. */
  passages_blob_key: string | null
  /** Whether its content was there before: if it cannot be indexed, the former passages stay. */
  remade: Flag
  created_at: TimeColumn
  /** Which request may store bytes: the newest one. Null while none has claimed the upload. */
  writer: string | null
  /** Bytes in `content_parts`, null when the content did not begin to come in parts. */
  received: number | null
}

export type ContentRow = Selectable<FileContentsTable>

/** Bytes of a content that comes in parts: without gaps from 0. They go once it is complete. */
interface ContentPartsTable {
  bot_id: string
  file_id: string
  generation: number
  /** Where the part begins in the content, in bytes. */
  start: number
  /** Bytes. */
  size: number
  blob_key: string
}

export type PartRow = Selectable<ContentPartsTable>

/** The tags of files once more, where filters find them. */
interface FileTagsTable {
  file_id: string
  bot_id: string
  name: string
  value: string
}

/** What the files of a workspace count against its quotas. */
interface FileUsageTable {
  workspace_id: string
  storage_bytes: number
  vector_bytes: number
}

/**
 * Blobs with the contents that share them: equal bytes of one bot, and their copies anywhere. A blob
 * whose last use ends moves to `discarded_blobs` in the same transaction, and never comes back.
 */
interface FileBlobsTable {
  blob_key: string
  /** The bot that sent the bytes, and finds them again by their hash. */
  bot_id: string
  sha256: string
  /** Bytes. */
  size: number
  /** How many rows of `file_contents` name the blob. */
  uses: number
}

/** Blobs that nothing refers to any more and that the sweeper removes. */
interface DiscardedBlobsTable {
  blob_key: string
}

/** A name for the files that carry its id in the tag `kbId`. */
export interface KnowledgeBasesTable {
  id: string
  bot_id: string
  /** Id of the integration that made it; empty for the bot. */
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
    file_tags: FileTagsTable
    file_usage: FileUsageTable
    file_blobs: FileBlobsTable
    knowledge_bases: KnowledgeBasesTable
    discarded_blobs: DiscardedBlobsTable
  }
}
