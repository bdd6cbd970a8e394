import type { Database } from '../../../platform/db/open.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { FileScope, TagCondition } from '../../files/index.js'

interface VectorEntry {
  /** Of the row of the passage. */
  number: number
  vector: Float32Array
}

/** A passage and the cosine between its vector and the one that was asked for, from -1 to 1. */
export interface Neighbour {
  number: number
  similarity: number
}

export interface NeighbourSearch {
  space: Space
  vector: Float32Array
  /** Whose files, and which of them. */
  scope: FileScope
  tags: readonly TagCondition[]
  limit: number
  /** Compares with every vector, also in a large space. */
  exact: boolean
}

/** Vectors that can be compared with each other. */
export interface Space {
  number: number
  dimensions: number
  /** About how many passages it has. */
  size: number
  /** Grows whenever vectors are added. */
  revision: number
}

/** From this many passages on, PostgreSQL searches a space by an index that may miss some. */
export const largeSpace = 20_000

/** The vectors of one engine: all that engines do differently with them is behind this. */
export interface VectorIndex {
  /** Makes what vectors need in the database, where it can hold any; every start tries. */
  open(database: Pick<Database, 'db' | 'run'>): Promise<void>
  /**
   * Why there are no vectors in this database, as a sentence; undefined if there are.
   * Nothing else may be called then.
   */
  missing(db: Db): Promise<string | undefined>
  /** Makes what vectors of a length need, once for all spaces that have it. */
  prepare(tx: Tx, dimensions: number): Promise<void>
  /** Stores vectors, or replaces those of the same passages. Passages that are gone are left out. */
  add(tx: Tx, space: Space, entries: readonly VectorEntry[]): Promise<void>
  /** The passages that point most nearly the same way, nearest first. */
  nearest(db: Db, search: NeighbourSearch): Promise<Neighbour[]>
  /** How near the given passages are; those without a vector are left out. */
  similarities(
    db: Db,
    space: Space,
    vector: Float32Array,
    numbers: readonly number[],
  ): Promise<Neighbour[]>
}
