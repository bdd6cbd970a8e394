import { beforeAll, expect, it } from 'vitest'
import { deliveryRow, storeDeliveries } from '../../../../test/delivery-rows.js'
import { describeEachEngine } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { inDatabase, seedTenant, type Tenant } from '../../../../test/tenancy/seed.js'

describeEachEngine('receivers of deliveries of a workspace', (engine) => {
  const server = useServer(engine)
  let client: ReturnType<ReturnType<typeof server>['client']>
  let other: Tenant
  const bots: string[] = []

  beforeAll(async () => {
    client = server().client()
    other = await seedTenant(server())
    await other.client.pauseDeliveries({ id: other.botId })
    for (const name of ['One', 'Two', 'Three']) bots.push((await client.createBot({ name })).bot.id)
    const [one = '', two = '', three = ''] = bots
    await client.pauseDeliveries({ id: one })
    await client.pauseDeliveries({ id: two, integration: 'chat' })
    await inDatabase(server(), ({ run }) =>
      run(async (tx) => {
        const works = { paused: null, paused_at: null, probe_at: null, releasing: 0 }
        const failing = { failures: 2, failing_since: '2026-01-01T00:00:00.000Z', reason: 'No.' }
        const back = { failures: 0, failing_since: null, reason: null }
        await tx
          .insertInto('delivery_receivers')
          .values([
            { bot_id: three, integration: '', ...works, ...failing },
            { bot_id: three, integration: 'mail', ...works, ...back },
          ])
          .execute()
      }),
    )
    await storeDeliveries(server(), [
      deliveryRow({ bot_id: one, status: 'pending', created_at: '2026-01-03T00:00:00.000Z' }),
      deliveryRow({
        bot_id: one,
        id: 'delivery_oldest',
        status: 'pending',
        created_at: '2026-01-02T00:00:00.000Z',
      }),
      deliveryRow({ bot_id: one, status: 'failed', created_at: '2026-01-01T00:00:00.000Z' }),
      deliveryRow({ bot_id: one, integration: 'chat', status: 'pending' }),
    ])
  })

  async function listAll(filter: { paused?: boolean; botId?: string }, pageSize = 20) {
    const found: Awaited<ReturnType<typeof client.listWorkspaceDeliveryReceivers>>['receivers'] = []
    let nextToken: string | undefined
    do {
      const page = await client.listWorkspaceDeliveryReceivers({
        ...filter,
        pageSize,
        ...(nextToken && { nextToken }),
      })
      found.push(...page.receivers)
      nextToken = page.meta.nextToken
    } while (nextToken !== undefined)
    return found
  }

  it('are those that fail or are paused, of all bots, with what waits longest', async () => {
    const [one = '', two = '', three = ''] = bots
    const expected = [
      {
        botId: one,
        paused: 'operator',
        oldestWaiting: { id: 'delivery_oldest', createdAt: '2026-01-02T00:00:00.000Z' },
      },
      { botId: two, integration: 'chat', paused: 'operator' },
      { botId: three, failures: 2, reason: 'No.' },
    ].sort((left, right) => (left.botId < right.botId ? -1 : 1))
    for (const pageSize of [1, 2, 20]) {
      expect(await listAll({}, pageSize)).toMatchObject(expected)
    }
    expect((await listAll({ botId: two }))[0]?.oldestWaiting).toBeUndefined()
  })

  it('are narrowed to one bot, and to those that are paused or only fail', async () => {
    const [one = '', , three = ''] = bots
    expect((await listAll({ botId: one })).map(({ botId }) => botId)).toEqual([one])
    expect((await listAll({ paused: false })).map(({ botId }) => botId)).toEqual([three])
    expect((await listAll({ paused: true })).map(({ paused }) => paused)).toEqual(
      Array(2).fill('operator'),
    )
    await expect(listAll({ botId: other.botId })).rejects.toMatchObject({
      type: 'ReferenceNotFound',
    })
    const others = await other.client.listWorkspaceDeliveryReceivers()
    expect(others.receivers.map(({ botId }) => botId)).toEqual([other.botId])
  })
})
