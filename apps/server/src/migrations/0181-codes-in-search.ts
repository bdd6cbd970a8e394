import type { Migration } from '../platform/db/migrate.js'
import { type PassagesAndJobs, replaceLater } from './0160-part-numbers-in-search.js'

/** Telephone numbers, bank accounts and codes with points are found in any notation. */
export const codesInSearch: Migration = {
  name: '0181-codes-in-search',
  up: async (tx) => {
    await replaceLater(tx.withTables<PassagesAndJobs>())
  },
}
