import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { engines, useDatabase } from '../../../../test/engines.js'
import { addToMonth, deleteMonths, mergeShards } from './store.js'

const day = '2026-03-01'
const month = '2026-03'

/** A moment that another transaction waits for. */
function signal() {
  let give = () => {}
  const given = new Promise<void>((resolve) => {
    give = resolve
  })
  return { given, give: () => give() }
}

// On SQLite, transactions run one after the other.
const several = engines.filter(({ name }) => name === 'postgres')

describe.each(several)('stored usage on $name', (engine) => {
  const database = useDatabase(engine)

  it('is merged once by two processes at the same time', async () => {
    const { db, run } = database()
    const row = { workspace_id: 'merged', bot_id: 'bot', kind: 'events', day }
    await run(async (tx) => {
      for (const shard of [0, 2, 5]) {
        await tx
          .insertInto('usage_days')
          .values({ ...row, shard, value: 10 + shard })
          .execute()
      }
    })
    const first = signal()
    const second = first.given.then(() => run((tx) => mergeShards(tx, 100, '2026-04-01')))
    await run(async (tx) => {
      await mergeShards(tx, 100, '2026-04-01')
      first.give()
      await sleep(100)
    })
    await second
    const days = await db
      .selectFrom('usage_days')
      .select(['shard', 'value'])
      .where('workspace_id', '=', 'merged')
      .execute()
    expect(days.map(({ shard, value }) => [Number(shard), Number(value)])).toEqual([[0, 37]])
  })

  it('of months is forgotten without a deadlock with calls', async () => {
    const { db, run } = database()
    const [whole, bot] = ['', 'bot'].map((botId) => ({ workspaceId: 'months', botId }))
    if (whole === undefined || bot === undefined) throw new Error('Both are there')
    // The total of the workspace is stored first, and so deleted first by a statement without an order.
    for (const owner of [whole, bot]) await run((tx) => addToMonth(tx, owner, month, 1))
    let attempts = 0
    const called = signal()
    const forgotten = called.given.then(() =>
      run(async (tx) => {
        attempts += 1
        await deleteMonths(tx)
      }),
    )
    await run(async (tx) => {
      attempts += 1
      await addToMonth(tx, bot, month, 1)
      called.give()
      await sleep(100)
      await addToMonth(tx, whole, month, 1)
    })
    await forgotten
    expect(attempts).toBe(2)
    expect(await db.selectFrom('usage_months').selectAll().execute()).toEqual([])
  })
})
