import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { deliveryRow, storeDeliveries } from '../../../../test/delivery-rows.js'
import { describeSlow } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { seedTenant, type Tenant } from '../../../../test/tenancy/seed.js'
import type { DeliveryRow } from '../store.js'

const times = Array.from({ length: 6 }, (_, day) =>
  new Date(Date.UTC(2026, 0, 1 + day)).toISOString(),
)
const statuses = ['pending', 'delivered', 'failed', 'canceled'] as const
const aliases = ['', 'chat', 'mail']
const conversations = ['conv_a', 'conv_b']
const types = ['greeted', 'ordered']

describeSlow('deliveries of a workspace', (engine) => {
  const server = useServer(engine)
  let client: ReturnType<ReturnType<typeof server>['client']>
  let other: Tenant
  let bots: string[]
  let rows: (DeliveryRow & { type: string | undefined; conversation: string | undefined })[]

  beforeAll(async () => {
    client = server().client()
    other = await seedTenant(server())
    bots = []
    for (const name of ['One', 'Two', 'Three']) bots.push((await client.createBot({ name })).bot.id)
    const [first = '', second = ''] = bots
    const events = new Map<string, { id: string; type: string }[]>()
    for (const botId of bots) {
      const inBot = server().client({ botId })
      const made = []
      for (const type of types) made.push((await inBot.createEvent({ type, payload: {} })).event)
      events.set(botId, made)
    }
    rows = Array.from({ length: 150 }, (_, i) => {
      const bot_id = bots[i % 2 === 0 ? 0 : i % 5 === 0 ? 2 : 1] ?? first
      const integration = aliases[i % 3] ?? ''
      const conversation = i % 4 === 0 ? undefined : conversations[i % 2]
      const event = integration === '' ? events.get(bot_id)?.[i % 7 === 0 ? 1 : 0] : undefined
      const row = deliveryRow({
        bot_id,
        integration,
        kind: integration === '' ? 'event_received' : i % 11 === 0 ? 'signal' : 'message_created',
        status: statuses[(i * 7) % 4] ?? 'failed',
        created_at: times[(i * 5) % 6] ?? '',
        order_key: conversation === undefined ? null : `${bot_id}/${integration}/${conversation}`,
        position: i,
        ...(event && { subject_id: event.id }),
      })
      return { ...row, type: event?.type, conversation }
    })
    await storeDeliveries(
      server(),
      rows.map(({ type, conversation, ...row }) => row),
    )
    await storeDeliveries(
      server(),
      statuses.map((status) => deliveryRow({ bot_id: other.botId, status, order_key: 'conv_a' })),
    )
    await client.pauseDeliveries({ id: second, integration: 'chat' })
    await client.pauseDeliveries({ id: first })
  })

  type Filter = Omit<
    NonNullable<Parameters<typeof client.listWorkspaceDeliveries>[0]>,
    'pageSize' | 'nextToken'
  >

  async function listAll(filter: Filter, pageSize: number) {
    const found: string[] = []
    let nextToken: string | undefined
    let counts: Awaited<ReturnType<typeof client.listWorkspaceDeliveries>>['counts']
    do {
      const page = await client.listWorkspaceDeliveries({
        ...filter,
        pageSize,
        ...(nextToken && { nextToken }),
      })
      expect(page.deliveries.length).toBeLessThanOrEqual(pageSize)
      if (nextToken === undefined) counts = page.counts
      else expect(page.counts).toBeUndefined()
      found.push(...page.deliveries.map(({ id }) => id))
      nextToken = page.meta.nextToken
    } while (nextToken !== undefined)
    return { found, counts }
  }

  function matches(row: (typeof rows)[number], filter: Filter): boolean {
    const isPaused =
      row.bot_id === bots[0]
        ? row.integration === ''
        : row.bot_id === bots[1] && row.integration === 'chat'
    return (
      (filter.botId === undefined || row.bot_id === filter.botId) &&
      (!filter.status?.length || filter.status.includes(row.status)) &&
      (filter.kind === undefined || row.kind === filter.kind) &&
      (filter.eventType === undefined || row.type === filter.eventType) &&
      (filter.receiver === undefined || (filter.receiver === 'bot') === (row.integration === '')) &&
      (filter.integration === undefined || row.integration === filter.integration) &&
      (filter.receiverPaused === undefined || isPaused === filter.receiverPaused) &&
      (filter.conversationId === undefined || row.conversation === filter.conversationId) &&
      (filter.since === undefined || row.created_at >= filter.since) &&
      (filter.until === undefined || row.created_at < filter.until)
    )
  }

  const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 })
  const filters = () =>
    fc.record(
      {
        botId: maybe(fc.constantFrom(...bots)),
        status: maybe(fc.array(fc.constantFrom(...statuses), { maxLength: 3 })),
        kind: maybe(fc.constantFrom('event_received' as const, 'signal', 'message_created')),
        eventType: maybe(fc.constantFrom(...types)),
        receiver: maybe(fc.constantFrom('bot' as const, 'integrations')),
        integration: maybe(fc.constantFrom('chat', 'mail', 'nothing')),
        receiverPaused: maybe(fc.boolean()),
        conversationId: maybe(fc.constantFrom(...conversations)),
        since: maybe(fc.constantFrom(...times)),
        until: maybe(fc.constantFrom(...times)),
      },
      { requiredKeys: [] },
    )

  it('are listed newest first, by any filters together, on pages of any size', async () => {
    await fc.assert(
      fc.asyncProperty(filters(), fc.integer({ min: 1, max: 60 }), async (drawn, pageSize) => {
        const filter: Filter = Object.fromEntries(
          Object.entries(drawn).filter(([, value]) => value !== undefined),
        )
        const expected = rows
          .filter((row) => matches(row, filter))
          .sort((a, b) => (`${a.created_at}${a.id}` < `${b.created_at}${b.id}` ? 1 : -1))
        const { found, counts } = await listAll(filter, pageSize)
        expect(found).toEqual(expected.map(({ id }) => id))
        const countOf = (status: string) => expected.filter((row) => row.status === status).length
        expect(counts).toEqual({
          pending: countOf('pending'),
          delivered: countOf('delivered'),
          failed: countOf('failed'),
          canceled: countOf('canceled'),
          total: expected.length,
          isExact: true,
        })
      }),
      { numRuns: 60 },
    )
  })

  it('name their bot, and the type of their event', async () => {
    const { deliveries } = await client.listWorkspaceDeliveries({ eventType: 'ordered' })
    expect(deliveries.length).toBeGreaterThan(0)
    const expected = { eventType: 'ordered', kind: 'event_received' }
    for (const delivery of deliveries) expect(delivery).toMatchObject(expected)
    expect(new Set(deliveries.map(({ botId }) => botId)).size).toBeGreaterThan(1)
  })

  it('are listed for one bot by receiver and conversation', async () => {
    const [id = ''] = bots
    const idsOf = (filter: object) =>
      client
        .listDeliveries({ id, pageSize: 100, ...filter })
        .then(({ deliveries }) => deliveries.map((each) => each.id).toSorted())
    const expected = (filter: Filter) =>
      rows
        .filter((row) => matches(row, { ...filter, botId: id }))
        .map((row) => row.id)
        .toSorted()
    expect(await idsOf({})).toEqual(expected({}))
    for (const alias of ['chat', 'mail', 'nothing']) {
      expect(await idsOf({ integration: alias })).toEqual(expected({ integration: alias }))
      const conversationId = 'conv_a'
      expect(await idsOf({ integration: alias, conversationId })).toEqual(
        expected({ integration: alias, conversationId }),
      )
    }
    expect(await idsOf({ kind: 'signal', status: 'failed' })).toEqual(
      expected({ kind: 'signal', status: ['failed'] }),
    )
  })

  it('of another workspace are neither listed nor counted', async () => {
    const botId = other.botId
    await expect(client.listWorkspaceDeliveries({ botId })).rejects.toMatchObject({
      type: 'ReferenceNotFound',
      message: `query.botId: there is no bot ${botId} in this workspace.`,
    })
    const nobody = '6f1c1f5e-0000-4000-8000-000000000000'
    await expect(client.listWorkspaceDeliveries({ botId: nobody })).rejects.toMatchObject({
      type: 'ReferenceNotFound',
      message: `query.botId: there is no bot ${nobody} in this workspace.`,
    })
    const { deliveries, counts } = await other.client.listWorkspaceDeliveries()
    expect(deliveries).toHaveLength(4)
    expect(counts).toMatchObject({ total: 4, isExact: true })
  })

  it('are compared with times in any zone', async () => {
    const [, second = ''] = times
    const shifted = `${second.slice(0, 11)}02:00:00+02:00`
    const expected = await client.listWorkspaceDeliveries({ since: second, until: second })
    expect(await client.listWorkspaceDeliveries({ since: shifted, until: shifted })).toEqual(
      expected,
    )
    const from = await client.listWorkspaceDeliveries({ since: second, pageSize: 100 })
    const shiftedFrom = await client.listWorkspaceDeliveries({ since: shifted, pageSize: 100 })
    expect(shiftedFrom.deliveries).toEqual(from.deliveries)
    expect(from.counts?.total).toBeGreaterThan(0)
  })

  it('refuse a token of another filter', async () => {
    const { meta } = await client.listWorkspaceDeliveries({ pageSize: 1 })
    const nextToken = meta.nextToken ?? ''
    await expect(
      client.listWorkspaceDeliveries({ nextToken, status: ['failed'] }),
    ).rejects.toMatchObject({ type: 'InvalidQuery' })
  })
})
