import { expect, it, vi } from 'vitest'
import { recordedOperations } from '../../../../test/audit.js'
import { describeSlow } from '../../../../test/engines.js'
import { existingClient, makeBot } from '../../../../test/existing-clients.js'
import { useServer } from '../../../../test/harness.js'
import { eventually } from '../../../../test/jobs.js'
import { inDatabase } from '../../../../test/tenancy/seed.js'
import { addAccount } from '../../../../test/tenant.js'

const act = { input: { schema: {} }, output: { schema: {} } }
const hour = 60 * 60 * 1000

/** Code that answers an action with its number and its secret. */
const codeOf = (number: number, before = '') => `${before}
exports.handler = async (request) => {
  if (request.headers['x-bp-operation'] !== 'action_triggered') return { body: '{}' }
  const output = { number: ${number}, key: process.env.SECRET_KEY }
  return { body: JSON.stringify({ output }) }
}`

describeSlow('versions of a bot', (engine) => {
  const server = useServer(engine, { BOTSTEAD_MAX_BOT_VERSIONS: '3' })

  async function deployed(number = 1) {
    const { admin, bot, client } = await makeBot(server())
    const { id } = bot
    const deploy = (next: number, rest: object = {}) =>
      admin.updateBot({ id, code: codeOf(next), actions: { act }, ...rest })
    await deploy(number)
    const call = async () => (await client.callAction({ type: 'act', input: {} })).output
    const keep = async (name: string) =>
      (await admin.createBotVersion({ id, name, description: `All of ${name}` })).version
    const own = server().client({ botId: id })
    return { admin, id, deploy, call, keep, own }
  }

  it('move with the code of their bot to another workspace, and outlive the former one', async () => {
    const { token, workspaceId: from } = await addAccount(server())
    const here = server().client({ token, workspaceId: from })
    const { id: to } = await here.createWorkspace({ name: 'To' })
    const there = server().client({ token, workspaceId: to })
    const { id } = (await here.createBot({ code: codeOf(1), actions: { act } })).bot
    const inBot = server().client({ token, botId: id })
    const numberOf = async () => {
      const { output } = await inBot.callAction({ type: 'act', input: {} })
      return output.number
    }
    const versionId = (await here.createBotVersion({ id, name: 'first' })).version.id
    await here.updateBot({ id, code: codeOf(2) })
    expect(await numberOf()).toBe(2)
    await here.transferBot({ id, targetWorkspaceId: to })
    expect(await numberOf()).toBe(2)
    await here.deleteWorkspace({ id: from })
    await server().pass(2 * hour)
    await there.updateBot({ id, secrets: { KEY: 'new' } })
    expect(await numberOf()).toBe(2)
    expect((await there.listBotVersions({ id })).versions).toMatchObject([{ id: versionId }])
    await there.deployBotVersion({ id, versionId })
    expect(await numberOf()).toBe(1)
    const { url } = await there.getBotVersion({ id, versionId })
    expect(await (await fetch(url)).text()).toBe(codeOf(1))
  })

  it('keep code and definition, and put both into force again', async () => {
    const { admin, id, deploy, call, keep } = await deployed()
    await deploy(1, {
      states: { cart: { type: 'conversation', schema: { type: 'object' } } },
      events: { paid: { schema: {} } },
      recurringEvents: { daily: { schedule: { cron: '0 0 * * *' }, type: 'paid', payload: {} } },
      user: { tags: { vip: {} } },
      configuration: { schema: { type: 'object' }, data: { greeting: 'Hello' } },
      subscriptions: { events: { paid: {} } },
      secrets: { KEY: 'one' },
      tags: { team: 'red' },
    })
    const version = await keep('first')
    expect(version).toMatchObject({ name: 'first', description: 'All of first' })
    const before = (await admin.getBot({ id })).bot
    await deploy(2, {
      states: { cart: null, order: { type: 'bot', schema: {} } },
      events: { refunded: { schema: {} } },
      actions: { act, other: act },
      recurringEvents: { daily: null },
      user: { tags: { vip: null, cool: {} } },
      configuration: { schema: { type: 'object', properties: {} }, data: { greeting: 'Hi' } },
      subscriptions: { events: null },
      secrets: { KEY: 'two' },
      tags: { team: 'blue' },
    })
    expect(await call()).toEqual({ number: 2, key: 'two' })

    expect(await admin.deployBotVersion({ id, versionId: version.id })).toEqual({})
    expect(await recordedOperations(admin)).toEqual(
      expect.arrayContaining(['deployBotVersion', 'createBotVersion']),
    )
    expect(await call()).toEqual({ number: 1, key: 'two' })
    const { bot: after } = await admin.getBot({ id })
    for (const part of ['states', 'events', 'actions', 'recurringEvents', 'user'] as const) {
      expect(after[part]).toEqual(before[part])
    }
    expect(after.subscriptions).toEqual({ events: { paid: {} } })
    expect(after.configuration).toEqual({ schema: { type: 'object' }, data: { greeting: 'Hi' } })
    expect(after.tags).toEqual({ team: 'blue' })
    await eventually(async () => {
      const { logs } = await admin.getBotLogs({ id, timeStart: '2000-01-01T00:00:00Z' })
      expect(logs.map(({ message }) => message)).toContain(
        'The version "first" was deployed again.',
      )
    })
  })

  it('are listed, the newest first, with the one that runs, and can be deleted', async () => {
    const { admin, id, deploy, keep, own } = await deployed()
    expect((await admin.listBotVersions({ id })).versions).toEqual([])
    const first = await keep('first')
    await deploy(2)
    const second = await keep('second')
    const { versions } = await own.listBotVersions({ id })
    expect(versions).toMatchObject([
      { id: second.id, name: 'second', deployed: true, codeSize: codeOf(2).length },
      { id: first.id, name: 'first', description: 'All of first', deployed: false },
    ])
    await keep('third')
    await expect(keep('fourth')).rejects.toMatchObject({
      type: 'LimitExceeded',
      message: expect.stringContaining('BOTSTEAD_MAX_BOT_VERSIONS'),
    })
    await own.deleteBotVersion({ id, versionId: first.id })
    expect((await recordedOperations(admin))[0]).toBe('deleteBotVersion')
    await expect(own.deleteBotVersion({ id, versionId: first.id })).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
    await keep('fourth')
    expect((await admin.listBotVersions({ id })).versions).toHaveLength(3)
  })

  it('are downloaded at a signed address, for an hour, and not after the bot', async () => {
    const { admin, id, keep } = await deployed(7)
    const { id: versionId } = await keep('seven')
    const { url } = await admin.getBotVersion({ id, versionId })
    const response = await fetch(url)
    expect(await response.text()).toBe(codeOf(7))
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="${versionId}.cjs"`,
    )
    const head = await fetch(url, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])

    const { id: otherId } = await keep('other')
    for (const wrong of [url.replace(versionId, otherId), `${url}A`]) {
      expect((await fetch(wrong)).status).toBe(403)
    }
    server().clock.advance(hour)
    expect((await fetch(url)).status).toBe(403)
    const { url: next } = await admin.getBotVersion({ id, versionId })
    await admin.deleteBot({ id })
    expect((await fetch(next)).status).toBe(404)
  })

  it('belong to their bot and workspace', async () => {
    const { admin, id, keep } = await deployed()
    const { id: versionId } = await keep('mine')
    const { bot: other } = await admin.createBot({})
    const stranger = existingClient(server(), await addAccount(server()))
    const at = { id: other.id, versionId }
    const missing = { type: 'ResourceNotFound' }
    await expect(admin.getBotVersion(at)).rejects.toMatchObject(missing)
    await expect(admin.deployBotVersion(at)).rejects.toMatchObject({ type: 'ReferenceNotFound' })
    await expect(stranger.getBotVersion({ id, versionId })).rejects.toMatchObject(missing)
    await expect(stranger.listBotVersions({ id })).rejects.toMatchObject(missing)
    await expect(stranger.deployBotVersion({ id, versionId })).rejects.toMatchObject(missing)
  })

  it('whose code does not start are refused, and what ran before stays', async () => {
    const { admin, id, deploy, call, keep } = await deployed()
    const starts = 'if (process.env.SECRET_KEY !== "one") throw new Error("wrong key")'
    await admin.updateBot({ id, code: codeOf(1, starts), secrets: { KEY: 'one' } })
    const { id: versionId } = await keep('needs one')
    await deploy(2, { secrets: { KEY: 'two' }, actions: { act, more: act } })
    await expect(admin.deployBotVersion({ id, versionId })).rejects.toMatchObject({
      type: 'Runtime',
      message: expect.stringContaining('wrong key'),
    })
    expect(await call()).toEqual({ number: 2, key: 'two' })
    expect(Object.keys((await admin.getBot({ id })).bot.actions)).toEqual(['act', 'more'])
  })

  it('need code: a bot at a url has none, and returns to a version it had before', async () => {
    const { admin, id, call, keep, own } = await deployed()
    const { id: versionId } = await keep('code')
    await admin.updateBot({ id, url: 'http://127.0.0.1:9' })
    await expect(keep('url')).rejects.toMatchObject({
      type: 'RelationConflict',
      message: expect.stringContaining('served at its url'),
    })
    const { bot: empty } = await admin.createBot({})
    await expect(admin.createBotVersion({ id: empty.id, name: 'x' })).rejects.toMatchObject({
      message: expect.stringContaining('has no code'),
    })
    expect((await own.listBotVersions({ id })).versions).toMatchObject([{ deployed: false }])
    await admin.deployBotVersion({ id, versionId })
    expect(await call()).toMatchObject({ number: 1 })
    expect((await own.getBot({ id })).bot.url).toBeUndefined()
  })

  it('keep their code when deployments are forgotten, and no longer than that', async () => {
    const { admin, id, deploy, call, keep, own } = await deployed(11)
    const { id: versionId } = await keep('eleven')
    await deploy(12)
    const stored = async () =>
      await inDatabase(server(), async ({ db }) => {
        const rows = db.selectFrom('bundles').select('code').where('code', 'like', '%11%')
        return (await rows.execute()).length
      })
    const deployments = async () =>
      await inDatabase(server(), async ({ db }) => {
        const rows = db.selectFrom('deployments').select('id').where('owner_id', '=', id)
        return (await rows.execute()).length
      })
    const pass = async (hours: number, until: () => Promise<boolean>) => {
      for (let passed = 0; passed < hours; passed++) await server().pass(hour)
      await vi.waitUntil(until)
    }
    await pass(27, async () => (await deployments()) === 1)
    expect(await stored()).toBe(1)
    await admin.deployBotVersion({ id, versionId })
    expect(await call()).toMatchObject({ number: 11 })
    await deploy(12)
    await own.deleteBotVersion({ id, versionId })
    await pass(27, async () => (await stored()) === 0)
  })

  it('bring back the plugins that were built into their code, bound to what is installed now', async () => {
    const { admin, id, deploy, keep, own } = await deployed()
    const made = { name: `mail-${engine.name}`, version: '1.0.0' }
    const { integration } = await own.createIntegration(made)
    const wrap = { code: { node: 'a', browser: 'b' } }
    const configuration = { schema: { type: 'object', properties: { limit: {} } } }
    const { plugin } = await own.createPlugin({
      ...wrap,
      name: 'one',
      version: '1.0.0',
      configuration,
    })
    const { plugin: next } = await own.createPlugin({ ...wrap, name: 'two', version: '1.0.0' })
    await own.updateBot({
      id,
      integrations: { mail: { integrationId: integration.id, enabled: true } },
    })
    const bound = (integrationId: string) => ({
      integrations: { mail: { integrationId, integrationAlias: 'mail' } },
    })
    await own.updateBot({
      id,
      plugins: { help: { id: plugin.id, configuration: { limit: 3 }, ...bound(integration.id) } },
    })
    const { id: versionId } = await keep('with one')
    const { integration: newer } = await own.createIntegration({ ...made, version: '2.0.0' })
    await deploy(2)
    await own.updateBot({
      id,
      plugins: { help: null, other: { id: next.id } },
      integrations: { mail: { integrationId: newer.id, enabled: true } },
    })
    await admin.deployBotVersion({ id, versionId })
    const { plugins } = (await own.getBot({ id })).bot
    expect(Object.keys(plugins)).toEqual(['help'])
    expect(plugins.help).toMatchObject({
      id: plugin.id,
      configuration: { limit: 3 },
      integrations: { mail: { integrationId: newer.id } },
    })
    const { logs } = await admin.getBotLogs({ id, timeStart: '2000-01-01T00:00:00Z' })
    expect(logs).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        message: expect.stringContaining(`${made.name} 1.0.0 then, and is ${made.name} 2.0.0 now`),
      }),
    )
    await own.updateBot({ id, plugins: { help: null } })
    await own.deletePlugin({ id: plugin.id })
    await expect(admin.deployBotVersion({ id, versionId })).rejects.toMatchObject({
      type: 'ReferenceNotFound',
      message: expect.stringContaining(plugin.id),
    })
  })
})
