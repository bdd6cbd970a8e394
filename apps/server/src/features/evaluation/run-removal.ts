import { purge } from '../../platform/db/purge.js'
import type { Run } from '../../platform/db/schema.js'
import { deleteLastResultsOf, deleteResultsOf, deleteRun } from './runs-store.js'

/**
 * Deletes a run and its results, some per transaction. The run itself goes last, so that a removal that was interrupted
 * finds it again.
 */
export async function purgeRun(run: Run, id: string): Promise<void> {
  await purge(run, (tx, limit) => deleteResultsOf(tx, id, limit))
  await run(
    async (tx) => {
      await deleteRun(tx, id)
      // Those that it has stored meanwhile, if it still runs.
      await deleteLastResultsOf(tx, id)
    },
    { mayUseReserve: true },
  )
}
