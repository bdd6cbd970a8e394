import { sql, type Transaction } from 'kysely'
import type { Migration, Progress } from '../platform/db/migrate.js'

/**
 * One table for the logs of bots and of integrations, whose lines name the workspace that reads them. Attempts at
 * deliveries, which are lines of these logs too, name it in their own table.
 */
export const logLines: Migration = {
  name: '0170-log-lines',
  up: async (db, dialect, progress) => {
    await createTable(db)
    await copyLines(db, 'bot_logs', 'bot', progress)
    await copyLines(db, 'integration_logs', 'integration', progress)
    await createIndexes(db, progress)
    await addWorkspaces(db, dialect.name, progress)
  },
}

async function createTable(db: Transaction<unknown>): Promise<void> {
  await db.schema
    .createTable('log_lines')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('workspace_id', 'text', (column) => column.notNull())
    .addColumn('bot_id', 'text', (column) => column.notNull())
    .addColumn('integration_id', 'text')
    .addColumn('level', 'text', (column) => column.notNull())
    .addColumn('message', 'text', (column) => column.notNull())
    .addColumn('user_id', 'text')
    .addColumn('workflow_id', 'text')
    .addColumn('conversation_id', 'text')
    .addColumn('message_id', 'text')
    .addColumn('event_id', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
}

/** Rows that are copied or changed by one statement. */
const rowsAtOnce = 20_000

/** Calls `work` for one part of a table after the other, by a column that sorts as text. */
async function inParts(
  db: Transaction<unknown>,
  table: string,
  column: string,
  progress: Progress,
  work: (after: string, until: string) => Promise<void>,
): Promise<void> {
  const key = sql.ref(column)
  let after = ''
  for (let rows = rowsAtOnce; ; rows += rowsAtOnce) {
    const { rows: found } = await sql<{ until: string }>`
      select ${key} as until from ${sql.table(table)} where ${key} > ${after}
      order by ${key} limit 1 offset ${rowsAtOnce - 1}`.execute(db)
    const until = found[0]?.until
    // Sorts after every id.
    await work(after, until ?? '~')
    if (until === undefined) return
    after = until
    progress({ table, rows })
  }
}

/** Moves the lines of an old table; those of bots and integrations that are gone would be deleted with them. */
async function copyLines(
  db: Transaction<unknown>,
  from: 'bot_logs' | 'integration_logs',
  owner: 'bot' | 'integration',
  progress: Progress,
): Promise<void> {
  const ofOwner = owner === 'bot' ? sql`null, l.workflow_id` : sql`l.integration_id, null`
  await inParts(db, from, 'id', progress, async (after, until) => {
    await sql`
      insert into log_lines (id, workspace_id, bot_id, integration_id, workflow_id, level, message,
        user_id, conversation_id, message_id, event_id, created_at)
      select l.id, o.workspace_id, l.bot_id, ${ofOwner}, l.level, l.message,
        l.user_id, l.conversation_id, l.message_id, l.event_id, l.created_at
      from ${sql.table(from)} as l
      join ${sql.table(`${owner}s`)} as o on o.id = l.${sql.ref(`${owner}_id`)}
      where l.id > ${after} and l.id <= ${until}`.execute(db)
  })
  await db.schema.dropTable(from).execute()
}

/** Each line is in the indexes of its owner alone; `created_at` and `id` are the order of every list. */
async function createIndexes(db: Transaction<unknown>, progress: Progress): Promise<void> {
  const isOf = { bot: 'integration_id is null', integration: 'integration_id is not null' }
  const position = 'created_at, id'
  const indexes: readonly [name: string, columns: string, where: string][] = [
    ['of_workspace', `workspace_id, level, ${position}`, isOf.bot],
    ['of_bot', `bot_id, level, ${position}`, isOf.bot],
    ['by_age', 'created_at', isOf.bot],
    ['of_integrations', `workspace_id, level, ${position}`, isOf.integration],
    ['of_integration', `integration_id, level, ${position}`, isOf.integration],
    ['of_integrations_by_bot', `bot_id, level, ${position}, integration_id`, isOf.integration],
    ['of_integrations_by_age', 'created_at', isOf.integration],
    ...['user', 'workflow', 'conversation'].map((subject): [string, string, string] => [
      `by_${subject}`,
      `workspace_id, ${subject}_id, ${position}`,
      `${subject}_id is not null`,
    ]),
  ]
  for (const [name, columns, where] of indexes) {
    await sql`
      create index ${sql.ref(`log_lines_${name}`)} on log_lines (${sql.raw(columns)})
      where ${sql.raw(where)}`.execute(db)
    progress({ index: `log_lines_${name}` })
  }
}

async function addWorkspaces(
  db: Transaction<unknown>,
  engine: 'sqlite' | 'postgres',
  progress: Progress,
): Promise<void> {
  const table = 'delivery_attempts'
  await db.schema
    .alterTable(table)
    .addColumn('workspace_id', 'text', (column) => column.notNull().defaultTo(''))
    .execute()
  await inParts(db, table, 'delivery_id', progress, async (after, until) => {
    const workspace = sql`(select b.workspace_id from bots as b where b.id = ${sql.table(table)}.bot_id)`
    await sql`
      update ${sql.table(table)} set workspace_id = coalesce(${workspace}, '')
      where delivery_id > ${after} and delivery_id <= ${until}`.execute(db)
  })
  const columns = 'workspace_id, ended_at, bot_id'
  await sql`create index delivery_attempts_of_workspace on ${sql.table(table)} (${sql.raw(columns)})`.execute(
    db,
  )
  await sql`
    create index delivery_attempts_failed_of_workspace on ${sql.table(table)} (${sql.raw(columns)})
    where error is not null`.execute(db)
  // PostgreSQL knows nothing of new columns and tables, until it would look at them by itself some minutes later.
  if (engine === 'postgres') {
    await sql`analyze log_lines`.execute(db)
    await sql`analyze ${sql.table(table)}`.execute(db)
  }
}
