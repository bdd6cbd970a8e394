import { expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import { createTestClock } from '../../../test/harness.js'
import { createSealer } from '../security/sealing.js'
import { createIdempotencyStore } from './store.js'

const day = 24 * 60 * 60 * 1000

describeEachEngine('remembered responses', (engine) => {
  const database = useDatabase(engine)

  it('are forgotten after a day, some per transaction', async () => {
    const { db, dialect, run } = database()
    const clock = createTestClock()
    const sealer = createSealer(Buffer.alloc(32, 1))
    const store = createIdempotencyStore({ db, dialect, clock, sealer })
    const remember = (...keys: string[]) =>
      run(async (tx) => {
        for (const key of keys) {
          const scope = { principal: 'somebody', operation: 'createBot', key }
          await store.save(tx, scope, { fingerprint: 'x', status: 201, response: { key } })
        }
      })
    const find = (key: string) => store.find({ principal: 'somebody', operation: 'createBot', key })
    await remember(...Array.from({ length: 501 }, (_, at) => `old ${at}`))
    clock.advance(day + 1000)
    await remember('new')
    expect(await find('old 0')).toBeUndefined()
    const swept = [await run(store.sweep), await run(store.sweep), await run(store.sweep)]
    expect(swept).toEqual([500, 1, 0])
    expect(await find('new')).toMatchObject({ status: 201, response: { key: 'new' } })
  })

  it('are taken by the first request with a key, and free again after a day', async () => {
    const { db, dialect, run } = database()
    const clock = createTestClock()
    const sealer = createSealer(Buffer.alloc(32, 1))
    const store = createIdempotencyStore({ db, dialect, clock, sealer })
    const scope = { principal: 'somebody', operation: 'createBot', key: 'once' }
    const save = (response: string) =>
      run((tx) => store.save(tx, scope, { fingerprint: 'x', status: 201, response }))
    await save('first')
    const second = await save('second').catch((error: unknown) => error)
    expect(store.isTaken(second)).toBe(true)
    expect(await store.find(scope)).toMatchObject({ response: 'first' })
    clock.advance(day + 1000)
    await save('third')
    expect(await store.find(scope)).toMatchObject({ response: 'third' })
  })
})
