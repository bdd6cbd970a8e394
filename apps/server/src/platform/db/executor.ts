import {
  type CompiledQuery,
  DefaultQueryExecutor,
  type DialectAdapter,
  type Driver,
  Kysely,
  type Dialect as KyselyDialect,
  type QueryCompiler,
  type QueryResult,
  Transaction,
} from 'kysely'
import { TransactionMisuseError } from './errors.js'

/** The parts of a Kysely dialect that write SQL, without a driver. */
export type SqlWriter = Pick<
  KyselyDialect,
  'createAdapter' | 'createIntrospector' | 'createQueryCompiler'
>

/** A query that an engine may keep compiled under its name. */
export interface NamedQuery extends CompiledQuery {
  /** The same name never stands for another text. */
  readonly name?: string
}

/** Runs one compiled query; resolves with its rows. */
export type ExecuteQuery = <R>(query: CompiledQuery) => Promise<QueryResult<R>>

/** Makes Kysely handles whose queries are run by a given function. */
export interface Handles<DB> {
  /** A handle for reads. */
  reads(execute: ExecuteQuery): Kysely<DB>
  /** The handle of one transaction; `execute` refuses queries once the transaction has ended. */
  transaction(execute: ExecuteQuery): Transaction<DB>
}

/**
 * Passes compiled queries straight to a function. Kysely's own executor takes and gives back a
 * connection around every query, which costs four promises where one is enough.
 */
class DirectExecutor extends DefaultQueryExecutor {
  override readonly executeQuery: ExecuteQuery

  constructor(compiler: QueryCompiler, adapter: DialectAdapter, execute: ExecuteQuery) {
    // Handles that Kysely derives from this one, such as one with a plugin, request a connection.
    const connection = { executeQuery: execute, streamQuery: refuseToStream }
    super(compiler, adapter, { provideConnection: (consumer) => consumer(connection) })
    this.executeQuery = execute
  }
}

/** Every page of rows is one query; a cursor would hold its connection and an old view of the data. */
function refuseToStream(): never {
  throw new TransactionMisuseError('Rows are read in pages, not streamed')
}

async function refuse(): Promise<never> {
  throw new TransactionMisuseError(
    'Transactions are opened with database.run(work), and handles are closed with database.close()',
  )
}

// Kysely leaves transactions and closing to its driver; here both belong to Database.
const refusingDriver: Driver = {
  init: refuse,
  acquireConnection: refuse,
  beginTransaction: refuse,
  commitTransaction: refuse,
  rollbackTransaction: refuse,
  releaseConnection: refuse,
  destroy: refuse,
}

/** Returns a factory of handles, which builds once what all transactions share. */
export function createHandles<DB>(writer: SqlWriter): Handles<DB> {
  const adapter = writer.createAdapter()
  const compiler = writer.createQueryCompiler()
  const dialect: KyselyDialect = {
    createAdapter: () => writer.createAdapter(),
    createIntrospector: (db) => writer.createIntrospector(db),
    createQueryCompiler: () => writer.createQueryCompiler(),
    createDriver: () => refusingDriver,
  }
  const config = { dialect }
  const driver = refusingDriver
  return {
    reads: (execute) =>
      new Kysely<DB>({
        config,
        dialect,
        driver,
        executor: new DirectExecutor(compiler, adapter, execute),
      }),
    transaction: (execute) =>
      new Transaction<DB>({
        config,
        dialect,
        driver,
        executor: new DirectExecutor(compiler, adapter, execute),
      }),
  }
}
