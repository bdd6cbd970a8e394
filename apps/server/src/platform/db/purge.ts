import type { Run, Tx } from './schema.js'

const rowsPerTransaction = 500

/**
 * Deletes many rows, some per transaction, so that other transactions do not wait long for the database.
 * @param remove deletes at most `limit` rows and returns how many it found
 * @param rows how many one transaction deletes, at least 1; fewer where each takes long
 */
export async function purge(
  run: Run,
  remove: (tx: Tx, limit: number) => Promise<number>,
  rows = rowsPerTransaction,
): Promise<void> {
  while ((await run((tx) => remove(tx, rows), { mayUseReserve: true })) > 0);
}
