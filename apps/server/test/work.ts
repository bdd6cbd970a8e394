import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { CompiledQuery } from 'kysely'
import type { Database } from '../src/platform/db/open.js'
import type { Run } from '../src/platform/db/schema.js'
import { Patience } from './patience.js'

/** Tracks the work in progress on a database. */
export interface WatchedWork {
  /** The `run` of the database, with its transactions counted. */
  run: Run
  /**
   * Waits until nothing has been under way for some turns of the event loop: code that continues after
   * a query has done so by then. Rejects with the counts of what is under way if that does not end.
   */
  rest(): Promise<void>
}

/** One for each database: its executor is replaced once. */
const watched = new WeakMap<Database, WatchedWork>()

/** Turns of the event loop without work, after which no code is still about to use the database. */
const idleTurns = 6

/**
 * Counts the transactions and reads of a database while a test plays with the time of what uses it:
 * time that moves while a response is in transit over a socket would make each run different.
 */
export function watchWork(database: Database): WatchedWork {
  const known = watched.get(database)
  if (known !== undefined) return known
  const underWay = { reads: 0, transactions: 0 }
  async function count<T>(kind: keyof typeof underWay, work: Promise<T>): Promise<T> {
    underWay[kind] += 1
    try {
      return await work
    } finally {
      underWay[kind] -= 1
    }
  }

  const executor = database.db.getExecutor()
  const executeQuery = executor.executeQuery.bind(executor)
  executor.executeQuery = <R>(query: CompiledQuery<R>) => count('reads', executeQuery<R>(query))

  const work: WatchedWork = {
    run: (work) => count('transactions', database.run(work)),
    async rest() {
      const patience = new Patience()
      for (let idle = 0; idle < idleTurns; ) {
        const busy = underWay.reads + underWay.transactions > 0
        idle = busy ? 0 : idle + 1
        await (busy ? sleep(1) : nextTurn())
        if (patience.isOver()) {
          throw new Error(`The work does not come to rest: ${JSON.stringify(underWay)}`)
        }
      }
    },
  }
  watched.set(database, work)
  return work
}
