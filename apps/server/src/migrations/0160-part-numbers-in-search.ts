import type { Transaction } from 'kysely'
import { isoTime, systemClock } from '../platform/clock.js'
import type { Migration } from '../platform/db/migrate.js'
import { createIds } from '../platform/ids.js'

export type PassagesAndJobs = {
  passages: { bot_id: string }
  jobs: Record<string, string | number | null>
}

/**
 * Part numbers are found in any notation, and digits of every script: the entries of all passages are replaced, by a job
 * for each bot, because doing so here would delay the start by minutes.
 */
export const partNumbersInSearch: Migration = {
  name: '0160-part-numbers-in-search',
  up: async (tx) => {
    await replaceLater(tx.withTables<PassagesAndJobs>())
  },
}

/** Enqueues the job of each bot that replaces the entries of its passages. */
export async function replaceLater(db: Transaction<PassagesAndJobs>): Promise<void> {
  const bots = await db.selectFrom('passages').select('bot_id').distinct().execute()
  const ids = createIds()
  const now = isoTime(systemClock.now())
  for (const { bot_id: botId } of bots) {
    const row = {
      id: ids.next('job'),
      kind: 'search.names',
      key: botId,
      payload: JSON.stringify({ botId }),
      state: 'waiting',
      priority: 2,
      due_at: now,
      follow_up_at: null,
      attempts: 0,
      max_attempts: 20,
      deadline_milliseconds: 86_400_000,
      claims: 0,
      owner: null,
      last_error: null,
      created_at: now,
      updated_at: now,
    }
    // The job of an earlier migration may still be waiting.
    await db
      .insertInto('jobs')
      .values(row)
      .onConflict((conflict) => conflict.columns(['kind', 'key']).doNothing())
      .execute()
  }
}
