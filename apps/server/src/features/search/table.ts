import type { PassageKind } from '@botstead/documents'
import type { Generated } from 'kysely'
import type { JsonColumn, TimeColumn } from '../../platform/db/columns.js'

/** One row per passage. Which generation of a file is found is in the row of the file. */
export interface PassagesTable {
  /** The keyword index knows the passage by this number. */
  number: Generated<number>
  /** UUID. */
  id: string
  bot_id: string
  file_id: string
  generation: number
  /** Place in the file, from 0. */
  position: number
  subtype: PassageKind
  page_number: number | null
  /** Markdown. */
  content: string
  /** JSON list of the headings above the passage, the title first. */
  headings: JsonColumn
  /** JSON list of the headings that the passage begins with. */
  own_headings: JsonColumn
  /** Where the passage begins and ends in the normalized text of the file, in UTF-16 units. */
  start_offset: number
  end_offset: number
}

/** A word that some passage of a bot has, or had. */
interface BotWordsTable {
  bot_id: string
  word: string
  /** The word backwards. */
  reversed: string
}

/** What makes the vectors of one bot, at one time. */
interface SemanticSpacesTable {
  number: Generated<number>
  bot_id: string
  /** Which maker of vectors, in which version; vectors of different ones cannot be compared. */
  embedder: string
  dimensions: number
  /** Whether searches use it; a bot has at most one of these. */
  serving: number
  /** How many passages of the bot it was built from. */
  passages: number
  /** How many it has, about: counted after vectors are made. */
  size: Generated<number>
  /** Grows whenever vectors are added, so that a copy in memory is known to be old. */
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

/** On PostgreSQL there only with pgvector. What is in the other columns is the engine's own. */
interface PassageVectorsTable {
  space: number
  number: number
  /** On SQLite, a byte per number. */
  vector: Uint8Array
  /** On SQLite, that of the space since when it is there. */
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
