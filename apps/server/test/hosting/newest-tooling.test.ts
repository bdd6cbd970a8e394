import { expect, it, vi } from 'vitest'
import { describeSlow } from '../engines.js'
import { existingClient, makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { type RemoteResponse, useRemote } from '../remote/server.js'
import { addAccount } from '../tenant.js'

/** The requests of the tools of today, member for member, in the order in which they send them. */
describeSlow('the tools of today', (engine) => {
  const server = useServer(engine)
  const remote = useRemote()

  /** A request as a tool sends it, with its own headers. */
  async function send(method: string, path: string, body: object, login = {}) {
    const { token, workspaceId } = { ...server(), ...login }
    const response = await server().fetch(path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'x-workspace-id': workspaceId,
        'x-multiple-integrations': 'true',
        'content-type': 'application/json',
      },
      // Tools send an empty body with requests that read; fetch cannot.
      ...(method !== 'GET' && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: Object(await response.json()) }
  }

  /** A program of about so many bytes. */
  const padded = (bytes: number) => `// ${'x'.repeat(bytes)}\n`

  it('ask whether a handle is free, before a workspace has one', async () => {
    const { status, body } = await send('PUT', '/v1/admin/workspaces/handle-availability', {
      handle: 'new-handle',
    })
    expect([status, body]).toEqual([200, { available: true, suggestions: [] }])
  })

  /** An interface whose actions and events speak of an entity, as `llm` does of a model. */
  async function publishInterface(name: string, login = {}) {
    const created = await send(
      'POST',
      '/v1/admin/interfaces',
      {
        name,
        version: '2.3.1',
        public: true,
        sdkVersion: '7.2.4',
        entities: { modelRef: { schema: { type: 'object' } } },
        actions: {
          startTyping: { input: { schema: { type: 'object' } }, output: { schema: {} } },
        },
        events: { started: { schema: { type: 'object' } } },
        channels: { direct: { messages: { text: { schema: { type: 'object' } } } } },
      },
      login,
    )
    expect(created.status).toBe(201)
    return created.body.interface
  }

  it('deploy interfaces, and find them in the hub by a range, their own included', async () => {
    const name = 'typing-indicator'
    const { id } = await publishInterface(name)
    const range = encodeURIComponent('>=2.0.0 <3.0.0')
    for (const login of [{}, await addAccount(server())]) {
      const path = `/v1/admin/hub/interfaces/${name}/${range}`
      const { status, body } = await send('GET', path, {}, login)
      expect([status, body.interface?.id, body.interface?.version]).toEqual([200, id, '2.3.1'])
    }
    expect((await send('GET', `/v1/admin/interfaces/${id}`, {})).status).toBe(200)
    const changed = await send('PUT', `/v1/admin/interfaces/${id}`, { title: 'Typing' })
    expect(changed.body.interface).toMatchObject({ title: 'Typing', public: true })
    expect((await send('DELETE', `/v1/admin/interfaces/${id}`, {})).status).toBe(200)
  })

  it('deploy public integrations that implement interfaces of an entity', async () => {
    const { id } = await publishInterface('llm')
    const implemented = {
      id,
      name: 'llm',
      version: '2.3.1',
      entities: { modelRef: { name: 'model' } },
      actions: { startTyping: { name: 'begin' } },
      events: { started: { name: 'began' } },
      channels: { direct: { name: 'dm' } },
    }
    const created = await send('POST', '/v1/admin/integrations', {
      name: 'models',
      version: '1.0.0',
      visibility: 'public',
      public: true,
      sdkVersion: '7.2.4',
      url: remote().url,
      interfaces: { 'llm<modelRef>': implemented },
    })
    expect(created.status).toBe(201)
    expect(created.body.integration.interfaces).toEqual({ 'llm<modelRef>': implemented })
    const login = await addAccount(server())
    const found = await send('GET', '/v1/admin/hub/integrations/models/latest', {}, login)
    expect(found.body.integration.interfaces).toEqual({ 'llm<modelRef>': implemented })
    const listed = await send('GET', '/v1/admin/hub/integrations?name=models', {}, login)
    expect(listed.body.integrations).toHaveLength(1)
  })

  /** A plugin as large as those of the platform, which depends on an interface. */
  async function publishPlugin(name: string) {
    const intrface = await publishInterface(`${name}-interface`)
    const reference = {
      type: 'package',
      id: intrface.id,
      uri: `hub:${name}-interface@2.3.1`,
      name: `${name}-interface`,
      version: '>=2.0.0 <3.0.0',
      definition: { name: `${name}-interface`, version: '2.3.1' },
    }
    const created = await send('POST', '/v1/admin/plugins', {
      name,
      version: '1.0.0',
      visibility: 'public',
      sdkVersion: '7.2.4',
      code: { node: padded(1_300_000), browser: 'browser()' },
      configuration: { schema: { type: 'object' } },
      states: { hitl: { type: 'conversation', schema: { type: 'object' } } },
      dependencies: { interfaces: { typing: reference }, integrations: {} },
    })
    expect(created.status).toBe(201)
    return { plugin: created.body.plugin, intrface }
  }

  it('deploy plugins of more than a megabyte, and fetch their code', async () => {
    const { plugin } = await publishPlugin('hitl')
    const { status, body } = await send('GET', `/v1/admin/plugins/${plugin.id}/code/node`, {})
    expect([status, body.code.length]).toEqual([200, padded(1_300_000).length])
    const ofHub = await send('GET', `/v1/admin/hub/plugins/${plugin.id}/code/browser`, {})
    expect(ofHub.body).toEqual({ code: 'browser()' })
  })

  it('find the built-in chat as version 1.0.0, in the hub and in bots', async () => {
    const { status, body } = await send('GET', '/v1/admin/hub/integrations/chat/1.0.0', {})
    expect([status, body.integration?.version]).toEqual([200, '1.0.0'])
    const created = await send('POST', '/v1/admin/bots', { name: 'Chats' })
    expect(created.body.bot.integrations.chat).toMatchObject({ version: '1.0.0', enabled: true })
    const greeting = await server().fetch(
      `/chat/${created.body.bot.integrations.chat.webhookId}/hello`,
    )
    expect(greeting.status).toBe(200)
    const older = await send('GET', '/v1/admin/hub/integrations/chat/0.7.6', {})
    expect(older.status).toBe(200)
  })

  it('deploy bots with plugins in bodies of three megabytes, and remove them', async () => {
    const { plugin, intrface } = await publishPlugin('desk')
    const { integration } = (
      await send('POST', '/v1/admin/integrations', {
        name: 'desk-app',
        version: '1.0.0',
        url: remote().url,
        interfaces: { typing: { id: intrface.id } },
      })
    ).body
    const { bot } = (await send('POST', '/v1/admin/bots', {})).body
    const implementation = Buffer.from(padded(400_000)).toJSON()
    const deployed = await send('PUT', `/v1/admin/bots/${bot.id}`, {
      code: `${padded(1_500_000)}exports.handler = async () => ({ body: '{}' })`,
      integrations: {
        desk: { integrationId: integration.id, enabled: true, configuration: {} },
        chat: null,
      },
      plugins: {
        desk: {
          id: plugin.id,
          type: 'package',
          uri: 'hub:desk@1.0.0',
          name: 'desk',
          version: '1.0.0',
          definition: { name: 'desk', version: '1.0.0' },
          implementation,
          enabled: true,
          configuration: { greeting: 'Hello' },
          interfaces: {
            typing: {
              integrationId: integration.id,
              integrationAlias: 'desk',
              integrationInterfaceAlias: 'typing',
            },
          },
          integrations: {},
        },
      },
    })
    expect(deployed.body.bot?.plugins?.desk).toMatchObject({
      id: plugin.id,
      enabled: true,
      configuration: { greeting: 'Hello' },
      interfaces: { typing: { integrationAlias: 'desk' } },
    })
    expect(deployed.body.bot.plugins.desk).not.toHaveProperty('implementation')
    // The states of a plugin come without a declaration in the bot.
    const inBot = existingClient(server(), { botId: bot.id })
    const { conversation } = await inBot.createConversation({ channel: 'channel', tags: {} })
    const state = { type: 'conversation', name: 'desk#hitl', id: conversation.id } as const
    await inBot.setState({ ...state, payload: { agent: 'ada' } })
    expect((await inBot.getState(state)).state.payload).toEqual({ agent: 'ada' })
    for (const plugins of [{ desk: null }, { desk: null, absent: null }]) {
      const { status, body } = await send('PUT', `/v1/admin/bots/${bot.id}`, { plugins })
      expect([status, body.bot.plugins]).toEqual([200, {}])
    }
  })

  it('remove the chat that they do not declare, which stays, and get no tables', async () => {
    const { bot } = (await send('POST', '/v1/admin/bots', {})).body
    const { status, body } = await send('PUT', `/v1/admin/bots/${bot.id}`, {
      integrations: { chat: null },
    })
    expect([status, body.bot.integrations.chat?.enabled]).toEqual([200, true])
    const tables = await server().fetch('/v1/tables', {
      headers: { authorization: `Bearer ${server().token}`, 'x-bot-id': bot.id },
    })
    // A deployment goes on without tables, but ends where only some of their operations are there.
    const isThere = tables.status === 200
    if (!isThere) expect(tables.status).toBe(404)
  })

  it('tell an absent state from a failure by its words', async () => {
    const { client, bot } = await makeBot(server())
    const state = { type: 'bot', name: 'credentials', id: bot.id } as const
    await expect(client.getState(state)).rejects.toThrow(/not found/)
  })

  it('begin a setup at the address that they print, and end it with the account', async () => {
    const { integration } = (
      await send('POST', '/v1/admin/integrations', {
        name: 'pages',
        version: '1.0.0',
        url: remote().url,
      })
    ).body
    const { bot } = (await send('POST', '/v1/admin/bots', {})).body
    remote().behave(() => ({ status: 400, body: { message: 'It is not set up' } }))
    // New installations are switched off until somebody enables them.
    const installed = await send('PUT', `/v1/admin/bots/${bot.id}`, {
      integrations: { pages: { integrationId: integration.id, enabled: true, configuration: {} } },
    })
    const { webhookId, status } = installed.body.bot.integrations.pages
    expect(status).toBe('registration_failed')
    remote().behave(({ json }): RemoteResponse => {
      const { method, path } = Object(json.req)
      if (path === undefined) return {}
      if (method === 'GET') return { headers: { 'content-type': 'text/html' }, body: '<form>' }
      return {
        status: 303,
        headers: {
          location: `${server().url}/apps/oauth/interstitial?success=true`,
          'x-bp-integration-identifier': 'P1',
          'x-bp-disable-interstitial': 'true',
        },
      }
    })
    // As the tool prints it: `<apiUrl>/oauth/wizard/start?state=...`.
    const start = await server().fetch(`/oauth/wizard/start?state=${webhookId}`)
    expect(await start.text()).toBe('<form>')
    const end = await server().fetch(`/oauth/wizard/form?state=${webhookId}`, {
      method: 'POST',
      body: new URLSearchParams({ bp_page: 'P1' }),
    })
    expect(await end.text()).toContain('reports that it succeeded')
    await vi.waitFor(async () => {
      const { body } = await send('GET', `/v1/admin/bots/${bot.id}`, {})
      expect(body.bot.integrations.pages).toMatchObject({
        status: 'registered',
        identifier: 'P1',
      })
    })
  })

  it('declare scripts that find the installation at the shared address, and run scripts', async () => {
    const scripts = {
      extractScript: 'parse_json!(.body).page',
      fallbackHandlerScript: '{ "body": "none" }',
    }
    const created = await send('POST', '/v1/admin/integrations', {
      name: 'shared-pages',
      version: '1.0.0',
      url: remote().url,
      identifier: scripts,
      configuration: {
        schema: {},
        identifier: { required: false, linkTemplateScript: 'to_string!(.webhookUrl)' },
      },
    })
    expect(created.body.integration.identifier).toEqual(scripts)
    for (const root of ['', '/webhooks']) {
      const response = await server().fetch(`${root}/integration/global/shared-pages`)
      expect([response.status, await response.text()]).toEqual([200, 'none'])
    }
    const run = await send('POST', '/v1/admin/helper/vrl', {
      data: { webhookId: 'a', webhookUrl: 'https://example.com/webhooks' },
      script: 'url = to_string!(.webhookUrl)\n"{{ url }}/oauth"',
    })
    expect(run).toMatchObject({
      status: 200,
      body: { data: { webhookId: 'a' }, result: 'https://example.com/webhooks/oauth' },
    })
  })

  it('develop an integration with an address and code at once, of which the address counts', async () => {
    const created = await send('POST', '/v1/admin/integrations', {
      name: 'developed',
      version: '1.0.0',
      dev: true,
      url: remote().url,
      code: 'throw new Error("never loaded")',
    })
    expect([created.status, created.body.integration?.dev]).toEqual([201, true])
    const { id } = created.body.integration
    const { bot } = (await send('POST', '/v1/admin/bots', {})).body
    // The answer comes while the registration is still under way, and the tool goes on.
    const held: (() => void)[] = []
    remote().behave(async ({ headers }) => {
      if (headers['x-bp-operation'] === 'register') {
        await new Promise<void>((resolve) => held.push(resolve))
      }
      return {}
    })
    const installed = await send('PUT', `/v1/admin/bots/${bot.id}`, {
      integrations: { developed: { integrationId: id, enabled: true, configuration: {} } },
    })
    expect(installed.body.bot.integrations.developed.status).toBe('registration_pending')
    for (const release of held) release()
    await vi.waitFor(async () => {
      const { body } = await send('GET', `/v1/admin/bots/${bot.id}`, {})
      expect(body.bot.integrations.developed.status).toBe('registered')
    })
  })
})
