import { sql, type Transaction } from 'kysely'
import { isoTime, systemClock } from '../platform/clock.js'
import type { Migration } from '../platform/db/migrate.js'
import { createIds } from '../platform/ids.js'

type Tables = { jobs: Record<string, string | number | null> }

/** Tables whose rows belong to a workspace directly; all other rows are deleted with these. */
const owned = ['bots', 'integrations', 'interfaces', 'plugins', 'access_tokens'] as const

/**
 * Earlier servers let other processes create bots, integrations, interfaces, plugins and keys in a workspace for five seconds
 * after its deletion. Nobody can reach them, and chats of such bots still accept users. They are deleted by jobs, as they
 * would have been with the workspace.
 */
export const leftoversOfWorkspaces: Migration = {
  name: '0131-leftovers-of-workspaces',
  up: async (db) => {
    const gone = new Set<string>()
    for (const table of owned) {
      const { rows } = await sql<{ workspace_id: string }>`
        select distinct workspace_id from ${sql.table(table)}
        where workspace_id is not null and workspace_id not in (select id from workspaces)`.execute(
        db,
      )
      for (const { workspace_id } of rows) gone.add(workspace_id)
    }
    await removeLater(db.withTables<Tables>(), gone)
  },
}

async function removeLater(db: Transaction<Tables>, workspaceIds: ReadonlySet<string>) {
  const ids = createIds()
  const now = isoTime(systemClock.now())
  for (const workspaceId of workspaceIds) {
    const row = {
      id: ids.next('job'),
      kind: 'workspaces.leftovers',
      key: workspaceId,
      payload: JSON.stringify({ workspaceId }),
      state: 'waiting',
      priority: 2,
      due_at: now,
      attempts: 0,
      max_attempts: 20,
      deadline_milliseconds: 3_600_000,
      claims: 0,
      created_at: now,
      updated_at: now,
    }
    await db.insertInto('jobs').values(row).execute()
  }
}
