import { expect, it } from 'vitest'
import { createDeliveriesBench } from '../../../../test/deliveries.js'
import { describeEachEngine, useDatabase } from '../../../../test/engines.js'
import { isoTime } from '../../../platform/clock.js'
import { subjectsOfDeliveries } from '../../deliveries/history-store.js'
import { deleteOld, insertChange, listChanges } from './store.js'

describeEachEngine('expired changes', (engine) => {
  const database = useDatabase(engine)

  it('are kept while a delivery refers to them', async () => {
    const bench = await createDeliveriesBench(database())
    const write = (id: string) =>
      bench.run((tx) =>
        insertChange(tx, {
          id,
          bot_id: 'bot',
          object_id: 'msg',
          before: '{}',
          after: '{}',
          created_at: isoTime(bench.time.now()),
        }),
      )
    const kept = async () =>
      (await listChanges(bench.db, 'bot', ['delivered', 'waiting', 'new']))
        .map(({ id }) => id)
        .sort()
    await write('delivered')
    await write('waiting')
    const id = await bench.enqueue({
      botId: 'bot',
      integration: 'mail',
      kind: 'message_updated',
      subjectId: 'waiting',
    })
    bench.time.advance(1000)
    const before = isoTime(bench.time.now())
    await write('new')
    const sweep = () =>
      bench.run((tx) =>
        deleteOld(tx, before, 10, subjectsOfDeliveries(tx, ['message_updated'], before)),
      )
    expect(await sweep()).toBe(1)
    expect(await kept()).toEqual(['new', 'waiting'])
    await bench.run((tx) => tx.deleteFrom('deliveries').where('id', '=', id).execute())
    expect(await sweep()).toBe(1)
    expect(await kept()).toEqual(['new'])
  })
})
