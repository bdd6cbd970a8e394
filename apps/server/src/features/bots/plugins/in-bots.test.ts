import { expect, it } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { existingClient } from '../../../../test/existing-clients.js'
import { useServer } from '../../../../test/harness.js'
import { useRemote } from '../../../../test/remote/server.js'
import { inDatabase } from '../../../../test/tenancy/seed.js'
import { addAccount, type Login } from '../../../../test/tenant.js'

const object = (properties: object, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
})

describeSlow('plugins of bots', (engine) => {
  const server = useServer(engine)
  const remote = useRemote()
  let count = 0
  const client = (login?: Login) =>
    existingClient(server(), { ...login, headers: { 'x-multiple-integrations': 'true' } })

  /** A public plugin with an interface that an integration implements, all of one workspace. */
  async function publish(login?: Login) {
    const admin = client(login)
    const name = `hitl-${++count}`
    const { interface: intrface } = await admin.createInterface({
      name,
      version: '2.0.0',
      public: true,
    })
    const { integration } = await admin.createIntegration({
      name: `desk-${count}`,
      version: '1.0.0',
      visibility: 'public',
      interfaces: { 'hitl<session>': { id: intrface.id } },
    })
    const { plugin } = await admin.createPlugin({
      name,
      version: '1.0.0',
      title: 'Human in the loop',
      visibility: 'public',
      code: { node: 'node()', browser: 'browser()' },
      configuration: { schema: object({ greeting: { type: 'string' } }) },
      dependencies: {
        interfaces: { hitl: { name, version: '>=2.0.0 <3.0.0' } },
        integrations: { chat: { name: 'chat', version: '1.0.0' } },
      },
      states: {
        session: {
          type: 'conversation',
          schema: object({ agent: { type: 'string' } }),
          expiry: 60_000,
        },
      },
      events: { started: { schema: object({ agent: { type: 'string' } }, ['agent']) } },
      actions: {
        start: {
          input: { schema: object({ title: { type: 'string' } }, ['title']) },
          output: { schema: {} },
        },
      },
      user: { tags: { agent: {} } },
    })
    return { admin, intrface, integration, plugin, name }
  }

  type Published = Awaited<ReturnType<typeof publish>>

  /** A bot of a workspace with the integration and the plugin, as tools deploy it. */
  async function deploy({ integration, plugin, name }: Published, login?: Login) {
    const admin = client(login)
    const { bot } = await admin.createBot({ url: remote().url })
    const chatId = bot.integrations.chat?.id ?? ''
    const body = {
      id: bot.id,
      integrations: { desk: { integrationId: integration.id, enabled: false, configuration: {} } },
      plugins: {
        hitl: {
          id: plugin.id,
          type: 'plugin',
          uri: '../plugins/hitl',
          name,
          version: '1.0.0',
          definition: { name, actions: {} },
          implementation: { type: 'Buffer', data: Array.from({ length: 900_000 }, () => 104) },
          enabled: true,
          configuration: { greeting: 'Hello' },
          interfaces: {
            hitl: {
              integrationId: integration.id,
              integrationAlias: 'desk',
              integrationInterfaceAlias: 'hitl<session>',
            },
          },
          integrations: { chat: { integrationId: chatId, integrationAlias: 'chat' } },
        },
      },
    }
    const { bot: deployed } = await admin.updateBot(body)
    return { admin, bot: deployed, chatId, body }
  }

  it('are installed as tools send them, and shown by the bot', async () => {
    const published = await publish()
    const { admin, bot, chatId } = await deploy(published)
    const { plugin, integration, intrface, name } = published
    const shown = {
      id: plugin.id,
      name,
      version: '1.0.0',
      enabled: true,
      configuration: { greeting: 'Hello' },
      interfaces: {
        hitl: {
          integrationId: integration.id,
          integrationAlias: 'desk',
          integrationInterfaceAlias: 'hitl<session>',
          interfaceId: intrface.id,
        },
      },
      integrations: { chat: { integrationId: chatId, integrationAlias: 'chat' } },
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      title: 'Human in the loop',
      description: '',
      iconUrl: '',
      readmeUrl: '',
      public: true,
      visibility: 'public',
      lifecycleStatus: 'published',
    }
    expect(bot.plugins).toEqual({ hitl: shown })
    const { id } = bot
    expect((await admin.getBot({ id })).bot.plugins).toEqual(bot.plugins)
    const { bots } = await admin.listBots({ pluginNames: [name] })
    expect(bots.map((each) => each.id)).toEqual([id])
    expect((await admin.listBots({ pluginNames: [name, 'none'] })).bots).toEqual([])
    const installs = async () =>
      (await admin.listPublicPlugins({ name })).plugins.map((each) => Reflect.get(each, 'meta'))
    expect(await installs()).toEqual([{ installs: 1, views: 0 }])

    const { bot: changed } = await admin.updateBot({
      id,
      plugins: { hitl: { id: plugin.id, enabled: false }, absent: null },
    })
    expect(changed.plugins.hitl).toMatchObject({
      enabled: false,
      configuration: { greeting: 'Hello' },
      interfaces: shown.interfaces,
    })
    await expect(admin.deletePlugin({ id: plugin.id })).rejects.toMatchObject({
      type: 'ReferenceConstraint',
      message: expect.stringContaining(id),
    })
    const { bot: without } = await admin.updateBot({ id, plugins: { hitl: null } })
    expect(without.plugins).toEqual({})
    expect(await installs()).toEqual([{ installs: 0, views: 0 }])
    await admin.updateBot({ id, plugins: { hitl: null } })
    await admin.deletePlugin({ id: plugin.id })
  })

  it('are refused with what is wrong in them', async () => {
    const published = await publish()
    const { admin, bot, body } = await deploy(published)
    const { id, ...given } = body.plugins.hitl
    const binding = given.interfaces.hitl
    const attempts: [string, object, string, string][] = [
      ['hitl', { id: 'none' }, 'ReferenceNotFound', 'body.plugins.hitl'],
      ['a#b', { id }, 'InvalidIdentifier', 'body.plugins.a#b'],
      [
        'hitl',
        { id, configuration: { greeting: 7 } },
        'InvalidDataFormat',
        'body.plugins.hitl.configuration.greeting',
      ],
      [
        'hitl',
        { id, configuration: { greeting: 'x'.repeat(20_480) } },
        'LimitExceeded',
        'body.plugins.hitl.configuration',
      ],
      [
        'hitl',
        { id, interfaces: { hitl: { ...binding, integrationAlias: 'other' } } },
        'ReferenceNotFound',
        'body.plugins.hitl.interfaces.hitl',
      ],
      [
        'hitl',
        { id, interfaces: { hitl: { ...binding, integrationInterfaceAlias: 'other' } } },
        'ReferenceNotFound',
        'body.plugins.hitl.interfaces.hitl',
      ],
      [
        'hitl',
        { id, integrations: { chat: { integrationId: 'none', integrationAlias: 'chat' } } },
        'ReferenceNotFound',
        'body.plugins.hitl.integrations.chat',
      ],
    ]
    for (const [alias, plugin, type, message] of attempts) {
      const refused = admin.updateBot({ id: bot.id, plugins: { [alias]: plugin } } as never)
      await expect(refused).rejects.toMatchObject({
        type,
        message: expect.stringContaining(message),
      })
    }
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`p${at}`, { id }]))
    await expect(admin.updateBot({ id: bot.id, plugins: many })).rejects.toMatchObject({
      type: 'LimitExceeded',
    })
    expect((await admin.getBot({ id: bot.id })).bot.plugins).toEqual(bot.plugins)
  })

  it('have states, events, actions and tags under their alias', async () => {
    const published = await publish()
    const { admin, bot } = await deploy(published)
    remote().behave(({ json }) => ({ body: { output: { did: json.type } } }))
    const inBot = existingClient(server(), { botId: bot.id })
    const { conversation } = await inBot.createConversation({ channel: 'channel', tags: {} })
    const state = { type: 'conversation', id: conversation.id, name: 'hitl#session' } as const
    const { state: set } = await inBot.setState({ ...state, payload: { agent: 'Ann' } })
    expect(set).toMatchObject({ name: 'hitl#session', payload: { agent: 'Ann' }, expiry: 60_000 })
    expect((await inBot.getState(state)).state.payload).toEqual({ agent: 'Ann' })
    await expect(inBot.setState({ ...state, payload: { agent: 7 } })).rejects.toMatchObject({
      type: 'InvalidDataFormat',
    })
    // A state that no plugin declares works too, and plugins use their alias as the id.
    const loose = { type: 'bot', id: 'hitl', name: 'hitl#cursor', payload: { at: 1 } } as const
    expect((await inBot.getOrSetState(loose)).state.payload).toEqual({ at: 1 })
    await inBot.patchState({ ...loose, payload: { at: 2 } })

    const { event } = await inBot.createEvent({
      type: 'hitl#started',
      payload: { agent: 'Ann' },
      conversationId: conversation.id,
    })
    const { events } = await inBot.listEvents({ type: 'hitl#started' })
    expect(events.map(({ id }) => id)).toEqual([event.id])
    await expect(inBot.createEvent({ type: 'hitl#started', payload: {} })).rejects.toMatchObject({
      type: 'InvalidDataFormat',
    })
    await inBot.createEvent({ type: 'hitl#else', payload: {} })

    const call = { type: 'hitl#start', input: { title: 'Help' } }
    expect((await inBot.callAction(call)).output).toEqual({ did: 'hitl#start' })
    await expect(inBot.callAction({ ...call, input: {} })).rejects.toMatchObject({
      type: 'InvalidDataFormat',
    })
    const unknown = { type: 'hitl#none', input: {} }
    await expect(inBot.callAction(unknown)).rejects.toMatchObject({ type: 'ResourceNotFound' })

    const { user } = await inBot.createUser({ tags: { 'hitl#agent': 'Ann' } })
    expect(user.tags).toEqual({ 'hitl#agent': 'Ann' })
    const { users } = await inBot.listUsers({ tags: { 'hitl#agent': 'Ann' } })
    expect(users.map(({ id }) => id)).toEqual([user.id])
    await inBot.updateConversation({ id: conversation.id, tags: { 'hitl#upstream': 'c' } })
    const { message } = await inBot.createMessage({
      conversationId: conversation.id,
      userId: bot.id,
      type: 'text',
      payload: { text: 'Hello' },
      tags: { 'hitl#from': 'Ann' },
    })
    expect(message.tags).toEqual({ 'hitl#from': 'Ann' })

    // A changed plugin changes its bots at once.
    await admin.updatePlugin({ id: published.plugin.id, actions: { start: null } })
    await expect(inBot.callAction(call)).rejects.toMatchObject({ type: 'ResourceNotFound' })
  })

  it('come from other workspaces, which may neither hide nor delete them, and outlive those', async () => {
    const owner = await addAccount(server())
    const published = await publish(owner)
    const user = await addAccount(server())
    const { admin, bot } = await deploy(published, user)
    const { plugin, intrface } = published
    const { id } = plugin
    const inUse = { type: 'ReferenceConstraint', message: expect.not.stringContaining(bot.id) }
    await expect(published.admin.deletePlugin({ id })).rejects.toMatchObject(inUse)
    const hiding = published.admin.updatePlugin({ id, visibility: 'private' })
    await expect(hiding).rejects.toMatchObject(inUse)
    await published.admin.updatePlugin({ id, visibility: 'unlisted' })
    await published.admin.updateInterface({ id: intrface.id, title: 'Still ours' })

    remote().behave(() => ({ body: { output: {} } }))
    await published.admin.deleteWorkspace({ id: owner.workspaceId })
    const { bot: left } = await admin.getBot({ id: bot.id })
    expect(left.plugins.hitl).toMatchObject({ id, name: published.name, title: '', public: false })
    expect(Object.keys(left.integrations)).toEqual(['chat'])
    const inBot = existingClient(server(), { ...user, botId: bot.id })
    await inBot.callAction({ type: 'hitl#start', input: {} })
    await admin.updateBot({ id: bot.id, plugins: { hitl: null } })
  })

  it('leave no rows behind a deleted bot or workspace', async () => {
    const owner = await addAccount(server())
    const published = await publish(owner)
    const { bot } = await deploy(published, owner)
    const rowsOf = () =>
      inDatabase(server(), async ({ db }) => {
        const { id } = published.plugin
        const { workspaceId } = owner
        const select = db.selectFrom('plugin_installations').select('alias')
        const installations = await select.where('bot_id', '=', bot.id).execute()
        const codes = db.selectFrom('plugin_codes').select('platform').where('plugin_id', '=', id)
        const plugins = db.selectFrom('plugins').select('id').where('id', '=', id)
        const uses = db.selectFrom('interface_uses').select('alias')
        const interfaces = db.selectFrom('interfaces').select('id')
        return {
          installations: installations.length,
          codes: (await codes.execute()).length,
          plugins: (await plugins.execute()).length,
          uses: (await uses.where('workspace_id', '=', workspaceId).execute()).length,
          interfaces: (await interfaces.where('workspace_id', '=', workspaceId).execute()).length,
        }
      })
    expect(await rowsOf()).toEqual({
      installations: 1,
      codes: 2,
      plugins: 1,
      uses: 1,
      interfaces: 1,
    })
    await published.admin.deleteBot({ id: bot.id })
    expect(await rowsOf()).toMatchObject({ installations: 0, plugins: 1 })
    const { plugins } = await published.admin.listPublicPlugins({ name: published.name })
    expect(plugins).toMatchObject([{ meta: { installs: 0 } }])
    await published.admin.deleteWorkspace({ id: owner.workspaceId })
    expect(await rowsOf()).toEqual({
      installations: 0,
      codes: 0,
      plugins: 0,
      uses: 0,
      interfaces: 0,
    })
  })
})
