import { randomUUID } from 'node:crypto'
import {
  type ApiError,
  errorFrom,
  ForbiddenError,
  InvalidJsonSchemaError,
  InvalidPayloadError,
  InvalidQueryError,
  isApiError,
  LimitExceededError,
  QuotaExceededError,
  ReferenceNotFoundError,
  ResourceNotFoundError,
  UnauthorizedError,
} from '@botpress/client'
import { describe, expect, it } from 'vitest'
import { existingClient, makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'

const classes = {
  ForbiddenError,
  InvalidJsonSchemaError,
  InvalidPayloadError,
  InvalidQueryError,
  LimitExceededError,
  QuotaExceededError,
  ReferenceNotFoundError,
  ResourceNotFoundError,
  UnauthorizedError,
}

async function failureOf(call: Promise<unknown>): Promise<ApiError> {
  return errorFrom(
    await call.then(
      () => 'no failure',
      (error: unknown) => error,
    ),
  )
}

describe('the existing client', () => {
  const server = useServer()

  it('lists, creates, changes and deletes bots', async () => {
    const client = existingClient(server())
    const { bot } = await client.createBot({ name: 'Ada', tags: { team: 'blue' } })
    const { bots, meta } = await client.listBots({ tags: { team: 'blue' } })
    expect(bots).toEqual([
      {
        id: bot.id,
        name: 'Ada',
        type: 'studio',
        tags: { team: 'blue' },
        createdAt: bot.createdAt,
        updatedAt: bot.updatedAt,
      },
    ])
    expect(meta).toEqual({})
    const { bot: changed } = await client.updateBot({
      id: bot.id,
      name: 'Grace',
      url: 'http://[::1]:9',
    })
    expect(changed).toMatchObject({ name: 'Grace', signingSecret: '' })
    expect((await client.getBot({ id: bot.id })).bot).toEqual(changed)
    expect(await client.deleteBot({ id: bot.id })).toEqual({})
    expect((await client.listBots({ tags: { team: 'blue' } })).bots).toEqual([])
  })

  it('reads all pages with its list helper', async () => {
    const client = existingClient(server())
    const names = Array.from({ length: 25 }, (_, i) => `walked-${i}`)
    for (const name of names) {
      await client.createBot({ name, tags: { walk: 'yes' } })
      // Bots of one moment have no order.
      server().clock.advance(1)
    }
    const tags = { walk: 'yes' }
    const all = await client.list.bots({ tags, sortDirection: 'asc' }).collect()
    expect(all.map(({ name }) => name)).toEqual(names)
    const newest = await client.list.bots({ tags }).collect({ limit: 3 })
    expect(newest.map(({ name }) => name)).toEqual(['walked-24', 'walked-23', 'walked-22'])
  })

  it('creates, gets and lists conversations', async () => {
    const { client } = await makeBot(server())
    const { conversation } = await client.createConversation({
      channel: 'channel',
      tags: { topic: 'pumps' },
    })
    expect(conversation).toMatchObject({
      channel: 'channel',
      integration: 'chat',
      tags: { topic: 'pumps' },
      messageCount: 0,
    })
    expect(await client.getConversation({ id: conversation.id })).toEqual({ conversation })
    const found = await client.list.conversations({ tags: { topic: 'pumps' } }).collect()
    expect(found).toEqual([conversation])
    expect(await client.list.conversations({ tags: { topic: 'none' } }).collect()).toEqual([])
  })

  it('manages tokens, keys and workspaces', async () => {
    const { admin, bot } = await makeBot(server())
    const { pat } = await admin.createPersonalAccessToken({ note: 'laptop' })
    const { pats } = await admin.listPersonalAccessTokens({})
    expect(pats.map(({ note }) => note)).toContain('laptop')
    await admin.deletePersonalAccessToken({ id: pat.id })
    const key = await admin.createBotApiKey({ botId: bot.id, note: 'deploy' })
    const withKey = existingClient(server(), { token: key.value, botId: bot.id })
    expect((await withKey.listConversations({})).conversations).toEqual([])
    expect((await admin.listBotApiKeys({ botId: bot.id })).baks).toMatchObject([{ id: key.id }])
    await admin.deleteBotApiKey({ id: key.id })
    const account = await admin.getAccount({})
    expect(account.account.id).toMatch(/^accnt_/)
    const workspaces = await existingClient(server(), { workspaceId: '' }).listWorkspaces({})
    expect(workspaces.workspaces.map(({ id }) => id)).toContain(server().workspaceId)
  })

  describe('throws its own error classes', () => {
    const client = () => existingClient(server())
    const inBot = (botId: string) => existingClient(server(), { botId })
    const id = randomUUID()
    const cases: [keyof typeof classes, number, () => Promise<unknown>][] = [
      ['ResourceNotFoundError', 404, () => client().getBot({ id })],
      ['UnauthorizedError', 401, () => inBot(id).listFiles({})],
      [
        'UnauthorizedError',
        401,
        () => existingClient(server(), { token: 'bp_pat_nobody' }).listBots({}),
      ],
      [
        'ForbiddenError',
        403,
        async () => {
          const { admin, bot } = await makeBot(server())
          const { value } = await admin.createBotApiKey({ botId: bot.id })
          await existingClient(server(), { token: value }).listBots({})
        },
      ],
      ['InvalidPayloadError', 400, () => client().createBot({ name: '' })],
      ['InvalidQueryError', 400, () => client().listBots({ nextToken: 'nonsense' })],
      ['InvalidQueryError', 400, () => client().listBots({ pageSize: 101 })],
      ['ReferenceNotFoundError', 400, () => client().createBotApiKey({ botId: id })],
      [
        'InvalidJsonSchemaError',
        400,
        () => client().createBot({ events: { broken: { schema: { type: 'nonsense' } } } }),
      ],
      [
        'LimitExceededError',
        413,
        async () => {
          const { client } = await makeBot(server())
          await client.upsertFile({ key: 'huge', size: 95_000_001, index: true })
        },
      ],
      [
        'QuotaExceededError',
        403,
        async () => {
          const { client } = await makeBot(server())
          const size = 4 * 1024 ** 3
          for (const key of ['1', '2', '3']) await client.upsertFile({ key, size })
        },
      ],
    ]
    it.each(cases)('%s with status %d', async (name, code, call) => {
      const error = await failureOf(call())
      expect(isApiError(error)).toBe(true)
      expect(error).toBeInstanceOf(classes[name])
      expect(`${error.type}Error`).toBe(name)
      expect(error.code).toBe(code)
      expect(error.id).toMatch(/^req_[0-9A-Z]{26}$/)
      expect(error.message).not.toBe('')
    })
  })
})
