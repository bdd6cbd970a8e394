import { expect, it, vi } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { existingClient } from '../../../../test/existing-clients.js'
import { useServer } from '../../../../test/harness.js'
import { registered } from '../../../../test/remote/integration.js'
import { useRemote } from '../../../../test/remote/server.js'
import { inDatabase } from '../../../../test/tenancy/seed.js'
import { addAccount, type Login } from '../../../../test/tenant.js'

const since = '2020-01-01T00:00:00Z'

describeSlow('published integrations', (engine) => {
  const server = useServer(engine)
  const remote = useRemote()
  let count = 0
  const newName = () => `post-${++count}`
  const client = (login?: Login) =>
    existingClient(server(), { ...login, headers: { 'x-multiple-integrations': 'true' } })

  /** A public integration of one workspace. */
  async function publish(login: Login, url = remote().url) {
    const admin = client(login)
    const { integration } = await admin.createIntegration({
      name: newName(),
      version: '1.0.0',
      title: 'Post',
      visibility: 'public',
      url,
      secrets: { API_KEY: 'hidden' },
      code: 'secret code',
      channels: { inbox: { messages: { text: { schema: {} } } } },
      actions: { send: { input: { schema: {} }, output: { schema: {} } } },
    })
    const key = await admin.createIntegrationApiKey({ integrationId: integration.id })
    return { admin, integration, key: key.value, login }
  }

  type Published = Awaited<ReturnType<typeof publish>>

  /** The integration in a bot of another workspace. */
  async function install({ integration }: Published) {
    const login = await addAccount(server())
    const admin = client(login)
    const { bot } = await admin.createBot({ name: 'Theirs' })
    const integrations = { post: { integrationId: integration.id, enabled: true } }
    await admin.updateBot({ id: bot.id, integrations })
    const installed = await registered(admin, bot.id, 'post')
    return {
      admin,
      bot,
      login,
      installed,
      inBot: existingClient(server(), { ...login, botId: bot.id }),
    }
  }

  it('are in the hub of every workspace, without what is their own', async () => {
    const owner = await addAccount(server())
    const { admin, integration } = await publish(owner)
    const { id, name } = integration
    const other = client(await addAccount(server()))
    for (const each of [admin, other]) {
      const { integration: found } = await each.getPublicIntegrationById({ id })
      expect(found).toMatchObject({
        id,
        name,
        visibility: 'public',
        public: true,
        verificationStatus: 'unapproved',
        url: '',
        secrets: [],
        signingSecret: '',
        channels: integration.channels,
        meta: { installs: 0, views: 0 },
        ownerWorkspace: { id: owner.workspaceId, handle: null, name: 'Own' },
      })
      expect(JSON.stringify(found)).not.toContain('secret code')
      const byName = await each.getPublicIntegration({ name, version: '>=1.0.0 <2.0.0' })
      expect(byName.integration).toEqual(found)
    }
    const missing = { type: 'ResourceNotFound', code: 404 }
    for (const look of [
      () => other.getIntegration({ id }),
      () => other.getIntegrationByName({ name, version: 'latest' }),
      () => other.updateIntegration({ id, title: 'Taken' }),
      () => other.deleteIntegration({ id }),
      () => other.rotateIntegrationSigningSecrets({ id }),
      () => other.getIntegrationLogs({ id, timeStart: since }),
    ]) {
      await expect(look()).rejects.toMatchObject(missing)
    }
    const unknown = { type: 'ReferenceNotFound' }
    await expect(other.createIntegrationApiKey({ integrationId: id })).rejects.toMatchObject(
      unknown,
    )
  })

  it('are listed with the chat, sorted, filtered and page by page', async () => {
    const owner = await addAccount(server())
    const names = []
    for (let at = 0; at < 3; at++) names.push((await publish(owner)).integration.name)
    await client(owner).createIntegration({
      name: names[0] ?? '',
      version: '2.0.0',
      visibility: 'unlisted',
    })
    await client(owner).createIntegration({
      name: names[0] ?? '',
      version: '3.0.0',
      visibility: 'public',
      dev: true,
    })
    const other = client(await addAccount(server()))
    const all = async (query: Parameters<typeof other.listPublicIntegrations>[0]) => {
      const found = []
      let nextToken: string | undefined
      do {
        const page = await other.listPublicIntegrations({
          ...query,
          pageSize: 1,
          ...(nextToken && { nextToken }),
        })
        expect(page.integrations.length).toBeLessThanOrEqual(1)
        found.push(...page.integrations)
        nextToken = page.meta.nextToken
      } while (nextToken)
      return found
    }
    const everything = await all({ sortBy: 'name' })
    expect(everything.map(({ name }) => name)).toEqual(
      everything.map(({ name }) => name).toSorted(),
    )
    expect(everything.map(({ name }) => name)).toEqual(expect.arrayContaining(['chat', ...names]))
    expect(new Set(everything.map(({ id }) => id)).size).toBe(everything.length)
    const named = await all({ name: names[0] ?? '' })
    expect(named.map(({ version }) => version)).toEqual(['1.0.0'])
    const chat = await all({ verificationStatus: 'approved' })
    expect(chat).toMatchObject([
      { name: 'chat', version: '1.0.0', ownerWorkspace: { name: 'Botstead' } },
    ])
    expect((await all({ name: 'chat', version: '0.7.6' })).map(({ id }) => id)).not.toEqual([
      chat[0]?.id,
    ])
    expect(await all({ search: 'WEB AND APP CHAT' })).toMatchObject([{ name: 'chat' }])
    const { integration } = await other.getPublicIntegration({
      name: names[0] ?? '',
      version: 'latest',
    })
    expect(integration).toMatchObject({ version: '2.0.0', visibility: 'unlisted' })
  })

  it('are installed in bots of other workspaces, which do not learn where they run', async () => {
    const published = await publish(await addAccount(server()))
    const { integration } = published
    const { admin, bot, inBot, installed, login } = await install(published)
    expect(installed).toMatchObject({ status: 'registered', id: integration.id, title: 'Post' })
    expect(remote().requestsOf('register').at(-1)?.headers).toMatchObject({ 'x-bot-id': bot.id })
    const { integrations } = await admin.listPublicIntegrations({ installedByBotId: bot.id })
    expect(integrations.map(({ name }) => name).toSorted()).toEqual(['chat', integration.name])
    const stranger = client(await addAccount(server()))
    expect(
      (await stranger.listPublicIntegrations({ installedByBotId: bot.id })).integrations,
    ).toEqual([])
    expect(
      (await published.admin.listIntegrations({ installedByBotId: bot.id })).integrations,
    ).toEqual([])
    const [listed] = (await stranger.listPublicIntegrations({ name: integration.name }))
      .integrations
    expect(listed?.meta).toEqual({ installs: 1, views: 0 })

    remote().behave(({ json }) => ({ body: { output: { did: json.type } } }))
    expect(await inBot.callAction({ type: 'post:send', input: {} })).toMatchObject({
      output: { did: 'send' },
    })
    const theirs = existingClient(server(), {
      token: published.key,
      botId: bot.id,
      integrationId: integration.id,
      integrationAlias: 'post',
    })
    const { conversation } = await theirs.createConversation({ channel: 'inbox', tags: {} })
    await inBot.createMessage({
      conversationId: conversation.id,
      userId: bot.id,
      type: 'text',
      payload: { text: 'Hello' },
      tags: {},
    })
    await vi.waitFor(() => expect(remote().requestsOf('message_created')).toHaveLength(1))
    const response = await fetch(`${installed?.webhookUrl}/form`, { method: 'POST', body: 'hi' })
    expect(response.status).toBe(200)
    expect(remote().requestsOf('webhook_received').at(-1)?.headers).toMatchObject({
      'x-bot-id': bot.id,
    })

    const ours = server().client(login)
    const { deliveries } = await vi.waitFor(async () => {
      const page = await ours.listWorkspaceDeliveries({
        integration: 'post',
        status: ['delivered'],
      })
      expect(page.deliveries).toHaveLength(1)
      return page
    })
    const { delivery } = await ours.getWorkspaceDelivery({ deliveryId: deliveries[0]?.id ?? '' })
    expect(delivery.attemptLog).toHaveLength(1)
    expect(JSON.stringify(delivery)).not.toContain(new URL(remote().url).port)
    expect(delivery.attemptLog[0]?.request).not.toHaveProperty('signature')
  })

  it('reach the bots in which they are installed with their key, and no others', async () => {
    const published = await publish(await addAccount(server()))
    const { admin, bot, inBot } = await install(published)
    const { bot: another } = await admin.createBot({})
    const theirs = (botId: string) => existingClient(server(), { token: published.key, botId })
    await theirs(bot.id).createUser({ tags: {} })
    await expect(theirs(another.id).createUser({ tags: {} })).rejects.toMatchObject({
      type: 'Forbidden',
    })
    // The person behind the integration is no member of the workspace of the bot.
    const person = existingClient(server(), { ...published.login, botId: bot.id })
    await expect(person.createUser({ tags: {} })).rejects.toMatchObject({ type: 'Unauthorized' })
    await admin.updateBot({ id: bot.id, integrations: { post: null } })
    await expect(theirs(bot.id).createUser({ tags: {} })).rejects.toMatchObject({
      type: 'Forbidden',
    })
    expect((await inBot.listUsers({})).users.length).toBeGreaterThan(0)
  })

  it('have logs for their developers, who alone learn why calls fail', async () => {
    const published = await publish(await addAccount(server()), 'http://127.0.0.1:9/post')
    const { admin, bot, inBot, installed, login } = await install(published)
    expect(installed).toMatchObject({
      status: 'registration_failed',
      statusReason: 'The server of the integration cannot be reached.',
    })
    const call = inBot.callAction({ type: 'post:send', input: {} })
    await expect(call).rejects.toMatchObject({
      type: 'Runtime',
      message: expect.not.stringContaining('127.0.0.1'),
    })
    const { id } = published.integration
    const { logs } = await vi.waitFor(async () => {
      const found = await published.admin.getIntegrationLogs({ id, timeStart: since })
      expect(found.logs).toHaveLength(1)
      return found
    })
    expect(logs[0]).toMatchObject({ botId: bot.id, level: 'error' })
    expect(logs[0]?.message).toContain('ECONNREFUSED')

    const [theirs, ours] = [server().client(published.login), server().client(login)]
    const developed = await theirs.listLogs({ source: 'integration', integrationId: id })
    expect(developed.logs).toHaveLength(1)
    for (const filter of [{}, { botId: bot.id }, { source: 'integration' as const }]) {
      const lines = (await ours.listLogs(filter)).logs
      expect(lines.filter(({ source }) => source === 'integration')).toEqual([])
      const counts = await ours.countLogs({ ...filter, source: 'integration' })
      expect(JSON.stringify(counts)).not.toMatch(/"error":[1-9]/)
    }
    await expect(ours.listLogs({ integrationId: id })).rejects.toMatchObject({
      type: 'ReferenceNotFound',
    })
    const { installations } = await theirs.listIntegrationInstallations({ id })
    expect(installations).toEqual([])
    await expect(ours.listIntegrationInstallations({ id })).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
    await admin.deleteBot({ id: bot.id })
  })

  it('can neither be hidden nor deleted while others have them', async () => {
    const published = await publish(await addAccount(server()))
    const { id } = published.integration
    const { admin, bot } = await install(published)
    const inUse = { type: 'ReferenceConstraint', message: expect.not.stringContaining(bot.id) }
    await expect(published.admin.deleteIntegration({ id })).rejects.toMatchObject(inUse)
    const hiding = () => published.admin.updateIntegration({ id, visibility: 'private' })
    await expect(hiding()).rejects.toMatchObject(inUse)
    const { integration } = await published.admin.updateIntegration({ id, visibility: 'unlisted' })
    expect(integration.visibility).toBe('unlisted')
    expect((await admin.getBot({ id: bot.id })).bot.integrations.post).toMatchObject({
      title: 'Post',
      visibility: 'unlisted',
    })
    await admin.updateBot({ id: bot.id, integrations: { post: null } })
    await hiding()
    const again = admin.updateBot({ id: bot.id, integrations: { post: { integrationId: id } } })
    await expect(again).rejects.toMatchObject({ type: 'ReferenceNotFound' })
    await published.admin.deleteIntegration({ id })
  })

  it('leave the bots of others when their workspace is deleted, and no rows', async () => {
    const published = await publish(await addAccount(server()))
    const { id } = published.integration
    const { admin, bot, inBot } = await install(published)
    await published.admin.deleteWorkspace({ id: published.login.workspaceId })
    const { bot: left } = await admin.getBot({ id: bot.id })
    expect(Object.keys(left.integrations)).toEqual(['chat'])
    const { logs } = await admin.getBotLogs({ id: bot.id, timeStart: since })
    expect(logs).toMatchObject([{ level: 'warn', message: expect.stringContaining('as post') }])
    await expect(inBot.callAction({ type: 'post:send', input: {} })).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
    const theirs = existingClient(server(), { token: published.key, botId: bot.id })
    await expect(theirs.createUser({ tags: {} })).rejects.toMatchObject({ type: 'Unauthorized' })
    await server().pass(60_000)
    await vi.waitFor(async () => {
      const rows = await inDatabase(server(), async ({ db }) => [
        ...(await db.selectFrom('integrations').select('id').where('id', '=', id).execute()),
        ...(await db
          .selectFrom('installations')
          .select('alias as id')
          .where('integration_id', '=', id)
          .execute()),
        ...(await db
          .selectFrom('log_lines')
          .select('id')
          .where('integration_id', '=', id)
          .execute()),
      ])
      expect(rows).toEqual([])
    })
  })
})

describeSlow('the built-in chat', (engine) => {
  const server = useServer(engine)

  it('is what tools of today and older ones find, install and accept', async () => {
    const today = existingClient(server(), { headers: { 'x-multiple-integrations': 'true' } })
    const older = existingClient(server())
    const { bot } = await today.createBot({})
    const { id } = bot
    const chat = bot.integrations.chat
    expect(chat).toMatchObject({ name: 'chat', version: '1.0.0', enabled: true })
    const find = async (version: string) =>
      (await today.getPublicIntegration({ name: 'chat', version })).integration
    expect((await find('1.0.0')).id).toBe(chat?.id)
    expect((await find('latest')).version).toBe('1.0.0')
    expect((await find('>=0.7.0 <1.0.0')).version).toBe('0.7.6')
    const former = await find('0.7.6')
    const byId = await today.getPublicIntegrationById({ id: former.id })
    expect(byId.integration).toEqual(former)

    // As `bp chat` of a client of version 0.7 installs it, by alias or by id.
    const webhookId = chat?.webhookId
    const install = { enabled: true, configuration: {} }
    const { bot: aliased } = await today.updateBot({
      id,
      integrations: { chat: { integrationId: former.id, ...install } },
    })
    expect(aliased.integrations).toMatchObject({
      chat: { id: former.id, version: '0.7.6', webhookId, status: 'registered' },
    })
    await today.updateBot({ id, integrations: { chat: { enabled: true } } })
    expect(Object.keys((await older.getBot({ id })).bot.integrations)).toEqual([former.id])
    // As deployments of older tools send it, which remove what the project does not declare.
    const { bot: back } = await older.updateBot({
      id,
      integrations: { [chat?.id ?? '']: install, [former.id]: null },
    } as never)
    expect(Object.values(back.integrations)).toMatchObject([
      { id: chat?.id, version: '1.0.0', webhookId },
    ])
    const { bot: again } = await older.updateBot({ id, integrations: { [former.id]: install } })
    expect(Object.keys(again.integrations)).toEqual([former.id])
    const { bots } = await today.listBots({ integrationNames: ['chat'] })
    expect(bots.map((each) => each.id)).toContain(id)
    const greeting = await server().fetch(`/chat/${webhookId}/hello`)
    expect(greeting.status).toBe(200)
    const second = today.updateBot({
      id,
      integrations: { other: { integrationId: chat?.id ?? '', ...install } },
    })
    await expect(second).rejects.toMatchObject({ type: 'ReferenceConstraint' })
  })
})
