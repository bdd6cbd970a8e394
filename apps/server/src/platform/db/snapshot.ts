import type { Db } from './schema.js'

/** A database as it was at one moment, whatever is written meanwhile. */
export interface DatabaseSnapshot {
  readonly engine: 'sqlite' | 'postgres'
  /** Reads of that moment. */
  readonly db: Db
  /** Names of the migrations that it had. */
  readonly schema: readonly string[]
  /** Everything that is in it, in parts that are read one after the other, each to its end. */
  parts(): AsyncIterable<SnapshotPart>
  /** The rows of each table; after all parts have been read. */
  tables(): Promise<readonly TableCount[]>
  close(): Promise<void>
}

export interface SnapshotPart {
  name: string
  /** Of the rows of a table; empty for a file. */
  columns: readonly string[]
  content: AsyncIterable<Buffer>
}

export interface TableCount {
  name: string
  rows: number
}
