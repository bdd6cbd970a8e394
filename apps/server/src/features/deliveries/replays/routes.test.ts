import { beforeAll, expect, it, vi } from 'vitest'
import { recordedOperations } from '../../../../test/audit.js'
import { deliveryRow, storeDeliveries } from '../../../../test/delivery-rows.js'
import { describeSlow } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { useHttpBots } from '../../../../test/http-bot.js'
import { numbers, useNotifiedBots } from '../../../../test/notified-bots.js'
import { seedTenant, type Tenant } from '../../../../test/tenancy/seed.js'

describeSlow('replays of many deliveries', (engine) => {
  const server = useServer(engine)
  const bots = useHttpBots()
  const { meet } = useNotifiedBots(server)
  let client: ReturnType<ReturnType<typeof server>['client']>
  let other: Tenant

  beforeAll(async () => {
    client = server().client()
    other = await seedTenant(server())
  })

  const get = async (replayId: string) => (await client.getDeliveryReplay({ replayId })).replay

  /** Lets time pass until the replay has a state, for it looks for results once a second. */
  const untilIs = (replayId: string, state: string) =>
    vi.waitFor(async () => {
      const replay = await get(replayId)
      if (replay.state !== state) await server().pass(1000)
      expect(replay.state).toBe(state)
      return replay
    })

  it('deliver what failed, in order, under the ids of their events, and count the results', async () => {
    const refusing = bots.as('refusing')
    const { id, open, say, listed } = await meet(refusing.url)
    const rooms = [await open(), await open()]
    for (const room of rooms) await say(room, ...numbers(5))
    await vi.waitFor(async () =>
      expect((await listed()).map(({ status }) => status)).toEqual(Array(10).fill('failed')),
    )
    const eventOf = ({ body }: { body: string }) => JSON.parse(body).event.id
    const first = new Set((await refusing.calls()).map(eventOf))
    const bot = bots.as()
    await client.updateBot({ id, url: bot.url })

    const { account } = await client.getAccount()
    const { replay } = await client.createDeliveryReplay({ botId: id })
    expect(replay).toMatchObject({
      state: 'running',
      createdBy: account.id,
      filter: { botId: id },
      total: 10,
      totalIsExact: true,
      done: 0,
    })
    expect(await untilIs(replay.id, 'done')).toMatchObject({
      replayed: 10,
      done: 10,
      failedAgain: 0,
      skipped: 0,
      waiting: 0,
      endedAt: expect.any(String),
    })
    for (const room of rooms) {
      expect((await bot.received(room)).map(({ text }) => text)).toEqual(numbers(5))
    }
    expect(new Set((await bot.calls()).map(eventOf))).toEqual(first)
    expect((await listed()).map(({ status }) => status)).toEqual(Array(10).fill('delivered'))

    // Nothing is left that failed; what was delivered is replayed if that is requested.
    const again = await client.createDeliveryReplay({ botId: id })
    expect(await untilIs(again.replay.id, 'done')).toMatchObject({ total: 0, replayed: 0 })
    const since = (await listed())[5]?.createdAt ?? ''
    const all = await client.createDeliveryReplay({ botId: id, status: ['delivered'], since })
    expect(await untilIs(all.replay.id, 'done')).toMatchObject({ done: all.replay.total })
    expect((await bot.calls()).length).toBe(10 + all.replay.total)
  })

  it('count those that fail again', async () => {
    const { id, open, say, listed } = await meet(bots.as('refusing').url)
    await say(await open(), ...numbers(2))
    await vi.waitFor(async () =>
      expect((await listed()).map(({ status }) => status)).toEqual(['failed', 'failed']),
    )
    const [one] = await listed()
    const { replay } = await client.createDeliveryReplay({ ids: [one?.id ?? '', 'delivery_none'] })
    expect(await untilIs(replay.id, 'done')).toMatchObject({
      total: 1,
      replayed: 1,
      done: 0,
      failedAgain: 1,
    })
    expect((await listed()).map(({ attempts }) => attempts)).toEqual([2, 1])
    expect(id).toBeDefined()
  })

  it('wait while the receiver is paused, and replay no more once canceled', async () => {
    const { bot } = await client.createBot({ name: 'Paused' })
    await client.pauseDeliveries({ id: bot.id })
    const rows = Array.from({ length: 620 }, () => deliveryRow({ bot_id: bot.id }))
    await storeDeliveries(server(), rows)
    const { replay } = await client.createDeliveryReplay({ botId: bot.id })
    expect(replay.total).toBe(620)
    await vi.waitFor(async () => expect((await get(replay.id)).replayed).toBe(500))
    const canceled = (await client.cancelDeliveryReplay({ replayId: replay.id })).replay
    expect(canceled).toMatchObject({ state: 'canceled', replayed: 500, waiting: 500 })
    expect((await recordedOperations(client))[0]).toBe('cancelDeliveryReplay')
    await server().pass(5000)
    expect(await get(replay.id)).toEqual(canceled)
    expect((await client.cancelDeliveryReplay({ replayId: replay.id })).replay).toEqual(canceled)
    const { counts } = await client.listWorkspaceDeliveries({ botId: bot.id })
    expect(counts).toMatchObject({ pending: 500, failed: 120 })
    await client.deleteBot({ id: bot.id })
  })

  it('are listed newest first, on pages', async () => {
    const { replay } = await client.createDeliveryReplay({ ids: [] })
    await untilIs(replay.id, 'done')
    const { replays, meta } = await client.listDeliveryReplays({ pageSize: 1 })
    expect(replays).toEqual([await get(replay.id)])
    const rest = await client.listDeliveryReplays({
      pageSize: 100,
      ...(meta.nextToken && { nextToken: meta.nextToken }),
    })
    expect(rest.replays.length).toBeGreaterThan(0)
    expect(rest.replays.map(({ id }) => id)).not.toContain(replay.id)
  })

  it('concern the deliveries of their own workspace only', async () => {
    const [row] = [deliveryRow({ bot_id: other.botId })]
    await storeDeliveries(server(), [row])
    const { replay } = await client.createDeliveryReplay({ ids: [row.id] })
    expect(await untilIs(replay.id, 'done')).toMatchObject({ total: 0, replayed: 0 })
    await expect(client.createDeliveryReplay({ botId: other.botId })).rejects.toMatchObject({
      type: 'ReferenceNotFound',
    })
    for (const replayId of [replay.id, 'replay_none']) {
      await expect(other.client.getDeliveryReplay({ replayId })).rejects.toMatchObject({
        type: 'ResourceNotFound',
        message: `There is no replay ${replayId} in this workspace.`,
      })
    }
    expect((await other.client.listDeliveryReplays()).replays).toEqual([])
  })

  it('take ids or filters, and are limited in number', async () => {
    await expect(
      client.createDeliveryReplay({ ids: ['delivery_none'], kind: 'signal' }),
    ).rejects.toMatchObject({
      type: 'InvalidPayload',
      message: 'body.ids must not be combined with other filters than status.',
    })
    const { bot } = await other.client.createBot({ name: 'Paused' })
    await other.client.pauseDeliveries({ id: bot.id })
    await storeDeliveries(
      server(),
      Array.from({ length: 11 }, () => deliveryRow({ bot_id: bot.id })),
    )
    const { deliveries } = await other.client.listWorkspaceDeliveries({ botId: bot.id })
    const start = (id = '') => other.client.createDeliveryReplay({ ids: [id] })
    for (const { id } of deliveries.slice(0, 10)) await start(id)
    await expect(start(deliveries[10]?.id)).rejects.toMatchObject({
      type: 'LimitExceeded',
      message: 'At most 10 replays of a workspace run at a time.',
    })
  })
})
