import type { Run, Tx } from '../../schema.js'

const rowsPerTransaction = 500

/**
 * Deletes many rows, some per transaction, so that nobody else waits long for the database.
 * @param remove deletes at most `limit` rows and answers how many it found
 */
export async function purge(
  run: Run,
  remove: (tx: Tx, limit: number) => Promise<number>,
): Promise<void> {
  while ((await run((tx) => remove(tx, rowsPerTransaction))) > 0);
}
