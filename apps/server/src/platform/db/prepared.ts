import {
  type Compilable,
  type CompiledQuery,
  type DeleteResult,
  type DialectAdapter,
  type Expression,
  type InsertResult,
  type Kysely,
  type QueryResult,
  type RawBuilder,
  sql,
  type Transaction,
  type Updateable,
  type UpdateResult,
} from 'kysely'
import { type Dialect, dialectOf } from './dialect.js'
import type { NamedQuery } from './executor.js'
import type { Schema, Tx } from './schema.js'

/** Stands for a value that each run of the query supplies. */
type Parameter<P> = <Name extends keyof P & string>(name: Name) => Expression<P[Name]>

type Build<P, DB, Query> = (db: Kysely<DB>, parameter: Parameter<P>, dialect: Dialect) => Query

/** Kysely's results of writes that return no rows. */
type WriteResult = InsertResult | UpdateResult | DeleteResult
type Returned<Row> = Row extends WriteResult ? never : Row
type Select<Row> = Compilable<Row> & { readonly isSelectQueryBuilder: true }

/** A query that is built and compiled only once. Calling it executes it and returns its rows. */
interface PreparedQuery<P, Handle, Row> {
  (handle: Handle, parameters: P): Promise<Row[]>
  /** Returns the first row, if there is one. */
  first(handle: Handle, parameters: P): Promise<Row | undefined>
  /** Returns how many rows were written. */
  affected(handle: Handle, parameters: P): Promise<number>
}

/** A select runs on any handle; a write needs a transaction, and has rows only with a returning clause. */
export interface Prepare<P, DB> {
  <Row>(build: Build<P, DB, Select<Row>>): PreparedQuery<P, Kysely<DB>, Row>
  <Row>(build: Build<P, DB, Compilable<Row>>): PreparedQuery<P, Transaction<DB>, Returned<Row>>
}

/** A select in SQL, for engines whose search is not in the query builder. */
export function rawSelect<Row>(handle: Kysely<Schema>, query: RawBuilder<Row>): Select<Row> {
  return { isSelectQueryBuilder: true, compile: () => query.compile(handle) }
}

let lastName = 0

/** The place of a parameter in a compiled query. */
class ParameterSlot {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** A compiled query with its values. A class, because copying the members of an object takes several times as long. */
class BoundQuery<Row> implements NamedQuery {
  readonly query: CompiledQuery<Row>['query']
  readonly queryId: CompiledQuery<Row>['queryId']
  readonly sql: string
  readonly name: string
  readonly parameters: readonly unknown[]

  constructor({ query, name }: PreparedText<Row>, parameters: readonly unknown[]) {
    this.query = query.query
    this.queryId = query.queryId
    this.sql = query.sql
    this.name = name
    this.parameters = parameters
  }
}

/** A query as compiled for one database. */
interface PreparedText<Row> {
  readonly query: CompiledQuery<Row>
  readonly name: string
}

/** The values of a run, in the order in which the query has them. */
function bind(parameters: readonly unknown[], values: object): unknown[] {
  return parameters.map((parameter) => {
    if (!(parameter instanceof ParameterSlot)) return parameter
    const value: unknown = Reflect.get(values, parameter.name)
    // The PostgreSQL driver would store null instead.
    if (value !== undefined) return value
    throw new TypeError(`The query parameter ${parameter.name} is missing`)
  })
}

/**
 * Prepares a query of the hot path: it is built and compiled at its first run and from then on only
 * executed, which takes little longer than SQLite itself. `prepared<{ id: string }>()((db, p) =>
 * db.selectFrom('bots').selectAll().where('id', '=', p('id')))` returns a function of a handle and
 * `{ id }`. Two calls are needed so that parameters are declared while the type of rows is inferred.
 */
export function prepared<P extends object, DB = Schema>(): Prepare<P, DB> {
  function prepare<Row>(build: Build<P, DB, Select<Row>>): PreparedQuery<P, Kysely<DB>, Row>
  function prepare<Row>(
    build: Build<P, DB, Compilable<Row>>,
  ): PreparedQuery<P, Transaction<DB>, Returned<Row>>
  function prepare<Row>(build: Build<P, DB, Compilable<Row>>): PreparedQuery<P, Kysely<DB>, Row> {
    // All handles of one database share its adapter; a process may have several databases.
    const compiled = new WeakMap<DialectAdapter, PreparedText<Row>>()

    function compile(handle: Kysely<DB>, adapter: DialectAdapter): PreparedText<Row> {
      const query = build(
        handle,
        (name) => sql`${new ParameterSlot(name)}`,
        dialectOf(handle),
      ).compile()
      lastName += 1
      const named = { query, name: `prepared_${lastName}` }
      compiled.set(adapter, named)
      return named
    }

    /** Makes a function that binds the values, executes the query, and returns a part of its result. */
    function returning<Part>(partOf: (result: QueryResult<Row>) => Part) {
      return async (handle: Kysely<DB>, values: P): Promise<Part> => {
        const executor = handle.getExecutor()
        const text = compiled.get(executor.adapter) ?? compile(handle, executor.adapter)
        const parameters = bind(text.query.parameters, values)
        return partOf(await executor.executeQuery<Row>(new BoundQuery(text, parameters)))
      }
    }

    return Object.assign(
      returning(({ rows }) => rows),
      {
        first: returning(({ rows }) => rows[0]),
        affected: returning(({ rows, numAffectedRows }) => Number(numAffectedRows ?? rows.length)),
      },
    )
  }
  return prepare
}

/** Changes the given columns of the rows with the given keys. */
type Patch<Table extends keyof Schema, Key extends string> = (
  tx: Tx,
  keys: Readonly<Record<Key, string | number>>,
  patch: Updateable<Schema[Table]>,
) => Promise<void>

/** The types of the query builder cannot resolve the columns of a table that is itself a type parameter. */
type AnyTables = Record<string, AnyRow>
type AnyRow = Record<string, string | number>

/**
 * Prepares updates of a table in which the changed columns vary: one query for each set of columns. A column
 * whose new value is undefined keeps its value.
 * @param keyNames columns that select the rows
 */
export function preparedPatch<
  Table extends keyof Schema & string,
  Key extends keyof Schema[Table] & string,
>(table: Table, keyNames: readonly Key[]): Patch<Table, Key> {
  const tableName: string = table
  const keyColumns: readonly string[] = keyNames

  function prepareUpdate(columns: readonly string[]) {
    return prepared<AnyRow, AnyTables>()((db, p) => {
      const values = Object.fromEntries(columns.map((column) => [column, p(column)]))
      const update = db.updateTable(tableName).set(values)
      return keyColumns.reduce((query, key) => query.where(key, '=', p(keyParameter(key))), update)
    })
  }

  const updates = new Map<string, ReturnType<typeof prepareUpdate>>()
  return async (tx, keys, patch) => {
    const newValues = Object.entries(patch).filter(([, value]) => value !== undefined)
    const columns = newValues.map(([column]) => column)
    const name = columns.join()
    const known = updates.get(name)
    const update = known ?? prepareUpdate(columns)
    if (known === undefined) updates.set(name, update)
    const keyValues = keyNames.map((key) => [keyParameter(key), keys[key]])
    await update(
      tx as unknown as Transaction<AnyTables>,
      Object.fromEntries([...newValues, ...keyValues]),
    )
  }
}

/** Names the parameter of a key, which may also be among the columns that change. */
function keyParameter(key: string): string {
  return `key ${key}`
}
