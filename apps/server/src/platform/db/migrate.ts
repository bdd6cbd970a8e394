import {
  type ColumnDefinitionNode,
  type CreateTableNode,
  DataTypeNode,
  type Kysely,
  type KyselyPlugin,
  OperationNodeTransformer,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  type QueryId,
  type QueryResult,
  RawNode,
  type RootOperationNode,
  type Transaction,
  type UnknownRow,
} from 'kysely'
import type { Logger } from 'pino'
import { isoTime, systemClock } from '../clock.js'
import type { Dialect } from './dialect.js'
import type { Database } from './engine.js'
import { DatabaseHistoryError } from './errors.js'
import { copySqliteFile } from './sqlite-files.js'

/** One step in the history of the schema. Never changed once released. */
export interface Migration {
  /** `NNNN-name`, as the file; the names of a list ascend. */
  readonly name: string
  /**
   * Makes the change with nothing but queries of `tx`. Columns are text, integer, real or blob;
   * what only one engine has is raw SQL chosen by `dialect.name`.
   */
  up(tx: Transaction<unknown>, dialect: Dialect, progress: Progress): Promise<void>
}

/** Is told by a long step how far it is; the log repeats it every few seconds. */
export type Progress = (reached: { table: string; rows: number } | { index: string }) => void

type History = {
  migrations: { name: string; applied_at: string }
}

/**
 * Brings the database to the end of the list and returns the names of the steps it took. All steps
 * share one transaction, so a release is entered whole or not at all, and of several processes that
 * start together one does the work while the others wait. A SQLite file with a history is first
 * copied to `<file>.before-migration`, in place of an older copy.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  log?: Logger,
): Promise<readonly string[]> {
  // Most starts find nothing to do, and then need neither the lock nor a check of every row.
  if ((await pendingMigrationsOf(database, migrations)).length === 0) return []

  const steps = await database.upgrade((tx) => upgrade(database, tx, migrations, log))
  if (steps.length > 0) {
    const milliseconds = steps.reduce((sum, step) => sum + step.milliseconds, 0)
    log?.info({ steps: steps.length, milliseconds }, 'database migrated')
    log?.debug({ steps }, 'steps of the migration')
  }
  return steps.map((step) => step.migration)
}

/**
 * The migrations that a database lacks.
 * @throws DatabaseHistoryError
 */
export async function pendingMigrationsOf(
  { db, dialect, file }: Pick<Database, 'db' | 'dialect' | 'file'>,
  migrations: readonly Migration[],
): Promise<readonly Migration[]> {
  const started = await dialect.hasTable(db, 'migrations')
  const known = started ? await appliedNames(db.withTables<History>()) : []
  return pendingMigrations(migrations, known, file)
}

interface Step {
  readonly migration: string
  readonly milliseconds: number
}

async function upgrade(
  { dialect, file }: Database,
  tx: Transaction<unknown>,
  migrations: readonly Migration[],
  log: Logger | undefined,
): Promise<Step[]> {
  const history = await openHistory(tx, dialect)
  // Another process may have done it all while this one waited for the lock.
  const applied = await appliedNames(history)
  const pending = pendingMigrations(migrations, applied, file)
  if (pending.length > 0 && applied.length > 0) {
    log?.info({ count: pending.length }, 'migrating the database')
    if (file !== undefined) {
      // The transaction holds off every writer, so the copy is exactly what the steps start from.
      const copy = copySqliteFile(file, `${file}.before-migration`)
      log?.info({ copy }, 'database file copied before migrating')
    }
  }
  return await takeSteps(tx, dialect, pending, log)
}

/** Milliseconds of migrating after which the log tells how far it is. */
const progressMs = 5000

/** Applies migrations to a database that has those before them, in the transaction of the caller. */
export async function takeSteps(
  tx: Transaction<unknown>,
  dialect: Dialect,
  pending: readonly Migration[],
  log?: Logger,
): Promise<Step[]> {
  const kinds = tx.withPlugin(columnKinds(dialect))
  const history = await openHistory(tx, dialect)
  const steps: Step[] = []
  let toldAt = performance.now()
  function tell(reached: object): void {
    if (performance.now() - toldAt < progressMs) return
    toldAt = performance.now()
    log?.info({ done: steps.length, of: pending.length, ...reached }, 'still migrating')
  }
  for (const { name, up } of pending) {
    const start = performance.now()
    await up(kinds, dialect, (reached) => tell({ step: name, ...reached }))
    const row = { name, applied_at: isoTime(systemClock.now()) }
    await history.insertInto('migrations').values(row).execute()
    steps.push({ migration: name, milliseconds: Math.round(performance.now() - start) })
    tell({ last: name })
  }
  return steps
}

async function openHistory(tx: Transaction<unknown>, dialect: Dialect) {
  const history = tx.withPlugin(columnKinds(dialect)).withTables<History>()
  await history.schema
    .createTable('migrations')
    .ifNotExists()
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('applied_at', 'text', (column) => column.notNull())
    .execute()
  return history
}

/** Names of the migrations that a database has. */
async function appliedNames(db: Kysely<History>): Promise<string[]> {
  const rows = await db.selectFrom('migrations').select('name').orderBy('name').execute()
  return rows.map((row) => row.name)
}

/**
 * The migrations that a database lacks.
 * @param file of SQLite, for the advice in errors
 * @throws DatabaseHistoryError
 */
function pendingMigrations(
  migrations: readonly Migration[],
  applied: readonly string[],
  file?: string,
): readonly Migration[] {
  const names = migrations.map((migration) => migration.name)
  if (names.some((name, index) => name <= (names[index - 1] ?? ''))) {
    throw new Error('The names of the migrations must ascend')
  }
  const unknown = applied.filter((name) => !names.includes(name))
  if (unknown.length > 0) {
    throw new DatabaseHistoryError(
      `The database was used by a newer release, which added ${unknown.join(', ')}: start that release or a later one. ${wayBack(file)}`,
    )
  }
  const missing = names.slice(0, applied.length).filter((name) => !applied.includes(name))
  if (missing.length > 0) {
    throw new DatabaseHistoryError(
      `The database lacks ${missing.join(', ')}, although later migrations were applied: it is of another line of releases. ${wayBack(file)}`,
    )
  }
  return migrations.slice(applied.length)
}

/** Instructions for undoing an upgrade. */
function wayBack(file: string | undefined): string {
  const copy =
    file === undefined
      ? ''
      : `, or put ${file}.before-migration, the copy from before the upgrade, in place of ${file} and delete ${file}-wal and ${file}-shm`
  return `To go back to this release, restore a backup from before the upgrade${copy}; what was written since is lost.`
}

/** Replaces the portable column kinds of a migration by the types of one engine. */
class ColumnKinds extends OperationNodeTransformer {
  readonly #types: Dialect['columnTypes']
  readonly #strict: boolean

  constructor(dialect: Dialect) {
    super()
    this.#types = dialect.columnTypes
    this.#strict = dialect.name === 'sqlite'
  }

  protected override transformCreateTable(
    node: CreateTableNode,
    queryId?: QueryId,
  ): CreateTableNode {
    const table = super.transformCreateTable(node, queryId)
    if (!this.#strict) return table
    // Without it SQLite stores any value in any column, which PostgreSQL then refuses.
    return {
      ...table,
      endModifiers: [...(table.endModifiers ?? []), RawNode.createWithSql('strict')],
    }
  }

  protected override transformColumnDefinition(
    node: ColumnDefinitionNode,
    queryId?: QueryId,
  ): ColumnDefinitionNode {
    const column = super.transformColumnDefinition(node, queryId)
    if (!DataTypeNode.is(node.dataType)) return column
    const type = this.#types.get(node.dataType.dataType)
    if (type === undefined) {
      const kinds = [...this.#types.keys()].join(', ')
      throw new Error(`Column type ${node.dataType.dataType} is not portable, use one of ${kinds}`)
    }
    return { ...column, dataType: RawNode.createWithSql(type) }
  }
}

/** Lets migrations name portable kinds: text, integer (64 bit), real (double precision) and blob. */
export function columnKinds(dialect: Dialect): KyselyPlugin {
  const transformer = new ColumnKinds(dialect)
  return {
    transformQuery: ({ node, queryId }: PluginTransformQueryArgs): RootOperationNode =>
      transformer.transformNode(node, queryId),
    transformResult: async ({
      result,
    }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> => result,
  }
}
