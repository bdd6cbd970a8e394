import { sql, type Transaction } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

/** Logs of a whole workspace: by level, and by what a line is about. */
export const workspaceLogs: Migration = {
  name: '0056-workspace-logs',
  up: async (db) => {
    await createIndex(db, 'bot_logs_by_level', 'bot_logs', 'bot_id, level, created_at, id')
    for (const subject of ['user', 'workflow']) {
      const column = `${subject}_id`
      const columns = `bot_id, ${column}, created_at, id`
      await createIndex(db, `bot_logs_by_${subject}`, 'bot_logs', columns, `${column} is not null`)
    }
    const ofLog = 'integration_logs'
    await createIndex(
      db,
      'integration_logs_by_level',
      ofLog,
      'integration_id, level, created_at, id',
    )
    await createIndex(db, 'integration_logs_by_bot', ofLog, 'bot_id, level, created_at, id')
    // Few attempts fail, so that this costs the others nothing.
    const failed = 'error is not null'
    const attempts = 'delivery_attempts'
    await createIndex(db, 'delivery_attempts_failed', attempts, 'bot_id, started_at', failed)
  },
}

async function createIndex(
  db: Transaction<unknown>,
  name: string,
  table: string,
  columns: string,
  where?: string,
): Promise<void> {
  const condition = where === undefined ? sql`` : sql`where ${sql.raw(where)}`
  await sql`
    create index ${sql.ref(name)} on ${sql.table(table)} (${sql.raw(columns)}) ${condition}
  `.execute(db)
}
