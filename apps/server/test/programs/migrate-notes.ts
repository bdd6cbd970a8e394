import { migrate } from '../../src/platform/db/migrate.js'
import { openDatabase } from '../../src/platform/db/open.js'
import { notesMigration } from '../notes.js'

// Migrates a database as a starting server does, and prints the steps that it took.
await using database = await openDatabase(JSON.parse(process.argv[2] ?? '{}'))
const second = {
  name: '0002-count',
  up: async (tx: Parameters<typeof notesMigration.up>[0]) => {
    await tx.schema.alterTable('notes').addColumn('count', 'integer').execute()
  },
}
const steps = await migrate(database, [notesMigration, second])
process.stdout.write(`${JSON.stringify(steps)}\n`)
