import {
  type CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  type DialectAdapter,
  type Driver,
  Kysely,
  type Dialect as KyselyDialect,
  type KyselyProps,
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

/** Makes Kysely handles that run their queries on a given connection. */
export interface Handles<DB> {
  /** A handle for reads that uses `connection` for its whole life. */
  reads(connection: DatabaseConnection): Kysely<DB>
  /** The handle of one transaction; `connection` refuses queries once the transaction has ended. */
  transaction(connection: DatabaseConnection): Transaction<DB>
}

/**
 * Sends compiled queries straight to one connection. Kysely's own executor takes and gives back a
 * connection around every query, which costs four promises where one is enough.
 */
class DirectExecutor extends DefaultQueryExecutor {
  readonly #connection: DatabaseConnection

  constructor(compiler: QueryCompiler, adapter: DialectAdapter, connection: DatabaseConnection) {
    super(compiler, adapter, { provideConnection: (consumer) => consumer(connection) })
    this.#connection = connection
  }

  override executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.#connection.executeQuery<R>(query)
  }
}

/** Every page of rows is one query; a cursor would hold its connection and an old view of the data. */
export function refuseToStream(): never {
  throw new TransactionMisuseError('Rows are read in pages, not streamed')
}

async function refuse(): Promise<never> {
  throw new TransactionMisuseError(
    'Transactions are opened with database.run(work), and handles are closed with database.close()',
  )
}

// Kysely asks its driver for transactions and for the end of its life; both belong to Database here.
const refusingDriver: Driver = {
  init: refuse,
  acquireConnection: refuse,
  beginTransaction: refuse,
  commitTransaction: refuse,
  rollbackTransaction: refuse,
  releaseConnection: refuse,
  destroy: refuse,
}

/** Prepares the making of handles; the parts that do not change between transactions are built once. */
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
  const props = (connection: DatabaseConnection): KyselyProps => ({
    config,
    dialect,
    driver: refusingDriver,
    executor: new DirectExecutor(compiler, adapter, connection),
  })
  return {
    reads: (connection) => new Kysely<DB>(props(connection)),
    transaction: (connection) => new Transaction<DB>(props(connection)),
  }
}
