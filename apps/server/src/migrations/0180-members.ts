import { createHash } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

/**
 * Members with ids of their own, open invitations among them; limits of personal tokens; and the lists of members who may
 * see a bot. Everybody who was a member stays one, with the same role.
 */
export const members: Migration = {
  name: '0180-members',
  up: async (db) => {
    await rebuildMembers(db)
    await db.schema
      .alterTable('access_tokens')
      .addColumn('read_only', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
    await db.schema
      .createTable('bot_allowlists')
      .addColumn('bot_id', 'text', (column) => column.primaryKey())
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('is_limited', 'integer', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('bot_allowlists_by_workspace')
      .on('bot_allowlists')
      .columns(['workspace_id'])
      .execute()
    await db.schema
      .createTable('bot_allowlist_members')
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('bot_allowlist_members_key', ['bot_id', 'account_id'])
      .execute()
    await db.schema
      .createIndex('bot_allowlist_members_by_member')
      .on('bot_allowlist_members')
      .columns(['workspace_id', 'account_id'])
      .execute()
  },
}

interface OldMember {
  workspace_id: string
  account_id: string
  role: string
  created_at: string
}

/** The key of the table changes, which SQLite does not do in place. */
async function rebuildMembers(db: Transaction<unknown>): Promise<void> {
  const { rows } = await sql<OldMember>`select * from workspace_members`.execute(db)
  await db.schema.dropTable('workspace_members').execute()
  await db.schema
    .createTable('workspace_members')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('workspace_id', 'text', (column) =>
      column.notNull().references('workspaces.id').onDelete('cascade'),
    )
    .addColumn('account_id', 'text', (column) =>
      column.references('accounts.id').onDelete('cascade'),
    )
    .addColumn('email', 'text')
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('invitation_hash', 'text', (column) => column.unique())
    .addColumn('invitation_expires_at', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('workspace_members_of_account', ['workspace_id', 'account_id'])
    .addUniqueConstraint('workspace_members_of_email', ['workspace_id', 'email'])
    .execute()
  await db.schema
    .createIndex('workspace_members_by_account')
    .on('workspace_members')
    .columns(['account_id', 'workspace_id'])
    .execute()
  for (const row of rows) {
    const digest = createHash('sha256')
      .update(`${row.workspace_id} ${row.account_id}`)
      .digest('hex')
    const id = `member_${digest.slice(0, 26).toUpperCase()}`
    await sql`insert into workspace_members (id, workspace_id, account_id, role, created_at)
      values (${id}, ${row.workspace_id}, ${row.account_id}, ${row.role}, ${row.created_at})`.execute(
      db,
    )
  }
}
