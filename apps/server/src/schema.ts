import type { Kysely, Transaction } from 'kysely'

/** Every table of the database. Each slice and platform part contributes its own fragment. */
// biome-ignore lint/suspicious/noEmptyInterface: fragments are added with their slices
export interface Schema {}

/** Handle for reads outside a transaction: sees committed data only. */
export type Db = Kysely<Schema>
/** Handle of one transaction: the only thing that can write. */
export type Tx = Transaction<Schema>
