import type { Kysely, Transaction } from 'kysely'

/**
 * Every table of the database. Each `table.ts` adds its own tables to it (`declare module`), so that
 * the platform knows no slice and no list is kept by hand.
 */
// biome-ignore lint/suspicious/noEmptyInterface: it is filled where the tables are
export interface Schema {}

/** Handle for reads outside a transaction: sees committed data only. */
export type Db = Kysely<Schema>
/** Handle of one transaction: the only thing that can write. */
export type Tx = Transaction<Schema>
/** Runs work in a transaction and resolves once it is durable. The work awaits queries of `tx` only. */
export type Run = <T>(work: (tx: Tx) => Promise<T>, options?: RunOptions) => Promise<T>

/** Options of a transaction. */
export interface RunOptions {
  /**
   * Whether it may use the disk reserve, so that it succeeds on a full disk: it deletes, revokes access
   * or ends something, or a start needs it. Default false.
   */
  readonly mayUseReserve?: boolean
}
