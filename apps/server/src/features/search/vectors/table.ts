import type { Generated } from 'kysely'
import type { TimeColumn } from '../../../platform/db/columns.js'

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
  /** Grows whenever vectors are added, so that who holds a copy sees that it is old. */
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

declare module '../../../platform/db/schema.js' {
  interface Schema {
    semantic_spaces: SemanticSpacesTable
    passages_without_vector: PassagesWithoutVectorTable
    passage_vectors: PassageVectorsTable
  }
}
