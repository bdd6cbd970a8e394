import type { Transaction } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

/** The columns that this migration reads and writes, as they are now. */
type Tables = {
  integrations: {
    id: string
    workspace_id: string
    name: string
    definition: string
    created_at: string
  }
  installations: { identifier: string | null; identified_at: string | null; created_at: string }
  shared_addresses: { address: string; workspace_id: string; name: string; created_at: string }
}

/**
 * Addresses that all installations of an integration share, and since when an installation has its account: requests
 * at such an address are for the installation that has the account which they are about.
 */
export const sharedAddresses: Migration = {
  name: '0070-shared-addresses',
  up: async (db) => {
    await db.schema
      .createTable('shared_addresses')
      .addColumn('address', 'text', (column) => column.primaryKey())
      .addColumn('workspace_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('shared_addresses_by_workspace')
      .on('shared_addresses')
      .column('workspace_id')
      .execute()
    await db.schema.alterTable('installations').addColumn('identified_at', 'text').execute()
    await db.schema
      .createIndex('installations_by_identifier')
      .on('installations')
      .columns(['identifier', 'integration_id'])
      .where('identifier', 'is not', null)
      .execute()
    await db.schema
      .createIndex('integrations_by_name_and_workspace')
      .on('integrations')
      .columns(['name', 'workspace_id'])
      .execute()
    const old = db.withTables<Tables>()
    await old
      .updateTable('installations')
      .set(({ ref }) => ({ identified_at: ref('created_at') }))
      .where('identifier', 'is not', null)
      .execute()
    await giveAddresses(old)
  },
}

/** An integration that has scripts for it gets the address of its name, the oldest of a name first. */
async function giveAddresses(old: Transaction<Tables>): Promise<void> {
  const integrations = await old
    .selectFrom('integrations')
    .select(['workspace_id', 'name', 'definition', 'created_at'])
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  for (const { workspace_id, name, definition, created_at } of integrations) {
    const { identifier = {} } = Object(JSON.parse(definition))
    const { extractScript, fallbackHandlerScript } = Object(identifier)
    if (!extractScript && !fallbackHandlerScript) continue
    const [, withoutHandle = name] = name.split('/')
    for (const address of new Set([name, withoutHandle])) {
      await old
        .insertInto('shared_addresses')
        .values({ address, workspace_id, name, created_at })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    }
  }
}
