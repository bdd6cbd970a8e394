import {
  type AliasedRawBuilder,
  type Expression,
  type Kysely,
  PostgresAdapter,
  type RawBuilder,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
} from 'kysely'

/** Everything that SQLite and PostgreSQL do differently. Code outside drivers never reads the name. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres'
  /**
   * The way of this engine, where it is a port of its own with an implementation for each engine and too
   * much for this interface.
   */
  choose<Way>(ways: Readonly<Record<Dialect['name'], Way>>): Way
  /** The type that stands for each portable column kind of a migration. */
  readonly columnTypes: ReadonlyMap<string, string>
  /** Whether the database has a table of that name. */
  hasTable<DB>(handle: Kysely<DB>, name: string): Promise<boolean>
  /** Locks the selected rows until the transaction ends. On SQLite the transaction has it all. */
  lockRows<DB, TB extends keyof DB, O>(
    query: SelectQueryBuilder<DB, TB, O>,
  ): SelectQueryBuilder<DB, TB, O>
  /**
   * Keeps the selected rows from being deleted until the transaction ends: for what is created below them. Others may keep
   * them too, and change them. On SQLite the transaction has it all. Returns whether there are any.
   */
  keepRows<DB, TB extends keyof DB, O>(query: SelectQueryBuilder<DB, TB, O>): Promise<boolean>
  /** Like `lockRows`, passing over rows that another transaction holds: for claiming jobs. */
  lockFreeRows<DB, TB extends keyof DB, O>(
    query: SelectQueryBuilder<DB, TB, O>,
  ): SelectQueryBuilder<DB, TB, O>
  /**
   * Waits until no other transaction holds this name, and holds it until this one ends. On SQLite
   * transactions run one after the other anyway.
   */
  holdName<DB>(tx: Kysely<DB>, name: string): Promise<void>
  /** As `holdName`, but beside others that share the name: waits only for who holds it alone. */
  shareName<DB>(tx: Kysely<DB>, name: string): Promise<void>
  /**
   * Returns when the oldest open transaction with writes began, in milliseconds since the Unix epoch: rows from
   * before then are visible, or never will be. Undefined if there is none, and on SQLite, where rows become visible in
   * the order in which they are written.
   */
  oldestWriterSince<DB>(handle: Kysely<DB>): Promise<number | undefined>
  /** Whether `column` contains `text`, without regard to case; wildcards in `text` mean themselves. */
  contains(column: Expression<string>, text: string): RawBuilder<SqlBool>
  /** Position of the first `text` in `column`, in characters from 1; 0 if there is none. */
  positionOf(column: Expression<string>, text: string): RawBuilder<number>
  /** The text under a top-level key of a JSON object column; null if the key is missing. */
  jsonText(column: Expression<string>, key: string): RawBuilder<string | null>
  /**
   * The texts in a JSON array as rows of one column, `value`, of a table `given`: a list of any length
   * is one parameter, so that a query about it is prepared once. To find rows by their ids, write
   * `selectFrom(given).crossJoin(table).whereRef(id, '=', 'given.value')`: SQLite then begins with the
   * list. For `id in (...)` beside the id of an owner it reads all rows of that owner.
   */
  jsonTexts(json: Expression<string>): AliasedRawBuilder<{ value: string }, 'given'>
  /**
   * The objects in a JSON array as rows of a table `given`, which has a column for each name in
   * `kinds`; what an object lacks is null.
   */
  jsonRecords<Row>(
    json: Expression<string>,
    kinds: Record<keyof Row & string, 'text' | 'integer'>,
  ): AliasedRawBuilder<Row, 'given'>
  /** An aggregate: the values of a column as the text of one JSON array, in no particular order. */
  jsonArrayOf(column: Expression<string>): RawBuilder<string>
  /** The greater of two values, neither null. */
  greater<T>(left: Expression<T>, right: Expression<T>): RawBuilder<T>
  /**
   * A number from 0 to 15 of the connection that runs the statement: writers that add to rows of different numbers do not
   * wait for each other's transactions. 0 on SQLite, where transactions run one after the other.
   */
  readonly writerNumber: RawBuilder<number>
  /** Whether the error means that a row with the same key exists. */
  isUniqueViolation(error: unknown): boolean
  /** Whether the error means that a row referred to is missing, or that one is still referred to. */
  isForeignKeyViolation(error: unknown): boolean
  /** Whether the error means that the disk is full. */
  isFull(error: unknown): boolean
  /** Whether the same transaction may succeed when it is run again. */
  isTransient(error: unknown): boolean
  /** Whether the error means that the engine ended a statement that took too long. SQLite has no such limit. */
  isStatementTimeout(error: unknown): boolean
}

const sqliteBusy = 5

export const sqliteDialect: Dialect = {
  name: 'sqlite',
  choose: (ways) => ways.sqlite,
  columnTypes: new Map([
    ['text', 'text'],
    ['integer', 'integer'],
    ['real', 'real'],
    ['blob', 'blob'],
  ]),
  async hasTable(handle, name) {
    const found = sql`select 1 from sqlite_schema where type = 'table' and name = ${name}`
    return (await found.execute(handle)).rows.length > 0
  },
  lockRows: (query) => query,
  keepRows: hasRows,
  lockFreeRows: (query) => query,
  holdName: async () => {},
  shareName: async () => {},
  oldestWriterSince: async () => undefined,
  contains: (column, text) => sql`fold_case(${column}) like ${likePattern(text)} escape '\\'`,
  positionOf: (column, text) => sql`instr(${column}, ${text})`,
  jsonText: (column, key) =>
    sql`(select value from json_each(${column}) where json_each.key = ${key})`,
  jsonTexts: (json) => sql<{ value: string }>`json_each(${json})`.as('given'),
  jsonRecords<Row>(json: Expression<string>, kinds: Record<string, string>) {
    const columns = Object.keys(kinds).map(
      (name) => sql`json_extract(value, ${sql.lit(`$.${name}`)}) as ${sql.ref(name)}`,
    )
    return sql<Row>`(select ${sql.join(columns)} from json_each(${json}))`.as('given')
  },
  jsonArrayOf: (column) => sql`json_group_array(${column})`,
  greater: (left, right) => sql`max(${left}, ${right})`,
  writerNumber: sql`0`,
  // Statements that return rows fail without an error code, so the text has to do.
  isUniqueViolation: (error) => messageOf(error).startsWith('UNIQUE constraint failed'),
  isForeignKeyViolation: (error) => messageOf(error).startsWith('FOREIGN KEY constraint failed'),
  isFull: (error) => messageOf(error).endsWith('database or disk is full'),
  // The low byte is the error; the other bits are its kind.
  isTransient: (error) => (Number(property(error, 'errcode')) & 0xff) === sqliteBusy,
  isStatementTimeout: () => false,
}

// Serialization failure, deadlock, and a plan outdated by a change of the schema.
const postgresTransient = new Set(['40001', '40P01', '0A000'])

export const postgresDialect: Dialect = {
  name: 'postgres',
  choose: (ways) => ways.postgres,
  columnTypes: new Map([
    // The order of bytes is the order of SQLite, the fastest, and the same on every machine.
    ['text', 'text collate "C"'],
    ['integer', 'bigint'],
    ['real', 'double precision'],
    ['blob', 'bytea'],
  ]),
  async hasTable(handle, name) {
    const found = sql`select 1 where to_regclass(${name}) is not null`
    return (await found.execute(handle)).rows.length > 0
  },
  lockRows: (query) => query.forUpdate(),
  keepRows: (query) => hasRows(query.forKeyShare()),
  lockFreeRows: (query) => query.forUpdate().skipLocked(),
  async holdName(tx, name) {
    await sql`select pg_advisory_xact_lock(hashtextextended(${name}::text, 0))`.execute(tx)
  },
  async shareName(tx, name) {
    await sql`select pg_advisory_xact_lock_shared(hashtextextended(${name}::text, 0))`.execute(tx)
  },
  async oldestWriterSince(handle) {
    const { rows } = await sql<{ since: number | null }>`
      select (extract(epoch from min(xact_start)) * 1000)::double precision as since
      from pg_stat_activity
      where datname = current_database() and backend_xid is not null
        and pid <> pg_backend_pid()
    `.execute(handle)
    return rows[0]?.since ?? undefined
  },
  contains: (column, text) =>
    sql`lower(${column} collate "und-x-icu") like ${likePattern(text)} escape '\\'`,
  positionOf: (column, text) => sql`strpos(${column}, ${text})`,
  jsonText: (column, key) => sql`(${column}::jsonb ->> ${key}::text)`,
  jsonTexts: (json) =>
    sql<{ value: string }>`jsonb_array_elements_text(${json}::jsonb)`.as<'given'>(
      sql`given(value)`,
    ),
  jsonRecords<Row>(json: Expression<string>, kinds: Record<string, 'text' | 'integer'>) {
    const columns = Object.entries(kinds).map(
      ([name, kind]) => sql`${sql.ref(name)} ${sql.raw(kind === 'text' ? 'text' : 'bigint')}`,
    )
    return sql<Row>`jsonb_to_recordset(${json}::jsonb)`.as<'given'>(
      sql`given(${sql.join(columns)})`,
    )
  },
  // Without rows the aggregate is null.
  jsonArrayOf: (column) => sql`coalesce(json_agg(${column}), '[]')::text`,
  greater: (left, right) => sql`greatest(${left}, ${right})`,
  writerNumber: sql`pg_backend_pid() % 16`,
  isUniqueViolation: (error) => property(error, 'code') === '23505',
  isForeignKeyViolation: (error) => property(error, 'code') === '23503',
  isFull: (error) => property(error, 'code') === '53100',
  isTransient: (error) => postgresTransient.has(String(property(error, 'code'))),
  // `query_canceled`, which only the time limit of statements causes here.
  isStatementTimeout: (error) => property(error, 'code') === '57014',
}

/** The dialect behind a handle, for stores that are only given the handle. */
export function dialectOf<DB>(handle: Kysely<DB>): Dialect {
  return handle.getExecutor().adapter instanceof PostgresAdapter ? postgresDialect : sqliteDialect
}

async function hasRows<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
): Promise<boolean> {
  return (await query.executeTakeFirst()) !== undefined
}

function likePattern(text: string): string {
  return `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : ''
}

function property(error: unknown, name: string): unknown {
  return error instanceof Error ? Reflect.get(error, name) : undefined
}
