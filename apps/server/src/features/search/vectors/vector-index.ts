import type { Database } from '../../../platform/db/open.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { FileScope, TagCondition } from '../../files/index.js'

interface VectorEntry {
  /** Number of the row of the passage. */
  number: number
  vector: Float32Array
}

/** A passage with the cosine between its vector and the query vector, from -1 to 1. */
export interface Neighbour {
  number: number
  similarity: number
}

/** A search for the passages of a space that are nearest to a vector. */
export interface NeighbourSearch {
  space: Space
  vector: Float32Array
  /** The files to search. */
  scope: FileScope
  tags: readonly TagCondition[]
  /** Maximum number of neighbours. */
  limit: number
  /** Whether to compare with every vector, also in a large space. */
  exact: boolean
}

/** A set of vectors that can be compared with each other. */
export interface Space {
  number: number
  dimensions: number
  /** The approximate number of its passages. */
  size: number
  /** Increases whenever vectors are added. */
  revision: number
}

/** From this many passages on, PostgreSQL searches a space by an approximate index. */
export const largeSpace = 20_000

/** The vectors of one engine; it hides all differences between the engines. */
export interface VectorIndex {
  /** Creates the database objects for vectors where possible; every start tries. */
  open(database: Pick<Database, 'db' | 'run'>): Promise<void>
  /**
   * The reason why this database has no vectors, as a sentence; undefined if it has.
   * With a reason, nothing else may be called.
   */
  missing(db: Db): Promise<string | undefined>
  /** Creates the database objects for vectors of a length, once for all spaces that have it. */
  prepare(tx: Tx, dimensions: number): Promise<void>
  /** Stores vectors, or replaces those of the same passages. Deleted passages are omitted. */
  add(tx: Tx, space: Space, entries: readonly VectorEntry[]): Promise<void>
  /** The passages with the highest cosine, nearest first. */
  nearest(db: Db, search: NeighbourSearch): Promise<Neighbour[]>
  /** The cosines of the given passages; those without a vector are omitted. */
  similarities(
    db: Db,
    space: Space,
    vector: Float32Array,
    numbers: readonly number[],
  ): Promise<Neighbour[]>
}
