import { expect, it } from 'vitest'
import { describeEachEngine } from '../../../../test/engines.js'
import { existingClient } from '../../../../test/existing-clients.js'
import { useServer } from '../../../../test/harness.js'
import { addAccount } from '../../../../test/tenant.js'

const schemaOf = (...names: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
})
/** As large as the bundle of a plugin. */
const bundle = (platform: string) => `module.exports = '${platform}'`.padEnd(1_500_000, ';')

describeEachEngine('plugins', (engine) => {
  const server = useServer(engine)
  const admin = () => existingClient(server())
  const elsewhere = async () => existingClient(server(), await addAccount(server()))
  let count = 0
  const newName = () => `helper-${++count}`
  const code = { node: 'node()', browser: 'browser()' }
  type NewPlugin = Parameters<ReturnType<typeof admin>['createPlugin']>[0]
  const create = async (more: Partial<NewPlugin> = {}, client = admin()) =>
    (await client.createPlugin({ name: newName(), version: '1.0.0', code, ...more })).plugin

  it('are created, shown, changed member by member, and deleted', async () => {
    const name = newName()
    const { plugin } = await admin().createPlugin({
      name,
      version: '1.0.0',
      title: 'Helper',
      icon: Buffer.from('<svg/>').toString('base64'),
      code: { node: bundle('node'), browser: bundle('browser') },
      configuration: { title: 'Settings', schema: schemaOf('greeting') },
      states: { session: { type: 'conversation', schema: {}, expiry: 60_000 } },
      events: { started: { schema: {}, attributes: { kind: 'own' } } },
      actions: { start: { input: { schema: {} }, output: { schema: {} } } },
      user: { tags: { agent: { title: 'Agent' } } },
      conversation: { tags: { upstream: {} } },
      message: { tags: {} },
      sdkVersion: '7.2.4',
      attributes: { team: 'red' },
    })
    expect(plugin).toMatchObject({
      name,
      version: '1.0.0',
      title: 'Helper',
      public: false,
      visibility: 'private',
      lifecycleStatus: 'published',
      user: { tags: { agent: { title: 'Agent' } } },
      dependencies: { interfaces: {}, integrations: {} },
    })
    expect(plugin).not.toHaveProperty('code')
    const { id } = plugin
    expect((await admin().getPlugin({ id })).plugin).toEqual(plugin)
    expect((await admin().getPluginByName({ name, version: '^1.0.0' })).plugin).toEqual(plugin)
    const { plugin: changed } = await admin().updatePlugin({
      id,
      configuration: null,
      states: { session: null },
      events: { started: { schema: {}, attributes: { kind: null } } },
      user: { tags: { agent: null } },
      code: { browser: 'changed()' },
      visibility: 'unlisted',
    })
    expect(changed).toMatchObject({
      title: 'Helper',
      visibility: 'unlisted',
      public: false,
      configuration: { schema: {} },
      states: {},
      events: { started: { attributes: {} } },
      user: { tags: {} },
      conversation: { tags: { upstream: {} } },
    })
    const codeOf = async (platform: 'node' | 'browser') =>
      (await admin().getPluginCode({ id, platform })).code
    expect(await codeOf('browser')).toBe('changed()')
    expect(await codeOf('node')).toBe(bundle('node'))
    await admin().deletePlugin({ id })
    const missing = { type: 'ResourceNotFound' }
    await expect(admin().getPlugin({ id })).rejects.toMatchObject(missing)
    await expect(codeOf('node')).rejects.toMatchObject(missing)
  })

  it('are in the hub when they are public, and found there when they are unlisted', async () => {
    const topic = `plug${++count}`
    const shared = await create({ name: `${topic}-a`, visibility: 'public' })
    const unlisted = await create({ name: `${topic}-b`, visibility: 'unlisted' })
    const hidden = await create({ name: `${topic}-c` })
    const other = await elsewhere()
    const { plugins } = await other.listPublicPlugins({ name: shared.name })
    expect(plugins).toMatchObject([
      { id: shared.id, meta: { installs: 0 }, ownerWorkspace: { id: server().workspaceId } },
    ])
    expect((await other.listPublicPlugins({ name: unlisted.name })).plugins).toEqual([])
    for (const { id, name } of [shared, unlisted]) {
      const { plugin } = await other.getPublicPluginById({ id })
      const byName = await other.getPublicPlugin({ name, version: '>=1.0.0 <2.0.0' })
      expect(byName.plugin).toEqual(plugin)
      expect(await other.getPublicPluginCode({ id, platform: 'node' })).toEqual({ code: 'node()' })
    }
    const missing = { type: 'ResourceNotFound', code: 404 }
    const { id, name } = hidden
    for (const look of [
      () => other.getPublicPluginById({ id }),
      () => other.getPublicPlugin({ name, version: 'latest' }),
      () => other.getPublicPluginCode({ id, platform: 'node' }),
      () => other.getDereferencedPublicPluginById({ id, interfaces: {} }),
      () => other.getPlugin({ id: shared.id }),
      () => other.getPluginCode({ id: shared.id, platform: 'node' }),
      () => other.updatePlugin({ id: shared.id, title: 'Taken' }),
      () => other.deletePlugin({ id: shared.id }),
    ]) {
      await expect(look()).rejects.toMatchObject(missing)
    }
    const taken = { type: 'AlreadyExists' }
    await expect(create({ name: shared.name }, admin())).rejects.toMatchObject(taken)
    const copy = { name: shared.name, version: '9.0.0' }
    const squatting = create({ ...copy, visibility: 'unlisted' }, other)
    await expect(squatting).rejects.toMatchObject(taken)
    await create(copy, other)
  })

  it('depend on interfaces and integrations by id, or by name and a range', async () => {
    const { interface: hitl } = await admin().createInterface({
      name: newName(),
      version: '2.1.0',
      public: true,
    })
    const { integration } = await admin().createIntegration({ name: newName(), version: '1.5.0' })
    const range = '>=2.0.0 <3.0.0'
    // The shape of today's tools, which send more than is stored.
    const dependency = {
      type: 'interface',
      uri: undefined,
      name: hitl.name,
      version: range,
      definition: { name: hitl.name, entities: {} },
    }
    const plugin = await create({
      dependencies: {
        interfaces: { byRange: dependency, byId: { id: hitl.id } },
        integrations: {
          own: { name: integration.name, version: 'latest' },
          chat: { name: 'chat', version: '^1.0.0' },
        },
      },
    })
    const chat = await admin().getPublicIntegration({ name: 'chat', version: '1.0.0' })
    expect(plugin.dependencies).toEqual({
      interfaces: {
        byRange: { id: hitl.id, name: hitl.name, version: range },
        byId: { id: hitl.id, name: hitl.name, version: '2.1.0' },
      },
      integrations: {
        own: { id: integration.id, name: integration.name, version: 'latest' },
        chat: { id: chat.integration.id, name: 'chat', version: '^1.0.0' },
      },
    })
    for (const [given, type] of [
      [{ name: hitl.name, version: '>=3.0.0' }, 'ReferenceNotFound'],
      [{ id: integration.id }, 'ReferenceNotFound'],
      [{ version: '1.0.0' }, 'InvalidPayload'],
    ] as const) {
      const refused = create({ dependencies: { interfaces: { wrong: given } } })
      await expect(refused).rejects.toMatchObject({
        type,
        message: expect.stringContaining('body.dependencies.interfaces.wrong'),
      })
    }
    const deletion = () => admin().deleteInterface({ id: hitl.id })
    await expect(deletion()).rejects.toMatchObject({
      type: 'ReferenceConstraint',
      message: expect.stringContaining(plugin.id),
    })
    const { plugin: without } = await admin().updatePlugin({
      id: plugin.id,
      dependencies: { interfaces: { byId: null } },
    })
    expect(Object.keys(without.dependencies.interfaces)).toEqual(['byRange'])
    await deletion()
  })

  it('are dereferenced with the entities of an integration, or of the interface itself', async () => {
    const { interface: list } = await admin().createInterface({
      name: newName(),
      version: '1.0.0',
      public: true,
      entities: { item: { schema: schemaOf('id') } },
    })
    const { integration } = await admin().createIntegration({
      name: newName(),
      version: '1.0.0',
      visibility: 'public',
      entities: { issue: { schema: schemaOf('id', 'repository') } },
      interfaces: { 'listable<issue>': { id: list.id, entities: { item: { name: 'issue' } } } },
    })
    const item = { $ref: 'interface:listable/entities/item' }
    const plugin = await create({
      visibility: 'public',
      dependencies: { interfaces: { listable: { id: list.id } } },
      states: { seen: { type: 'bot', schema: { type: 'object', properties: { item } } } },
      actions: {
        show: {
          input: { schema: { type: 'object', properties: { items: { items: [item] } } } },
          output: { schema: { $ref: 'interface:unknown/entities/item' } },
        },
      },
    })
    const other = await elsewhere()
    const { id } = plugin
    const { plugin: found } = await other.getDereferencedPublicPluginById({
      id,
      interfaces: { listable: integration.id },
    })
    const issue = schemaOf('id', 'repository')
    expect(found.states.seen?.schema).toEqual({ type: 'object', properties: { item: issue } })
    expect(found.actions.show).toEqual({
      input: { schema: { type: 'object', properties: { items: { items: [issue] } } } },
      output: { schema: { $ref: 'interface:unknown/entities/item' } },
    })
    const { plugin: base } = await admin().getDereferencedPlugin({ id, interfaces: {} })
    expect(base.states.seen?.schema).toEqual({
      type: 'object',
      properties: { item: schemaOf('id') },
    })
    expect((await admin().getPlugin({ id })).plugin.states).toEqual(plugin.states)
    for (const [alias, integrationId] of [
      ['listable', 'none'],
      ['stray', integration.id],
    ] as const) {
      const interfaces = { [alias]: integrationId }
      const look = other.getDereferencedPublicPluginById({ id, interfaces })
      await expect(look).rejects.toMatchObject({
        type: 'ReferenceNotFound',
        message: expect.stringContaining(`query.interfaces.${alias}`),
      })
    }
  })

  it('are not dereferenced to more than a bounded size', async () => {
    const large = { type: 'object', description: 'x'.repeat(90_000) }
    const { interface: list } = await admin().createInterface({
      name: newName(),
      version: '1.0.0',
      entities: { item: { schema: large } },
    })
    const item = { $ref: 'interface:listable/entities/item' }
    const { id } = await create({
      dependencies: { interfaces: { listable: { id: list.id } } },
      states: { seen: { type: 'bot', schema: { anyOf: Array.from({ length: 100 }, () => item) } } },
    })
    await expect(admin().getDereferencedPlugin({ id, interfaces: {} })).rejects.toMatchObject({
      type: 'LimitExceeded',
    })
  })
})
