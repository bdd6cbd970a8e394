import { createThreadPool } from '../../src/platform/workers/thread-pool.js'
import type { ThreadOrder } from './thread-tasks.js'

/** A server in miniature that ends, in one way or another, while a thread is in the middle of a query. */
const pool = createThreadPool<ThreadOrder, unknown>({
  entry: new URL('./thread-tasks.mjs', import.meta.url),
  setup: 'setup',
  threads: 1,
  maxQueue: 1,
  timeLimitMs: 600_000,
  memoryLimitMb: 64,
  onError: () => {},
})
const [, , how, rows] = process.argv
const started = new SharedArrayBuffer(4)
const sql = `with recursive n (n) as (select 1 union all select n + 1 from n where n < ${rows}) select max(n), 'row' from n`
void pool.run({ do: 'query', started, sql })
const wait = setInterval(() => {
  if (Atomics.load(new Int32Array(started), 0) === 0) return
  clearInterval(wait)
  if (how === 'throw') throw new Error('A fault')
  process.exit(3)
}, 5)
