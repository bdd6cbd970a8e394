import type { Migration } from '../platform/db/migrate.js'

type Tables = {
  access_tokens: { deployment_id: string | null }
  bots: Owner
  integrations: Owner
}

interface Owner {
  url: string | null
  deployment_id: string | null
}

/**
 * Keys of deployed code end with their programs. Those of deployments that are not in force were left behind: by owners
 * that got an address, and by servers that were killed.
 */
export const keysOfPrograms: Migration = {
  name: '0140-keys-of-programs',
  up: async (db) => {
    const tables = db.withTables<Tables>()
    const inForce = (table: 'bots' | 'integrations') =>
      tables
        .selectFrom(table)
        .select('deployment_id')
        .where('deployment_id', 'is not', null)
        .where('url', 'is', null)
    await tables
      .deleteFrom('access_tokens')
      .where('deployment_id', 'is not', null)
      .where('deployment_id', 'not in', inForce('bots'))
      .where('deployment_id', 'not in', inForce('integrations'))
      .execute()
  },
}
