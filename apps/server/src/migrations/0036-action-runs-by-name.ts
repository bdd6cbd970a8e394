import type { Migration } from '../platform/db/migrate.js'

export const actionRunsByName: Migration = {
  name: '0036-action-runs-by-name',
  up: async (db) => {
    // Those of one integration, however many a bot has of others: by either of its names.
    for (const name of ['alias', 'integration']) {
      await db.schema
        .createIndex(`action_runs_by_${name}`)
        .on('action_runs')
        .columns(['bot_id', name, 'created_at', 'id'])
        .execute()
    }
    // Nothing asks by time alone: both of the others begin with the bot.
    await db.schema.dropIndex('action_runs_by_time').execute()
  },
}
