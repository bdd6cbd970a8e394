import type { Migration } from '../platform/db/migrate.js'

/** The history of the schema, oldest first. Append only: a released migration never changes. */
export const migrations: readonly Migration[] = []
