import { expect, it, vi } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { existingClient } from '../../../../test/existing-clients.js'
import { useServer } from '../../../../test/harness.js'
import { useRemote } from '../../../../test/remote/server.js'
import { inDatabase } from '../../../../test/tenancy/seed.js'
import { addAccount, type Login } from '../../../../test/tenant.js'

type NewIntegration = Parameters<ReturnType<typeof existingClient>['createIntegration']>[0]

const identifier = {
  extractScript: 'to_string!(parse_json!(.body).page)',
  fallbackHandlerScript:
    'q = parse_query_string!(.query)\n{ "status": 202, "headers": { "content-type": "text/plain", "set-cookie": "a=1", "transfer-encoding": "gzip", "x-request-id": "mine" }, "body": q.challenge }',
}

const week = 7 * 24 * 60 * 60 * 1000

describeSlow('the shared address of an integration', (engine) => {
  const server = useServer(engine)
  const remote = useRemote()
  let count = 0
  const newName = () => `pages-${++count}`
  const client = (login?: Login) =>
    existingClient(server(), { ...login, headers: { 'x-multiple-integrations': 'true' } })

  async function make(patch: Partial<NewIntegration>, login?: Login) {
    const { integration } = await client(login).createIntegration({
      name: newName(),
      version: '1.0.0',
      url: remote().url,
      identifier,
      ...patch,
    })
    return integration
  }

  /** Installs an integration in a new bot, which it then has for an account. */
  async function connect(integration: { id: string }, account: string, login?: Login) {
    const admin = client(login)
    const { bot } = await admin.createBot({})
    const install = async (id: string) => {
      const integrations = { pages: { integrationId: id, enabled: true, configuration: {} } }
      return (await admin.updateBot({ id: bot.id, integrations })).bot.integrations.pages
    }
    const installed = await install(integration.id)
    remote().behave(({ headers }) =>
      headers['x-bp-operation'] === 'webhook_received'
        ? { headers: { 'x-bp-integration-identifier': account } }
        : {},
    )
    const done = await server().fetch(`/oauth?state=${installed?.webhookId}`)
    expect(done.status).toBe(200)
    remote().behave(() => ({ body: 'Taken' }))
    remote().requests.length = 0
    const switchOff = () =>
      admin.updateBot({ id: bot.id, integrations: { pages: { enabled: false } } })
    return { botId: bot.id, install, switchOff }
  }

  const post = async (rest: string, page: unknown) =>
    await server().fetch(`/integration/global/${rest}`, {
      method: 'POST',
      body: JSON.stringify({ page }),
    })

  /** Ids of the bots in which a request has arrived since the last look. */
  function reached(): unknown[] {
    const calls = remote().requestsOf('webhook_received')
    remote().requests.length = 0
    return calls.map(({ headers }) => headers['x-bot-id'])
  }

  it('leads each request to the installation that has its account', async () => {
    const integration = await make({})
    const one = await connect(integration, 'P1')
    const two = await connect(integration, '2')
    const response = await post(`${integration.name}/deep//er?x=%41`, 'P1')
    expect([response.status, await response.text()]).toEqual([200, 'Taken'])
    const [call] = remote().requestsOf('webhook_received')
    expect(call?.json).toMatchObject({
      req: { method: 'POST', path: '/deep//er', query: 'x=%41', body: '{"page":"P1"}' },
    })
    expect(reached()).toEqual([one.botId])
    await post(integration.name, 2)
    expect(reached()).toEqual([two.botId])
    const below = await server().fetch(`/webhooks/integration/global/${integration.name}`, {
      method: 'POST',
      body: '{"page":"P1"}',
    })
    expect(below.status).toBe(200)
    expect(reached()).toEqual([one.botId])
  })

  it('reaches nobody without a known account, and says why in the log of the integration', async () => {
    const admin = client()
    const integration = await make({
      identifier: { extractScript: identifier.extractScript },
    })
    const { switchOff } = await connect(integration, 'P1')
    expect((await post(integration.name, 'P2')).status).toBe(404)
    expect((await post('unknown', 'P1')).status).toBe(404)
    const messageAt = async (address: string) =>
      Object(await (await server().fetch(`/integration/global/${address}`)).json()).message
    expect(await messageAt('acme/mesenger')).toContain(
      'No integration acme/mesenger, and none acme',
    )
    expect(await messageAt('mesenger')).toContain('No integration mesenger has')
    const refused = await server().fetch(`/integration/global/${integration.name}`)
    expect([refused.status, await refused.text()]).toEqual([
      404,
      expect.stringContaining('belongs to no installation'),
    ])
    await switchOff()
    expect((await post(integration.name, 'P1')).status).toBe(404)
    expect(reached()).toEqual([])
    await vi.waitFor(async () => {
      const from = { id: integration.id, timeStart: '2000-01-01T00:00:00Z' }
      const { logs } = await admin.getIntegrationLogs(from)
      const lines = logs.map(({ message }) => message).join('\n')
      expect(lines).toContain('no installation has the account P2')
      expect(lines).toMatch(/the script failed: .*parse_json/s)
    })
  })

  it('responds by the fallback script to what has no account', async () => {
    const integration = await make({})
    const verified = await server().fetch(`/integration/global/${integration.name}?challenge=4%202`)
    expect([verified.status, await verified.text()]).toEqual([202, '4 2'])
    expect(verified.headers.get('content-type')).toBe('text/plain')
    expect(verified.headers.get('set-cookie')).toBeNull()
    expect(verified.headers.get('transfer-encoding')).toBeNull()
    expect(verified.headers.get('content-length')).toBe('3')
    expect(verified.headers.get('x-request-id')).not.toBe('mine')
    expect(verified.headers.get('content-security-policy')).toMatch(/^sandbox /)
    const fails = await make({ identifier: { fallbackHandlerScript: 'assert!(false, "token 7")' } })
    const failed = await server().fetch(`/integration/global/${fails.name}`)
    expect([failed.status, await failed.json()]).toMatchObject([
      404,
      { message: expect.stringMatching(/script of the integration that responds .* failed\./) },
    ])
    await vi.waitFor(async () => {
      const from = { id: fails.id, timeStart: '2000-01-01T00:00:00Z' }
      const { logs } = await client().getIntegrationLogs(from)
      expect(logs.map(({ message }) => message).join('\n')).toContain('token 7')
    })
  })

  it('has the name of the integration, with or without its handle', async () => {
    const login = await addAccount(server())
    const handle = `pages${++count}`
    await client(login).updateWorkspace({ id: login.workspaceId, handle })
    const name = newName()
    const { botId } = await connect(await make({ name: `${handle}/${name}` }, login), 'P1', login)
    for (const address of [`${handle}/${name}`, name, `${handle}%2F${name}`]) {
      expect((await post(`${address}/rest`, 'P1')).status).toBe(200)
      expect(remote().requestsOf('webhook_received')[0]?.json).toMatchObject({
        req: { path: '/rest' },
      })
      expect(reached()).toEqual([botId])
    }
  })

  it('stays with the workspace that had the name first', async () => {
    const name = newName()
    const first = await make({ name })
    const { botId } = await connect(first, 'P1')
    const other = await addAccount(server())
    const constant = { identifier: { extractScript: '"P1"' }, visibility: 'public' } as const
    const second = await make({ name, version: '9.0.0', ...constant }, other)
    await connect(second, 'P1', other)
    expect((await post(name, 'P1')).status).toBe(200)
    expect(reached()).toEqual([botId])
    const from = { id: second.id, timeStart: '2000-01-01T00:00:00Z' }
    await vi.waitFor(async () => {
      const { logs } = await client(other).getIntegrationLogs(from)
      expect(logs.map(({ message }) => message).join('\n')).toContain('had one of this name first')
    })
    // It is kept for the first for a week after its last one of this name, and then passes to the other one.
    const { install } = await connect(first, 'P3')
    await make({ name, version: '2.0.0' })
    await client().deleteBot({ id: botId })
    await install((await make({})).id)
    for (const version of ['1.0.0', '2.0.0']) {
      const { integration } = await client().getIntegrationByName({ name, version })
      await client().deleteIntegration({ id: integration.id })
    }
    server().clock.advance(10_000)
    expect((await post(name, 'P1')).status).toBe(404)
    expect(reached()).toEqual([])
    server().clock.advance(week)
    expect((await post(name, 'P1')).status).toBe(200)
    expect(reached()).toHaveLength(1)
  })

  it.each([false, true])(
    'is not taken while its integration is installed anew (in development: %s)',
    async (dev) => {
      const name = newName()
      const first = await make({ name, version: '1.0.0' })
      const { install } = await connect(first, 'P1')
      const other = await addAccount(server())
      const constant = { identifier: { extractScript: '"P1"' } }
      const waiting = await make({ name, ...constant }, other)
      await connect(waiting, 'P1', other)
      await install((await make({})).id)
      await client().deleteIntegration({ id: first.id })
      server().clock.advance(10_000)
      expect((await post(name, 'P1')).status).toBe(404)
      // Neither what waits nor what comes takes it.
      await client(other).updateIntegration({ id: waiting.id, title: 'Pages' })
      await connect(await make({ name, version: '2.0.0', dev, ...constant }, other), 'P1', other)
      expect((await post(name, 'P1')).status).toBe(404)
      expect(reached()).toEqual([])
      const again = await connect(await make({ name, version: '2.0.0', dev }), 'P1')
      server().clock.advance(10_000)
      expect((await post(name, 'P1')).status).toBe(200)
      expect(reached()).toEqual([again.botId])
    },
  )

  it('runs the scripts of the highest version, the published ones first', async () => {
    const name = newName()
    const script = (path: string) => ({ extractScript: `to_string!(parse_json!(.body).${path})` })
    const one = await make({ name, identifier: script('a'), visibility: 'public' })
    const { botId } = await connect(one, 'P1')
    await make({ name, version: '2.0.0', identifier: script('b') })
    const send = async (body: object) => {
      server().clock.advance(6000)
      await server().fetch(`/integration/global/${name}`, {
        method: 'POST',
        body: JSON.stringify(body),
      })
      return reached()
    }
    expect(await send({ a: 'P1', b: 'none' })).toEqual([botId])
    await make({ name, version: '1.5.0', identifier: script('c'), visibility: 'public' })
    expect(await send({ a: 'none', b: 'none', c: 'P1' })).toEqual([botId])
  })

  it('tells who connects an account that another workspace has, until that one lets go', async () => {
    const integration = await make({ visibility: 'public' })
    const first = await connect(integration, 'P1')
    server().clock.advance(1000)
    const other = await addAccount(server())
    const second = await connect(integration, 'P1', other)
    const stateOf = async ({ botId }: { botId: string }, login?: Login) => {
      const { bot } = await client(login).getBot({ id: botId })
      const { status, statusReason } = bot.integrations.pages ?? {}
      return [status, statusReason]
    }
    const logOf = async ({ botId }: { botId: string }, login?: Login) => {
      const from = { id: botId, timeStart: '2000-01-01T00:00:00Z' }
      const { logs } = await client(login).getBotLogs(from)
      return logs.flatMap(({ level, message }) =>
        message.includes('account P1') ? [`${level} ${message}`] : [],
      )
    }
    const elsewhere = ['registered', expect.stringContaining('Another workspace of this server')]
    const served = ['registered', null]
    expect([await stateOf(first), await stateOf(second, other)]).toEqual([served, elsewhere])
    expect(await logOf(second, other)).toEqual([
      expect.stringMatching(/^warn pages: another workspace .* connected the account P1 first/),
    ])
    expect(await logOf(first)).toEqual([])

    const another = await addAccount(server())
    server().clock.advance(1000)
    const third = await connect(integration, 'P1', another)
    await second.switchOff()
    expect(await stateOf(second, other)).toEqual(['unregistered', null])
    await second.install(integration.id)
    expect(await stateOf(second, other)).toEqual(elsewhere)
    expect(await stateOf(third, another)).toEqual(elsewhere)

    await client().deleteBot({ id: first.botId })
    expect([await stateOf(second, other), await stateOf(third, another)]).toEqual([
      served,
      elsewhere,
    ])
    expect((await logOf(second, other))[0]).toMatch(/^info pages: the other workspace let go/)
    expect((await post(integration.name, 'P1')).status).toBe(200)
    expect(reached()).toEqual([second.botId])

    await client(other).deleteWorkspace({ id: other.workspaceId })
    expect(await stateOf(third, another)).toEqual(served)
  })

  it('serves an account in the workspace to which its bot is moved', async () => {
    const integration = await make({ visibility: 'public' })
    const { token } = server()
    const [one = '', other = ''] = await Promise.all(
      ['One', 'Other'].map(async (name) => (await server().client().createWorkspace({ name })).id),
    )
    await connect(integration, 'P1', { token, workspaceId: one })
    server().clock.advance(1000)
    const { botId } = await connect(integration, 'P1', { token, workspaceId: other })
    const reasonIn = async (workspaceId: string) => {
      const { bot } = await client({ token, workspaceId }).getBot({ id: botId })
      return bot.integrations.pages?.statusReason
    }
    expect(await reasonIn(other)).toContain('Another workspace of this server')
    const move = async (from: string, to: string) => {
      const mover = client({ token, workspaceId: from })
      await mover.transferBot({ id: botId, targetWorkspaceId: to })
    }
    await move(other, one)
    expect(await reasonIn(one)).toBeNull()
    expect((await post(integration.name, 'P1')).status).toBe(200)
    expect(reached()).toEqual([botId])
    await move(one, other)
    expect(await reasonIn(other)).toContain('Another workspace of this server')
  })

  it('lets nobody worry about an account where no script looks for it', async () => {
    const integration = await make({
      visibility: 'public',
      identifier: { fallbackHandlerScript: '{ "body": "" }' },
    })
    await connect(integration, 'P1')
    const other = await addAccount(server())
    const { botId } = await connect(integration, 'P1', other)
    const { bot } = await client(other).getBot({ id: botId })
    expect(bot.integrations.pages).toMatchObject({ identifier: 'P1', statusReason: null })
  })

  it('keeps an account where it was connected first, and moves it within that workspace', async () => {
    const integration = await make({ visibility: 'public' })
    const first = await connect(integration, 'P1')
    const other = await addAccount(server())
    const second = await connect(integration, 'P1', other)
    await post(integration.name, 'P1')
    expect(reached()).toEqual([first.botId])
    server().clock.advance(1000)
    const third = await connect(integration, 'P1')
    await post(integration.name, 'P1')
    expect(reached()).toEqual([third.botId])
    await first.switchOff()
    await third.switchOff()
    await post(integration.name, 'P1')
    expect(reached()).toEqual([second.botId])
  })

  it('does not follow an installation to another integration', async () => {
    const other = await addAccount(server())
    const name = newName()
    const target = await make({ name, visibility: 'public' })
    const { install } = await connect(await make({ name }, other), 'P1', other)
    await install(target.id)
    expect((await post(name, 'P1')).status).toBe(404)
    expect(reached()).toEqual([])
  })

  it('stays with what is deployed while the same integration is developed', async () => {
    const login = await addAccount(server())
    const handle = `pages${++count}`
    await client(login).updateWorkspace({ id: login.workspaceId, handle })
    const name = newName()
    const deployed = await make({ name: `${handle}/${name}` }, login)
    const { botId } = await connect(deployed, 'P1', login)
    const reachedAt = async (address: string) => {
      server().clock.advance(6000)
      const { status } = await post(address, 'P1')
      return [status, ...reached()]
    }
    // Tools name it without the handle in development.
    const constant = { identifier: { extractScript: '"none"' }, dev: true }
    const inDevelopment = await make({ name, version: '9.0.0', ...constant }, login)
    expect(await reachedAt(name)).toEqual([200, botId])
    expect(await reachedAt(`${handle}/${name}`)).toEqual([200, botId])
    await vi.waitFor(async () => {
      const from = { id: inDevelopment.id, timeStart: '2000-01-01T00:00:00Z' }
      const { logs } = await client(login).getIntegrationLogs(from)
      expect(logs.map(({ message }) => message).join('\n')).toContain('another integration has')
    })
    await client(login).deleteIntegration({ id: inDevelopment.id })
    expect(await reachedAt(name)).toEqual([200, botId])
  })

  it('is lent to an integration in development until one with its name is deployed', async () => {
    const login = await addAccount(server())
    const handle = `pages${++count}`
    await client(login).updateWorkspace({ id: login.workspaceId, handle })
    const name = newName()
    const inDevelopment = await make({ name, dev: true }, login)
    const developing = await connect(inDevelopment, 'P1', login)
    expect((await post(name, 'P1')).status).toBe(200)
    expect(reached()).toEqual([developing.botId])

    const deployed = await make({ name: `${handle}/${name}` }, login)
    const { botId, install } = await connect(deployed, 'P1', login)
    expect((await post(name, 'P1')).status).toBe(200)
    expect(reached()).toEqual([botId])

    // At once: with the deployed one gone, the one in development has it again.
    await install((await make({}, login)).id)
    await client(login).deleteIntegration({ id: deployed.id })
    expect((await post(name, 'P1')).status).toBe(200)
    expect(reached()).toEqual([developing.botId])
  })

  it('goes back to what is deployed once it has been taken in development', async () => {
    const login = await addAccount(server())
    const handle = `pages${++count}`
    await client(login).updateWorkspace({ id: login.workspaceId, handle })
    const name = newName()
    const { botId } = await connect(await make({ name: `${handle}/${name}` }, login), 'P1', login)
    const inDevelopment = await make({ name, dev: true }, login)
    // As earlier versions of the server left it.
    const take = () =>
      inDatabase(server(), async ({ run }) => {
        const { numUpdatedRows } = await run((tx) =>
          tx
            .updateTable('shared_addresses')
            .set({ name })
            .where('address', '=', name)
            .executeTakeFirstOrThrow(),
        )
        expect(Number(numUpdatedRows)).toBe(1)
      })
    await take()
    expect((await post(name, 'P1')).status).toBe(200)
    expect(reached()).toEqual([botId])
    await take()
    await client(login).deleteIntegration({ id: inDevelopment.id })
    expect((await post(name, 'P1')).status).toBe(200)
    expect(reached()).toEqual([botId])
  })

  it('passes to the next workspace a week after its own is deleted', async () => {
    const name = newName()
    const first = await addAccount(server())
    await make({ name }, first)
    const other = await addAccount(server())
    const { botId } = await connect(await make({ name }, other), 'P1', other)
    expect((await post(name, 'P1')).status).toBe(404)
    await client(first).deleteWorkspace({ id: first.workspaceId })
    expect((await post(name, 'P1')).status).toBe(404)
    server().clock.advance(week)
    expect((await post(name, 'P1')).status).toBe(200)
    expect(reached()).toEqual([botId])
  })

  it('take bodies that scripts can read', async () => {
    const { name } = await make({})
    const refused = await post(name, 'x'.repeat(1024 * 1024))
    expect([refused.status, await refused.json()]).toMatchObject([413, { type: 'PayloadTooLarge' }])
  })
})
