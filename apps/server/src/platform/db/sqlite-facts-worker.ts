import { DatabaseSync } from '@photostructure/sqlite'
import { uncut } from '../workers/thread-end.js'
import { serveThread } from '../workers/thread-task.js'
import type { TableCount } from './snapshot.js'

/** The tables and migrations of a SQLite file. */
export interface SqliteFacts {
  tables: TableCount[]
  /** Names of the migrations. */
  schema: string[]
}

const ownTables = `select name from sqlite_schema where type = 'table'
  and name not like 'sqlite\\_%' escape '\\' and sql not like 'create virtual %' order by name`

/** Counts rows in a thread of its own: for a large file this takes minutes. */
serveThread<undefined, string, SqliteFacts>(
  async () => async (file) => uncut(() => readFacts(file)),
)

function readFacts(file: string): SqliteFacts {
  const database = new DatabaseSync(file)
  try {
    // One file without a log, so that it can be moved and read as it is.
    database.exec('pragma journal_mode = delete')
    const [check] = database.prepare('pragma quick_check(1)').all() as { quick_check: string }[]
    if (check?.quick_check !== 'ok') {
      throw new Error(`The database is damaged: ${check?.quick_check}`)
    }
    const names = database.prepare(ownTables).all() as { name: string }[]
    const tables = names.map(({ name }) => {
      const quoted = name.replaceAll('"', '""')
      const counted = database.prepare(`select count(*) as rows from "${quoted}"`).get()
      return { name, rows: Number((counted as { rows: number }).rows) }
    })
    const steps = tables.some(({ name }) => name === 'migrations')
      ? (database.prepare('select name from migrations order by name').all() as { name: string }[])
      : []
    return { tables, schema: steps.map(({ name }) => name) }
  } finally {
    database.close()
  }
}
