import { beforeAll, expect, it } from 'vitest'
import { describeEachEngine } from '../../../../test/engines.js'
import { type TestServer, useServer } from '../../../../test/harness.js'

describeEachEngine('conversations of a bot', (engine) => {
  const running = useServer(engine)
  let server: TestServer
  let botId: string

  beforeAll(async () => {
    server = running()
    botId = (await server.client().createBot({})).bot.id
  })

  const call = (query: string) =>
    server.fetch(`/v1/chat/conversations${query}`, {
      headers: { authorization: `Bearer ${server.token}`, 'x-bot-id': botId },
    })

  it('are created with the given members and shown the same everywhere', async () => {
    const runtime = server.client({ botId })
    const { conversation } = await runtime.createConversation({
      channel: 'channel',
      tags: { topic: 'tea', empty: '' },
      integrationName: 'fax',
      properties: { locale: 'en' },
    })
    expect(conversation).toEqual({
      id: expect.stringMatching(/^conv_[0-9A-Z]{26}$/),
      createdAt: conversation.createdAt,
      updatedAt: conversation.createdAt,
      channel: 'channel',
      integration: 'fax',
      tags: { topic: 'tea' },
      messageCount: 0,
      properties: { locale: 'en' },
    })
    expect(await runtime.getConversation({ id: conversation.id })).toEqual({ conversation })
    const { conversations } = await runtime.listConversations({ tags: { topic: 'tea' } })
    expect(conversations).toEqual([conversation])
  })

  it('are created with 201, and once per idempotency key', async () => {
    const body = JSON.stringify({ channel: 'once', tags: {} })
    const create = () =>
      server.fetch('/v1/chat/conversations', {
        method: 'POST',
        headers: {
          authorization: `Bearer ${server.token}`,
          'x-bot-id': botId,
          'content-type': 'application/json',
          'idempotency-key': 'once',
        },
        body,
      })
    const responses = await Promise.all([create(), create(), create()])
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 201])
    const bodies = await Promise.all(responses.map((response) => response.text()))
    expect(new Set(bodies).size).toBe(1)
    const { conversations } = await server.client({ botId }).listConversations({ channel: 'once' })
    expect(conversations).toHaveLength(1)
  })

  it('are created in each bot, and for each caller in it, whatever idempotency keys others used', async () => {
    const admin = server.client()
    const { integration } = await admin.createIntegration({ name: 'shared', version: '1.0.0' })
    const other = (await admin.createBot({})).bot.id
    await admin.updateBot({ id: other, integrations: { [integration.id]: {} } })
    const create = async (headers: Record<string, string>) => {
      const response = await server.fetch('/v1/chat/conversations', {
        method: 'POST',
        headers: {
          authorization: `Bearer ${server.token}`,
          'content-type': 'application/json',
          'idempotency-key': 'shared',
          ...headers,
        },
        body: JSON.stringify({ channel: 'shared', tags: {} }),
      })
      const { conversation } = (await response.json()) as { conversation: { id: string } }
      return conversation.id
    }
    const callers: Record<string, string>[] = [
      { 'x-bot-id': botId },
      { 'x-bot-id': other },
      { 'x-bot-id': other, 'x-integration-id': integration.id },
    ]
    const first = await Promise.all(callers.map(create))
    expect(new Set(first).size).toBe(callers.length)
    expect(await Promise.all(callers.map(create))).toEqual(first)
  })

  it('are filtered by tags in every notation that callers use', async () => {
    const runtime = server.client({ botId })
    const { conversation } = await runtime.createConversation({
      channel: 'tagged',
      tags: { 'mail:id': 'C42' },
    })
    for (const query of [
      '?tags.mail%3Aid=C42',
      '?tags[mail:id]=C42',
      `?tags=${encodeURIComponent('{"mail:id":"C42"}')}`,
    ]) {
      const response = await call(query)
      expect([query, await response.json()]).toEqual([
        query,
        { conversations: [conversation], meta: {} },
      ])
    }
  })

  it.each([
    [`?channel=${'x'.repeat(201)}`, 'query.channel must have at most 200 characters.'],
    ['?sortField=name', 'query.sortField must be one of createdAt, updatedAt.'],
    ['?afterDate=yesterday', 'query.afterDate must be an ISO 8601 date and time'],
    ['?minMessageCount=-1', 'query.minMessageCount must be at least 0.'],
    ['?pageSize=101', 'query.pageSize must be at most 100.'],
  ])('are not listed for the query %s', async (query, message) => {
    const response = await call(query)
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { type: 'InvalidQuery', message: expect.stringContaining(message) },
    ])
  })

  it('limit the length of channel and integration', async () => {
    const runtime = server.client({ botId })
    const longest = 'x'.repeat(200)
    const { conversation } = await runtime.createConversation({
      channel: longest,
      integrationName: longest,
      tags: {},
    })
    expect(conversation).toMatchObject({ channel: longest, integration: longest })
    for (const input of [
      { channel: `${longest}x` },
      { channel: '' },
      { channel: 'a', integrationName: `${longest}x` },
    ]) {
      await expect(runtime.createConversation({ tags: {}, ...input })).rejects.toMatchObject({
        type: 'InvalidPayload',
      })
    }
  })
})
