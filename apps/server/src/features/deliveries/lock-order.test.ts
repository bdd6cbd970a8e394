import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { ownerOf } from '../../../test/actors.js'
import { createDeliveriesBench } from '../../../test/deliveries.js'
import { engines } from '../../../test/engines.js'
import { isoTime } from '../../platform/clock.js'
import { openDatabase } from '../../platform/db/open.js'
import { createPager } from '../../platform/db/pager.js'
import { createIds } from '../../platform/ids.js'
import { createTargets } from '../calls/targets/index.js'
import * as history from './history-store.js'
import { createOutbox } from './outbox.js'
import { retryNow } from './receiver-store.js'
import { createDeliveriesService } from './service.js'
import { deleteSomeOfBot } from './store.js'

const rounds = 12
const bots = ['one', 'two']
const conversations = ['a', 'b', 'c', 'd', 'e', 'f']
const integrations = ['', 'chat', 'mail']

type Bench = Awaited<ReturnType<typeof createDeliveriesBench>>

/** Returns numbers below `count`, the same sequence in every run. */
function numbers(seed: number) {
  let last = seed
  return (count: number) => {
    last = (last * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((last / 2 ** 31) * count)
  }
}

/** All operations that lock rows of deliveries, as one process runs them, in random order. */
function createCrowd(bench: Bench, next: (count: number) => number) {
  const { db, run, bus, time } = bench
  const ids = createIds(time)
  const outbox = createOutbox({ clock: time, ids, bus })
  const service = createDeliveriesService({
    db,
    run,
    bus,
    ids,
    clock: time,
    pager: createPager(Buffer.from('the secret of pages')),
    bots: { requireIn: async () => {}, installationsOf: async () => [] },
    outgoing: {
      send: () => Promise.reject(new Error('Nobody is called.')),
      [Symbol.asyncDispose]: async () => {},
    },
    hosting: { send: () => Promise.reject(new Error('No code runs here.')) },
    targets: createTargets({
      clock: time,
      bots: { findServer: async () => undefined },
      findInstallationTarget: async () => undefined,
    }),
    writeLogLine: async () => {},
    domainEvents: bench.domainEvents,
  })
  const actor = ownerOf('workspace')
  const pick = <T>(items: readonly T[]): T[] => items.filter(() => next(2) === 0)
  const shuffled = <T>(items: readonly T[]): T[] =>
    items
      .map((item) => ({ item, at: next(1000) }))
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item)
  const aBot = () => bots[next(bots.length)] ?? 'one'

  const repeat = async (work: () => Promise<unknown>) => {
    for (let round = 0; round < rounds; round += 1) await work()
  }

  /** Deletes a bot with many pending deliveries. */
  async function purging(): Promise<void> {
    for (let count = 0; count < 60; count += 1) {
      const orderingKey = `${count % 20}`
      const sent = {
        botId: 'gone',
        orderingKey,
        kind: 'event_received' as const,
        subjectId: 'said',
      }
      await run((tx) => outbox.enqueue(tx, sent))
    }
    while ((await run((tx) => deleteSomeOfBot(tx, 'gone', 20))) > 0);
  }

  return [
    ...[1, 2, 3].map(() =>
      repeat(() =>
        run(async (tx) => {
          const botId = aBot()
          for (const orderingKey of shuffled(pick(conversations))) {
            for (const integration of shuffled(integrations)) {
              await outbox.enqueue(tx, {
                botId,
                integration,
                orderingKey,
                kind: 'event_received',
                subjectId: 'said',
              })
            }
          }
        }),
      ),
    ),
    repeat(() => service.replayFailed(actor, aBot(), {})),
    repeat(async () => {
      const botId = aBot()
      await service.pause(actor, botId, undefined)
      await sleep(2)
      await service.resume(actor, botId, undefined)
    }),
    repeat(() => run((tx) => retryNow(tx, aBot(), isoTime(time.now()), 100))),
    repeat(async () => {
      const before = isoTime(time.now() - 20_000)
      await run((tx) => history.deleteOld(tx, before, 20))
      await run((tx) => history.listStale(tx, before, 20))
    }),
    purging(),
  ]
}

/** Deadlocks that the server has counted in a database whose connections are closed. */
async function deadlocksIn(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') })
  await client.connect()
  try {
    const text = 'select deadlocks from pg_stat_database where datname = $1'
    const { rows } = await client.query(text, [new URL(url).pathname.slice(1)])
    return Number(rows[0]?.deadlocks)
  } finally {
    await client.end()
  }
}

const postgres = engines.find(({ name }) => name === 'postgres')

describe.skipIf(postgres === undefined)('transactions of deliveries', () => {
  it('never deadlock, whatever two processes do at once', async () => {
    const place = await postgres?.createPlace(true)
    if (place === undefined) return
    onTestFinished(() => place.remove())
    const options = { ...place.options, poolSize: 8 }
    const databases = [await openDatabase(options), await openDatabase(options)]
    try {
      await Promise.all(
        databases.map(async (database, at) => {
          const next = numbers(at + 1)
          const bench = await createDeliveriesBench(database)
          const { stop } = await bench.start({ limits: { concurrency: 24 } })
          const work = Promise.all(createCrowd(bench, next))
          let isOver = false
          const respondToAll = async () => {
            while (!isOver) {
              for (const call of [...bench.calls])
                call.respond([200, 200, 400, 503][next(4)] ?? 200)
              bench.time.advance(250)
              await sleep(1)
            }
          }
          const responding = respondToAll()
          await work.finally(() => {
            isOver = true
          })
          await responding
          await stop()
        }),
      )
    } finally {
      for (const database of databases) await database.close()
    }
    expect(await deadlocksIn(place.options.url ?? '')).toBe(0)
  })
})
