import { createHash, randomUUID } from 'node:crypto'
import type { Transaction } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

/** The columns that this migration reads and writes, as they are now. */
type Tables = {
  bots: Owner
  integrations: Owner
  bundles: { workspace_id: string; hash: string; code: string; created_at: string }
  deployments: {
    id: string
    workspace_id: string
    owner_type: string
    owner_id: string
    bundle: string
    created_at: string
    replaced_at: string | null
  }
}

interface Owner {
  id: string
  workspace_id: string
  updated_at: string
  code: string | null
  deployment_id: string | null
}

type Old = Transaction<Tables>

/**
 * Code runs at the server. Code that was stored before becomes the deployment of its bot or integration;
 * those with an address are still called there.
 */
export const deployments: Migration = {
  name: '0066-deployments',
  up: async (db) => {
    await db.schema
      .createTable('bundles')
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull())
      .addColumn('code', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('bundles_key', ['workspace_id', 'hash'])
      .execute()
    await db.schema
      .createTable('deployments')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('owner_type', 'text', (column) => column.notNull())
      .addColumn('owner_id', 'text', (column) => column.notNull())
      .addColumn('bundle', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('replaced_at', 'text')
      .execute()
    await db.schema
      .createIndex('deployments_by_owner')
      .on('deployments')
      .columns(['owner_id', 'created_at'])
      .execute()
    await db.schema
      .createIndex('deployments_by_bundle')
      .on('deployments')
      .columns(['workspace_id', 'bundle'])
      .execute()
    for (const table of ['bots', 'integrations'] as const) {
      await db.schema.alterTable(table).addColumn('deployment_id', 'text').execute()
      await moveCode(db.withTables<Tables>(), table)
      await db.schema.alterTable(table).dropColumn('code').execute()
    }
    for (const table of ['bot_logs', 'integration_logs']) {
      await db.schema.alterTable(table).addColumn('message_id', 'text').execute()
      await db.schema.alterTable(table).addColumn('event_id', 'text').execute()
    }
    await db.schema.alterTable('access_tokens').addColumn('deployment_id', 'text').execute()
    await db.schema
      .createIndex('access_tokens_by_deployment')
      .on('access_tokens')
      .column('deployment_id')
      .where('deployment_id', 'is not', null)
      .execute()
  },
}

async function moveCode(old: Old, table: 'bots' | 'integrations'): Promise<void> {
  const owners = await old
    .selectFrom(table)
    .select('id')
    .where('code', 'is not', null)
    .where('code', '<>', '')
    .execute()
  for (const { id } of owners) {
    const owner = await old
      .selectFrom(table)
      .select(['workspace_id', 'code', 'updated_at'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    const code = owner.code ?? ''
    const hash = createHash('sha256').update(code).digest('hex')
    const { workspace_id, updated_at: created_at } = owner
    await old
      .insertInto('bundles')
      .values({ workspace_id, hash, code, created_at })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    const deployment_id = randomUUID()
    await old
      .insertInto('deployments')
      .values({
        id: deployment_id,
        workspace_id,
        owner_type: table === 'bots' ? 'bot' : 'integration',
        owner_id: id,
        bundle: hash,
        created_at,
        replaced_at: null,
      })
      .execute()
    await old.updateTable(table).set({ deployment_id }).where('id', '=', id).execute()
  }
}
