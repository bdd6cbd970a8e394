import type { PassageKind } from '@botstead/documents'
import type { Generated } from 'kysely'
import type { JsonColumn, TimeColumn } from '../../platform/db/columns.js'

/** One row per passage. The row of the file determines which generation is found. */
export interface PassagesTable {
  /** Identifies the passage in the keyword index. */
  number: Generated<number>
  /** UUID. */
  id: string
  bot_id: string
  file_id: string
  generation: number
  /** Position in the file, from 0. */
  position: number
  subtype: PassageKind
  page_number: number | null
  /** Markdown. */
  content: string
  /** JSON list of the headings above the passage, the title first. */
  headings: JsonColumn
  /** JSON list of the headings that the passage begins with. */
  own_headings: JsonColumn
  /** The range of the passage in the normalized text of the file, in UTF-16 units. */
  start_offset: number
  end_offset: number
}

/** A word that some passage of a bot has or had. */
interface BotWordsTable {
  bot_id: string
  word: string
  /** The reversed word. */
  reversed: string
}

/** A set of comparable vectors of one bot. */
interface SemanticSpacesTable {
  number: Generated<number>
  bot_id: string
  /** The embedder and its version; vectors of different ones cannot be compared. */
  embedder: string
  dimensions: number
  /** Whether searches use it; a bot has at most one such space. */
  serving: number
  /** The number of passages from which it was built. */
  passages: number
  /** The approximate number of its vectors: counted after vectors are made. */
  size: Generated<number>
  /** Increases whenever vectors are added, so that a copy in memory can be recognised as stale. */
  revision: Generated<number>
  /** The fitted model, if the embedder is the built-in one. */
  model: Uint8Array | null
  created_at: TimeColumn
}

/** Passages that wait for the job that makes their vectors. */
interface PassagesWithoutVectorTable {
  bot_id: string
  number: number
}

/** On PostgreSQL it exists only with pgvector. Further columns depend on the engine. */
interface PassageVectorsTable {
  space: number
  number: number
  /** On SQLite, one byte per number. */
  vector: Uint8Array
  /** On SQLite, the revision of the space that added the vector. */
  revision: number
}

declare module '../../platform/db/schema.js' {
  interface Schema {
    passages: PassagesTable
    bot_words: BotWordsTable
    semantic_spaces: SemanticSpacesTable
    passages_without_vector: PassagesWithoutVectorTable
    passage_vectors: PassageVectorsTable
  }
}
