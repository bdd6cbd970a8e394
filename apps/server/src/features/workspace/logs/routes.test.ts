import fc from 'fast-check'
import { beforeAll, expect, it, vi } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { startHttpBot } from '../../../../test/http-bot.js'
import { inDatabase } from '../../../../test/tenancy/seed.js'
import { addAccount } from '../../../../test/tenant.js'
import { logLevels } from '../../../domain/log-lines.js'

const minute = 60_000

describeSlow('the logs of a workspace', (engine) => {
  const server = useServer(engine)
  type Client = ReturnType<ReturnType<typeof server>['client']>
  type Query = NonNullable<Parameters<Client['listLogs']>[0]>
  type Line = Awaited<ReturnType<Client['listLogs']>>['logs'][number]
  let admin: Client
  let all: Line[]
  const bots: string[] = []
  let integrationId: string
  let start: number

  const write = (botId: string, message: string, more: object = {}) =>
    server()
      .client({ botId })
      .writeBotLogs({ logs: [{ level: 'info', message, ...more }] })

  async function listAll(client: Client, query: Query = {}): Promise<Line[]> {
    const lines: Line[] = []
    let nextToken: string | undefined
    do {
      const page = await client.listLogs({ ...query, ...(nextToken && { nextToken }) })
      lines.push(...page.logs)
      nextToken = page.meta.nextToken
    } while (nextToken)
    return lines
  }

  beforeAll(async () => {
    admin = server().client()
    start = Date.now() - 60 * minute
    for (let i = 0; i < 3; i += 1) {
      const { bot } = await admin.createBot({ name: `bot ${i}` })
      bots.push(bot.id)
      for (const part of [0, 1]) {
        await server()
          .client({ botId: bot.id })
          .writeBotLogs({
            logs: Array.from({ length: 60 }, (_, number) => ({
              level: logLevels[(number + i) % 4] ?? 'info',
              message: `${number % 3 === 0 ? 'Größe' : 'line'} ${part} ${number}`,
              // Many lines of one moment, over all bots.
              timestamp: new Date(start + Math.floor(number / 7) * minute).toISOString(),
              ...(number % 5 === 0 && { userId: `user_${number % 2}` }),
              ...(number % 4 === 0 && { conversationId: `conv_${number % 3}` }),
              ...(number % 6 === 0 && { workflowId: 'wrkflow_0' }),
            })),
          })
      }
    }
    const [botId = ''] = bots
    // Without an address, so that its registration fails once and for all.
    const { integration } = await admin.createIntegration({ name: 'mail', version: '1.0.0' })
    integrationId = integration.id
    const mail = { integrationId, enabled: true, configuration: {} }
    await admin.updateBot({ id: botId, integrations: { mail } })
    await vi.waitFor(async () => {
      const { logs } = await admin.listLogs({ integrationId, source: 'integration' })
      expect(logs).toHaveLength(1)
    })
    all = await listAll(admin, { pageSize: 100 })
  })

  const matches = (line: Line, query: Query) =>
    (query.botId === undefined || line.botId === query.botId) &&
    (query.source === undefined || line.source === query.source) &&
    (query.level === undefined || line.level === query.level) &&
    (query.minLevel === undefined ||
      logLevels.indexOf(line.level) >= logLevels.indexOf(query.minLevel)) &&
    (query.text === undefined || line.message.toLowerCase().includes(query.text.toLowerCase())) &&
    (query.userId === undefined || line.userId === query.userId) &&
    (query.workflowId === undefined || line.workflowId === query.workflowId) &&
    (query.conversationId === undefined || line.conversationId === query.conversationId) &&
    (query.integrationId === undefined || line.integrationId === query.integrationId) &&
    (query.since === undefined || line.timestamp >= query.since) &&
    (query.until === undefined || line.timestamp <= query.until)

  const time = fc
    .integer({ min: -2, max: 65 })
    .map((minutes) => new Date(start + minutes * minute).toISOString())
  const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 1 })
  const filters = () => ({
    botId: optional(fc.constantFrom(...bots)),
    integrationId: fc.option(fc.constant(integrationId), { nil: undefined, freq: 8 }),
    source: optional(fc.constantFrom('bot' as const, 'delivery' as const, 'integration' as const)),
    level: optional(fc.constantFrom('debug' as const, 'warn' as const, 'error' as const)),
    minLevel: optional(fc.constantFrom('debug' as const, 'info' as const, 'error' as const)),
    text: optional(fc.constantFrom('grösse', 'größe', 'LINE 1', 'e 0 4', 'register', '%')),
    userId: optional(fc.constantFrom('user_0', 'user_1', 'none')),
    workflowId: optional(fc.constant('wrkflow_0')),
    conversationId: optional(fc.constantFrom('conv_0', 'conv_1', 'conv_2')),
    since: optional(time),
    until: optional(time),
  })
  const given = (query: object): Query =>
    Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined))

  it('are listed newest first, of all bots and integrations', () => {
    expect(all).toHaveLength(361)
    const order = all.map(({ timestamp, id }) => `${timestamp} ${id}`)
    expect(order).toEqual(order.toSorted().toReversed())
    expect(new Set(all.map(({ id }) => id)).size).toBe(361)
    const [failed] = all.filter(({ source }) => source === 'integration')
    expect(failed).toMatchObject({ level: 'error', botId: bots[0], integrationId })
  })

  it('are filtered by all conditions at once, in pages of any size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({ ...filters(), pageSize: fc.integer({ min: 1, max: 100 }) }),
        async (drawn) => {
          const query = given(drawn)
          expect(await listAll(admin, query)).toEqual(all.filter((line) => matches(line, query)))
        },
      ),
      { numRuns: 60 },
    )
  })

  it('are counted by level and time, with the same filters', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({ ...filters(), buckets: optional(fc.integer({ min: 1, max: 120 })) }),
        async ({ since, until, ...drawn }) => {
          const [from, to] = [since ?? '', until ?? new Date(Date.now() + minute).toISOString()]
          if (from > to) return
          const query = given({
            ...drawn,
            since: since ?? new Date(start).toISOString(),
            until: to,
          })
          const { buckets, bucketMs, countedFrom } = await admin.countLogs(query)
          expect(countedFrom).toBeUndefined()
          expect(buckets.length).toBeLessThanOrEqual(drawn.buckets ?? 60)
          const lines = all.filter((line) => matches(line, query))
          for (const bucket of buckets) {
            const begin = Date.parse(bucket.start)
            for (const level of logLevels) {
              const inBucket = lines.filter(({ timestamp, level: own }) => {
                const at = Date.parse(timestamp) - begin
                return own === level && at >= 0 && at < bucketMs
              })
              expect(bucket[level]).toBe(inBucket.length)
            }
          }
        },
      ),
      { numRuns: 40 },
    )
    await expect(
      admin.countLogs({ since: '2026-02-01', until: '2026-01-01' }),
    ).rejects.toMatchObject({ type: 'InvalidQuery' })
  })

  it('are counted in ranges that begin before 1970, also in a single bucket', async () => {
    const ofBucket = { source: 'bot', until: '2100-01-01', buckets: 1 } as const
    const after = await admin.countLogs({ ...ofBucket, since: '1970-01-01' })
    const before = await admin.countLogs({ ...ofBucket, since: '1900-01-01' })
    expect(before).toEqual(after)
    expect(before.buckets).toHaveLength(1)
    const range = { since: '0000-01-01', until: '1969-12-31' }
    const { buckets } = await admin.countLogs({ ...range, buckets: 1 })
    expect(buckets).toEqual([expect.objectContaining({ debug: 0, info: 0, warn: 0, error: 0 })])
  })

  it('contain the attempts at deliveries, with what they are about', async () => {
    const other = server().client({ ...(await addAccount(server())) })
    const http = await startHttpBot('refusing')
    const { bot } = await other.createBot({ url: http.url })
    const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
    const { key: userKey } = await server().client({ webhookId }).chatCreateUser({})
    const chat = server().client({ webhookId, userKey })
    const { conversation } = await chat.chatCreateConversation({})
    const conversationId = conversation.id
    const payload = { type: 'text', text: 'Hello' } as const
    await chat.chatCreateMessage({ conversationId, payload })
    const logs = await vi.waitFor(async () => {
      const found = await listAll(other, { conversationId })
      expect(found).toHaveLength(2)
      return found
    })
    expect(logs.find(({ source }) => source === 'delivery')).toMatchObject({
      level: 'warn',
      message: expect.stringMatching(/^Not delivered: message_created, attempt 1/),
      botId: bot.id,
      deliveryId: expect.stringMatching(/^delivery_/),
      conversationId,
    })
    expect(await listAll(other, { minLevel: 'warn', source: 'delivery' })).toHaveLength(1)
    const { buckets } = await other.countLogs({ source: 'delivery', botId: bot.id })
    const sum = (level: 'warn' | 'error') =>
      buckets.reduce((total, bucket) => total + bucket[level], 0)
    expect([sum('warn'), sum('error')]).toEqual([1, 0])
    // The first account sees none of it.
    expect(await listAll(admin, { source: 'delivery' })).toEqual([])
  })

  it('refuse what is foreign as they refuse what does not exist', async () => {
    const other = server().client({ ...(await addAccount(server())) })
    const messageOf = (query: Query) =>
      other.listLogs(query).then(
        () => undefined,
        ({ type, message }) => [type, message.replace(/[0-9a-f-]{36}|none/, '')],
      )
    for (const field of ['botId', 'integrationId'] as const) {
      const own = { botId: bots[0] ?? '', integrationId }[field]
      const refused = await messageOf({ [field]: 'none' })
      expect(refused?.[0]).toBe('ReferenceNotFound')
      expect(await messageOf({ [field]: own })).toEqual(refused)
    }
    expect(await listAll(other)).toEqual([])
  })

  it('have the few lines of a bot in one page, however many integrations of others have about it', async () => {
    const { bot } = await admin.createBot({ name: 'shared' })
    await write(bot.id, 'the oldest line', { timestamp: new Date(start).toISOString() })
    const stranger = await addAccount(server())
    await inDatabase(server(), ({ run }) =>
      run(async (tx) => {
        for (let part = 0; part < 25; part += 1) {
          const rows = Array.from({ length: 1000 }, (_, number) => ({
            id: `report_${part}_${number}`,
            workspace_id: stranger.workspaceId,
            bot_id: bot.id,
            integration_id: 'of-another-workspace',
            level: 'info' as const,
            message: 'foreign',
            user_id: null,
            workflow_id: null,
            conversation_id: null,
            message_id: null,
            event_id: null,
            created_at: new Date(start + minute + number).toISOString(),
          }))
          await tx.insertInto('log_lines').values(rows).execute()
        }
      }),
    )
    const page = await admin.listLogs({ botId: bot.id, pageSize: 10 })
    expect(page.logs.map(({ message }) => message)).toEqual(['the oldest line'])
    expect(page.meta.nextToken).toBeUndefined()
    await admin.deleteBot({ id: bot.id })
  })

  /** Follows the stream; `received` grows with what it sends. */
  async function follow(query = '', headers: Record<string, string> = {}) {
    const { token, workspaceId } = server()
    const response = await server().fetch(`/v1/admin/logs/stream${query}`, {
      headers: {
        authorization: `Bearer ${token}`,
        'x-workspace-id': workspaceId,
        ...headers,
      },
    })
    expect(response.status).toBe(200)
    const received: { id: string; type: string; data: Line }[] = []
    const reader = response.body?.getReader()
    const ended = (async () => {
      let text = ''
      for (;;) {
        const chunk = await reader?.read()
        if (chunk === undefined || chunk.done) return
        const frames = `${text}${Buffer.from(chunk.value).toString()}`.split('\n\n')
        text = frames.pop() ?? ''
        for (const frame of frames) {
          const [, id = ''] = /^id: (.*)$/m.exec(frame) ?? []
          const [, data = ''] = /^data: (.*)$/m.exec(frame) ?? []
          if (data.startsWith('{')) received.push({ id, ...JSON.parse(data) })
        }
      }
    })()
    return { received, ended, close: () => reader?.cancel() }
  }

  const messagesOf = ({ received }: { received: { data: Line }[] }) =>
    received.map(({ data }) => data.message)

  /** Lets the server look until a condition holds. */
  const eventually = (check: () => void) =>
    vi.waitFor(() => {
      server().clock.advance(1000)
      check()
    })

  it('are followed live, filtered, and continued after the last line', async () => {
    const [botId = '', otherId = ''] = bots
    const { meta } = await admin.listLogs({ pageSize: 1 })
    const everything = await follow()
    const errors = await follow(`?minLevel=error&botId=${botId}`)
    await write(botId, 'first')
    await write(botId, 'bad', { level: 'error' })
    await write(otherId, 'elsewhere', { level: 'error' })
    await eventually(() => {
      expect(messagesOf(everything)).toEqual(['first', 'bad', 'elsewhere'])
      expect(messagesOf(errors)).toEqual(['bad'])
    })
    const [first, bad] = everything.received
    await errors.close()
    await write(botId, 'worse', { level: 'error' })
    await eventually(() => expect(messagesOf(everything)).toContain('worse'))

    const again = await follow(`?minLevel=error&botId=${botId}`, {
      'last-event-id': errors.received[0]?.id ?? '',
    })
    await eventually(() => expect(messagesOf(again)).toContain('worse'))
    // Lines that came before may come again, with the same id.
    const known = all.map(({ id }) => id)
    const received = again.received.filter(({ data }) => !known.includes(data.id))
    expect(new Set(received.map(({ data }) => data.message))).toEqual(new Set(['worse']))
    expect(bad?.data).toEqual(errors.received[0]?.data)

    const fromList = await follow(`?lastEventId=${encodeURIComponent(meta.position)}`)
    await eventually(() =>
      expect(messagesOf(fromList)).toEqual(
        expect.arrayContaining(['first', 'bad', 'elsewhere', 'worse']),
      ),
    )
    expect(first?.type).toBe('log_line')
    const { bot } = await admin.createBot({ name: 'later' })
    await write(bot.id, 'from a new bot')
    await eventually(() => expect(messagesOf(everything)).toContain('from a new bot'))
    for (const each of [everything, again, fromList]) await each.close()
  })

  it('have every line from the moment at which the stream is open', async () => {
    const [botId = ''] = bots
    for (const round of ['one', 'two', 'three']) {
      const stream = await follow(`?botId=${botId}`)
      await write(botId, round)
      server().clock.advance(1000)
      await vi.waitFor(() => expect(messagesOf(stream)).toContain(round))
      await stream.close()
    }
  })

  it('send a reset to who missed very many', async () => {
    const [botId = ''] = bots
    const logs = Array.from({ length: 100 }, (_, number) => ({
      level: 'debug' as const,
      message: `many ${number}`,
    }))
    const before = new Date(server().clock.now() - 60_000).toISOString()
    const own = server().client({ botId })
    for (let i = 0; i < 11; i += 1) await own.writeBotLogs({ logs })
    const late = await follow(`?lastEventId=${encodeURIComponent(`${before}/`)}`)
    await eventually(() => expect(late.received[0]?.type).toBe('reset'))
    await write(botId, 'afterwards')
    await eventually(() => expect(messagesOf(late)).toContain('afterwards'))
    await late.close()
  })

  it('are followed only as long as the token is good', async () => {
    const { pat } = await admin.createPersonalAccessToken({ note: 'for a while' })
    const stream = await follow('', { authorization: `Bearer ${pat.value}` })
    await admin.deletePersonalAccessToken({ id: pat.id })
    let isOver = false
    stream.ended.then(() => {
      isOver = true
    })
    await vi.waitFor(() => {
      server().clock.advance(31_000)
      expect(isOver).toBe(true)
    })
  })

  it('refuse positions that are none, and too many streams', async () => {
    const { token, workspaceId } = await addAccount(server())
    const headers = { authorization: `Bearer ${token}`, 'x-workspace-id': workspaceId }
    for (const bad of ['x', '2026-99-99T00:00:00.000Z/']) {
      const query = `?lastEventId=${encodeURIComponent(bad)}`
      const response = await server().fetch(`/v1/admin/logs/stream${query}`, { headers })
      expect(response.status).toBe(400)
    }
    const open = []
    for (let i = 0; i < 20; i += 1) open.push(await follow('', headers))
    const refused = await server().fetch('/v1/admin/logs/stream', { headers })
    expect(refused.status).toBe(429)
    for (const each of open) await each.close()
  })
})
