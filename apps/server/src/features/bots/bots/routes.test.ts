import { join } from 'node:path'
import { ApiError } from '@botstead/contract'
import { describe, expect, it } from 'vitest'
import { describeEachEngine } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { openDatabase } from '../../../platform/db/open.js'

describeEachEngine('bots', (engine) => {
  const server = useServer(engine)

  it('creates a bot from an empty body, with a chat address', async () => {
    const client = server().client({ headers: { 'x-multiple-integrations': 'true' } })
    const { bot } = await client.createBot({})
    expect(bot.name).toMatch(/^bot-[0-9a-f]{8}$/)
    expect(bot).toMatchObject({ dev: false, type: 'studio', tags: {}, status: 'active' })
    expect(bot.signingSecret).not.toBe('')
    const chat = bot.integrations.chat
    expect(chat).toMatchObject({ name: 'chat', enabled: true, status: 'registered' })
    expect(chat?.webhookUrl).toBe(`${server().url}/chat/${chat?.webhookId}`)
    expect((await client.getBot({ id: bot.id })).bot).toEqual({ ...bot, signingSecret: '' })
  })

  it('finds bots by a part of their name and by their ids, in their workspace only', async () => {
    const client = server().client()
    const made = await Promise.all(
      ['Étage 100%', 'étagère', 'Other'].map(
        async (name) => (await client.createBot({ name })).bot,
      ),
    )
    const { bot: dev } = await client.createBot({ name: 'In development', dev: true })
    const namesOf = async (filter: string) => {
      const response = await fetch(`${server().url}/v1/admin/bots?${filter}`, {
        headers: {
          authorization: `Bearer ${server().token}`,
          'x-workspace-id': server().workspaceId,
        },
      })
      const { bots } = (await response.json()) as { bots: { name: string }[] }
      return bots.map(({ name }) => name).toSorted()
    }
    expect(await namesOf('name=%C3%89TAG')).toEqual(['Étage 100%', 'étagère'])
    expect(await namesOf('name=0%25')).toEqual(['Étage 100%'])
    const ids = [made[2]?.id, dev.id, 'unknown'].map((id) => `ids=${id}`).join('&')
    expect(await namesOf(ids)).toEqual(['In development', 'Other'])
    expect(await namesOf(`${ids}&dev=true`)).toEqual(['In development'])
  })

  it('keys integrations by their id for clients that do not ask for aliases', async () => {
    const { bot } = await server().client().createBot({})
    const [key] = Object.keys(bot.integrations)
    expect(bot.integrations[key ?? '']?.id).toBe(key)
  })

  it('patches maps by name and shows names of secrets only', async () => {
    const client = server().client()
    const { bot } = await client.createBot({
      name: 'Patched',
      tags: { color: 'red', size: 'l' },
      events: { opened: { schema: {}, attributes: { a: '1', b: '2' } } },
      secrets: { API_KEY: 'k1', OTHER: 'k2' },
      url: 'http://127.0.0.1:9',
    })
    expect(bot.deployedAt).toBe(bot.createdAt)
    const { bot: patched } = await client.updateBot({
      id: bot.id,
      description: 'new',
      tags: { color: null, shape: 'round' },
      events: { opened: { schema: {}, attributes: { a: null, b: '3' } }, closed: { schema: {} } },
      secrets: { OTHER: null },
    })
    expect(patched.tags).toEqual({ size: 'l', shape: 'round' })
    expect(patched.events.opened?.attributes).toEqual({ b: '3' })
    expect(Object.keys(patched.events)).toEqual(['opened', 'closed'])
    expect(patched.secrets).toEqual(['API_KEY'])
    expect(patched.description).toBe('new')
    expect(patched.deployedAt).toBe(bot.deployedAt)
    expect(patched.hosted).toBe(false)
    expect(JSON.stringify(patched)).not.toContain('k1')
  })

  it('configures the built-in chat and switches it on and off, and nothing else', async () => {
    const client = server().client({ headers: { 'x-multiple-integrations': 'true' } })
    const { bot } = await client.createBot({})
    const { bot: changed } = await client.updateBot({
      id: bot.id,
      integrations: { chat: { enabled: false, configuration: { encryptionKey: 'secret' } } },
    })
    expect(changed.integrations.chat).toMatchObject({
      enabled: false,
      status: 'unregistered',
      configuration: { encryptionKey: 'secret' },
    })
    const has = 'which has encryptionKey, webhookUrl, webhookSecret.'
    for (const [configuration, message] of [
      [{ encryptionKey: 5 }, 'encryptionKey must be a string'],
      [
        { encriptionKey: 'a' },
        `encriptionKey is no setting of chat, ${has} Did you mean encryptionKey?`,
      ],
      [{ webhook_url: 'a' }, `webhook_url is no setting of chat, ${has} Did you mean webhookUrl?`],
      [{ encryptionKey: 'a', theme: 'dark' }, `theme is no setting of chat, ${has}`],
    ] as const) {
      const patch = { id: bot.id, integrations: { chat: { configuration } } }
      const error: unknown = await client.updateBot(patch).catch((error: unknown) => error)
      expect(error).toMatchObject({
        type: 'InvalidDataFormat',
        message: expect.stringMatching(`^body\\.integrations\\.chat\\.configuration\\.`),
      })
      expect(Object(error).message).toContain(message)
    }
    const slip = { enabled: true, configuraton: { encryptionKey: 'other' } }
    await expect(client.updateBot({ id: bot.id, integrations: { chat: slip } })).rejects.toThrow(
      'body.integrations.chat.configuraton is no member of an installation. Did you mean configuration?',
    )
    // A client may send back the recurring events that a response shows.
    const { bot: kept } = await client.updateBot({
      id: bot.id,
      integrations: {
        chat: {
          ...changed.integrations.chat,
          enabled: true,
          configuration: { webhookSecret: 'other' },
        },
      },
    })
    expect(kept.integrations.chat?.configuration).toEqual({ webhookSecret: 'other' })
    await expect(
      client.updateBot({ id: bot.id, integrations: { slack: { enabled: true } } }),
    ).rejects.toMatchObject({ type: 'ReferenceNotFound' })
    // Tools send null for what their project does not declare.
    for (const key of ['chat', kept.integrations.chat?.id ?? '']) {
      const { bot: same } = await client.updateBot({ id: bot.id, integrations: { [key]: null } })
      expect(same.integrations.chat).toEqual(kept.integrations.chat)
    }
  })

  it('limits the size of a definition that grows by many small updates', async () => {
    const client = server().client()
    const tags = (prefix: string, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, 'x']))
    const actions = (prefix: string, count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, i) => [
          `${prefix}${i}`,
          { input: { schema: {} }, output: { schema: {} } },
        ]),
      )
    const { bot } = await client.createBot({ tags: tags('a', 200), actions: actions('a', 200) })
    for (const patch of [{ tags: tags('b', 1) }, { actions: actions('b', 1) }]) {
      await expect(client.updateBot({ id: bot.id, ...patch })).rejects.toMatchObject({
        type: 'LimitExceeded',
        message: expect.stringContaining('may hold 200 entries, not 201'),
      })
    }
    await client.updateBot({ id: bot.id, tags: { a0: null, b0: 'x' } })
  })

  it('refuses definitions beyond the limits or with a broken schema', async () => {
    const client = server().client()
    const states = Object.fromEntries(
      Array.from({ length: 11 }, (_, i) => [`s${i}`, { type: 'bot' as const, schema: {} }]),
    )
    await expect(client.createBot({ states })).rejects.toMatchObject({ type: 'LimitExceeded' })
    await expect(
      client.createBot({ events: { broken: { schema: { type: 'nonsense' } } } }),
    ).rejects.toMatchObject({ type: 'InvalidJsonSchema' })
    await expect(client.createBot({ secrets: { lower: 'x' } })).rejects.toMatchObject({
      type: 'InvalidPayload',
    })
  })

  it('refuses an address that nobody can call, of bots and of integrations', async () => {
    const client = server().client()
    const refusal = {
      type: 'InvalidDataFormat',
      message: expect.stringMatching(/^body\.url must be an http or https address/),
    }
    const { bot } = await client.createBot({
      name: 'Well addressed',
      url: 'http://127.0.0.1:9/bot',
    })
    for (const url of ['nonsense', 'localhost:8074', 'ftp://127.0.0.1', 'http://', 'https://a b']) {
      await expect(client.createBot({ url })).rejects.toMatchObject(refusal)
      await expect(client.updateBot({ id: bot.id, url })).rejects.toMatchObject(refusal)
      const integration = client.createIntegration({ name: 'addressless', version: '1.0.0', url })
      await expect(integration).rejects.toMatchObject(refusal)
    }
  })

  it('forgets a deleted bot at once', async () => {
    const client = server().client()
    const { bot } = await client.createBot({})
    await client.deleteBot({ id: bot.id })
    await expect(client.getBot({ id: bot.id })).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
    await expect(client.deleteBot({ id: bot.id })).rejects.toBeInstanceOf(ApiError)
    const listed = await client.listBots({ pageSize: 100 })
    expect(listed.bots.map(({ id }) => id)).not.toContain(bot.id)
  })

  it('returns the first response again to a repeated creation', async () => {
    const client = server().client()
    const input = { name: 'Once' }
    const key = { idempotencyKey: 'create-once' }
    const first = await client.createBot(input, key)
    expect(await client.createBot(input, key)).toEqual(first)
    await expect(client.createBot({ name: 'Other' }, key)).rejects.toMatchObject({
      type: 'AlreadyExists',
    })
    const parallel = await Promise.all(
      Array.from({ length: 8 }, () => client.createBot(input, { idempotencyKey: 'parallel' })),
    )
    expect(new Set(parallel.map(({ bot }) => bot.id)).size).toBe(1)
  })
})

describe('the list of bots', () => {
  const server = useServer()

  it('pages through all bots in both directions, without the other kind', async () => {
    const client = server().client()
    const { bots: before } = await client.listBots({ pageSize: 100 })
    const names = Array.from({ length: 7 }, (_, i) => `paged-${i}`)
    for (const name of names) {
      await client.createBot({ name, tags: { set: 'paged' } })
      // Bots of one moment have no order.
      server().clock.advance(1)
    }
    await client.createBot({ name: 'hidden', dev: true, tags: { set: 'paged' } })

    const walk = async (sortDirection: 'asc' | 'desc') => {
      const seen: string[] = []
      let nextToken: string | undefined
      do {
        const page = await client.listBots({
          tags: { set: 'paged' },
          pageSize: 3,
          sortDirection,
          ...(nextToken && { nextToken }),
        })
        seen.push(...page.bots.map(({ name }) => name))
        nextToken = page.meta.nextToken
      } while (nextToken)
      return seen
    }
    expect(await walk('asc')).toEqual(names)
    expect(await walk('desc')).toEqual(names.toReversed())
    const { bots: dev } = await client.listBots({ dev: true })
    expect(dev.map(({ name }) => name)).toContain('hidden')
    expect((await client.listBots({ pageSize: 100 })).bots.length).toBe(before.length + 7)
  })

  it('finds bots by what is installed in them', async () => {
    const client = server().client()
    expect((await client.listBots({ integrationNames: ['chat'] })).bots.length).toBeGreaterThan(0)
    expect((await client.listBots({ integrationNames: ['chat', 'slack'] })).bots).toEqual([])
    expect((await client.listBots({ pluginNames: ['any'] })).bots).toEqual([])
  })

  it('refuses a token of another list', async () => {
    const client = server().client()
    const page = await client.listBots({ pageSize: 1 })
    expect(page.meta.nextToken).toBeDefined()
    for (const query of [
      { nextToken: page.meta.nextToken, sortDirection: 'asc' as const },
      { nextToken: page.meta.nextToken, dev: true },
      { nextToken: `${page.meta.nextToken}A` },
      { nextToken: 'nonsense' },
    ]) {
      await expect(client.listBots(query)).rejects.toMatchObject({ type: 'InvalidQuery' })
    }
  })
})

describeEachEngine('a list of bots that was requested before', (engine) => {
  const server = useServer(engine)

  it('is the same until a bot changes, here or in another process', async () => {
    const client = server().client()
    const { bot } = await client.createBot({ name: 'first' })
    const names = async () => (await client.listBots()).bots.map(({ name }) => name)
    expect(await names()).toEqual(['first'])
    expect(await names()).toEqual(['first'])

    await client.updateBot({ id: bot.id, name: 'second' })
    expect(await names()).toEqual(['second'])

    const { config } = server().server
    await using other = await openDatabase(
      config.databaseUrl === undefined
        ? { file: join(config.dataDir, 'botstead.db') }
        : { url: config.databaseUrl },
    )
    await other.run(async (tx) => {
      await tx.updateTable('bots').set({ name: 'third' }).where('id', '=', bot.id).execute()
    })
    expect(await names()).toEqual(['third'])

    await client.deleteBot({ id: bot.id })
    expect(await names()).toEqual([])
  })

  it('belongs to its workspace alone', async () => {
    const own = server().client()
    const { bot } = await own.createBot({ name: 'mine' })
    const workspace = await own.createWorkspace({ name: 'Other' })
    const other = server().client({ workspaceId: workspace.id })
    expect((await own.listBots()).bots.map(({ id }) => id)).toEqual([bot.id])
    expect((await other.listBots()).bots).toEqual([])
    expect((await own.listBots()).bots.map(({ id }) => id)).toEqual([bot.id])
  })
})
