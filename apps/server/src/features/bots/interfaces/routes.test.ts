import { expect, it } from 'vitest'
import { describeEachEngine } from '../../../../test/engines.js'
import { existingClient } from '../../../../test/existing-clients.js'
import { useServer } from '../../../../test/harness.js'
import { addAccount } from '../../../../test/tenant.js'

const schemaOf = (...names: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
})

describeEachEngine('interfaces', (engine) => {
  const server = useServer(engine)
  const admin = () => existingClient(server())
  const elsewhere = async () => existingClient(server(), await addAccount(server()))
  let count = 0
  const newName = () => `listable-${++count}`
  const publish = async (version = '1.0.0', name = newName()) =>
    (await admin().createInterface({ name, version, public: true })).interface

  it('are created, shown, changed member by member, and deleted', async () => {
    const name = newName()
    const { interface: made } = await admin().createInterface({
      name,
      version: 'v1.0.0',
      title: 'Listable',
      icon: Buffer.from('<svg/>').toString('base64'),
      readme: Buffer.from('# Lists').toString('base64'),
      sdkVersion: '7.2.4',
      entities: { modelRef: { title: 'Model', schema: schemaOf('id') } },
      events: {
        listed: { schema: { type: 'object', properties: { item: { $ref: 'modelRef' } } } },
      },
      actions: {
        'list<modelRef>': {
          title: 'List',
          billable: true,
          input: { schema: schemaOf('nextToken') },
          output: { schema: { type: 'array', items: { $ref: 'modelRef' } } },
          attributes: { cost: 'low' },
        },
      },
      channels: { all: { title: 'All', messages: { text: { schema: schemaOf('text') } } } },
      nameTemplate: { script: 'name', language: 'handlebars' },
      attributes: { team: 'red' },
    })
    expect(made).toMatchObject({
      name,
      version: '1.0.0',
      title: 'Listable',
      description: '',
      public: false,
      iconUrl: 'data:image/svg+xml;base64,PHN2Zy8+',
      readmeUrl: expect.stringMatching(/^data:text\/markdown;base64,/),
      nameTemplate: { script: 'name', language: 'handlebars' },
    })
    const { id } = made
    expect((await admin().getInterface({ id })).interface).toEqual(made)
    const { interface: changed } = await admin().updateInterface({
      id,
      description: 'Lists things',
      nameTemplate: null,
      entities: { modelRef: null, item: { schema: schemaOf('id') } },
      actions: {
        'list<modelRef>': {
          input: { schema: {} },
          output: { schema: {} },
          attributes: { cost: null },
        },
      },
      channels: { all: { messages: { text: null, image: { schema: {} } } } },
      attributes: { team: null },
    })
    expect(changed).toMatchObject({
      title: 'Listable',
      description: 'Lists things',
      events: made.events,
      actions: { 'list<modelRef>': { attributes: {} } },
      channels: { all: { title: 'All', messages: { image: { schema: {} } } } },
      attributes: {},
    })
    expect(changed).not.toHaveProperty('nameTemplate')
    expect(Object.keys(changed.entities)).toEqual(['item'])
    expect(Object.keys(changed.channels.all?.messages ?? {})).toEqual(['image'])
    expect((await admin().getInterface({ id })).interface).toEqual(changed)
    await admin().deleteInterface({ id })
    await expect(admin().getInterface({ id })).rejects.toMatchObject({ type: 'ResourceNotFound' })
  })

  it('are found by name and version, with a handle also, and are unique by both', async () => {
    await admin().updateWorkspace({ id: server().workspaceId, handle: 'acme' })
    const name = `acme/${newName()}`
    for (const version of ['0.9.0', '1.2.0', '1.10.0', '2.0.0-beta.1']) {
      await publish(version, name)
    }
    const other = await elsewhere()
    for (const [version, found] of [
      ['1.2.0', '1.2.0'],
      ['latest', '1.10.0'],
      ['<1.10.0', '1.2.0'],
      ['>=1.0.0 <2.0.0', '1.10.0'],
    ] as const) {
      const own = await admin().getInterfaceByName({ name, version })
      expect(own.interface.version).toBe(found)
      const shared = await other.getPublicInterface({ name, version })
      expect(shared.interface).toMatchObject(own.interface)
    }
    const missing = { type: 'ResourceNotFound', code: 404 }
    await expect(admin().getInterfaceByName({ name, version: '>=3.0.0' })).rejects.toMatchObject(
      missing,
    )
    await expect(other.getInterfaceByName({ name, version: 'latest' })).rejects.toMatchObject(
      missing,
    )
    await expect(publish('1.2.0', name)).rejects.toMatchObject({ type: 'AlreadyExists' })
    const foreign = other.createInterface({ name, version: '9.0.0' })
    await expect(foreign).rejects.toMatchObject({ type: 'Forbidden' })
  })

  it('are listed page by page, sorted and filtered, the own ones and those of the hub', async () => {
    const topic = `topic${++count}`
    const names = ['b', 'a', 'c'].map((letter) => `${topic}-${letter}`)
    for (const name of names) {
      await publish('1.0.0', name)
      // In a list by time, those of one millisecond are in no particular order.
      server().clock.advance(1)
    }
    await admin().createInterface({ name: `${topic}-hidden`, version: '1.0.0' })
    // Search and order are beyond what the existing client sends.
    const other = server().client(await addAccount(server()))
    const query = { search: topic.toUpperCase(), sortBy: 'name', pageSize: 2 } as const
    const first = await other.listPublicInterfaces(query)
    const { nextToken = '' } = first.meta
    const second = await other.listPublicInterfaces({ ...query, nextToken })
    expect(second.meta).toEqual({})
    const shared = [...first.interfaces, ...second.interfaces]
    expect(shared.map(({ name }) => name)).toEqual(names.toSorted())
    expect(shared[0]).toMatchObject({
      public: true,
      ownerWorkspace: { id: server().workspaceId, name: 'Default' },
    })
    const own = await server().client().listInterfaces({ search: topic })
    expect(own.interfaces.map(({ name }) => name)).toEqual([
      `${topic}-hidden`,
      ...names.toReversed(),
    ])
    const versions = await other.listPublicInterfaces({ name: names[0], version: '2.0.0' })
    expect(versions.interfaces).toEqual([])
    expect((await other.listInterfaces({})).interfaces).toEqual([])
  })

  it('refuse invalid members', async () => {
    const { id } = await publish()
    const attempts: [() => Promise<unknown>, string, string][] = [
      [() => publish('1.0.0', 'Loud'), 'InvalidIdentifier', 'body.name'],
      [() => publish('one'), 'InvalidPayload', 'body.version'],
      [
        () => admin().updateInterface({ id, entities: { item: { schema: { type: 7 } } } }),
        'InvalidJsonSchema',
        'body.entities.item.schema',
      ],
      [
        () =>
          admin().updateInterface({
            id,
            channels: Object.fromEntries(
              Array.from({ length: 51 }, (_, at) => [`c${at}`, { messages: {} }]),
            ),
          }),
        'LimitExceeded',
        'body.channels',
      ],
    ]
    for (const [attempt, type, message] of attempts) {
      const refused = { type, message: expect.stringContaining(message) }
      await expect(attempt()).rejects.toMatchObject(refused)
    }
  })

  it('are implemented by integrations, which lists of integrations find by them', async () => {
    const made = await publish()
    const other = await elsewhere()
    const { integration } = await other.createIntegration({
      name: 'tracker',
      version: '1.0.0',
      entities: { issue: { schema: schemaOf('id') } },
      actions: { listIssues: { input: { schema: {} }, output: { schema: {} } } },
      interfaces: {
        'listable<issue>': {
          id: made.id,
          entities: { item: { name: 'issue' } },
          actions: { list: { name: 'listIssues' } },
        },
      },
    })
    const implemented = {
      id: made.id,
      name: made.name,
      version: '1.0.0',
      entities: { item: { name: 'issue' } },
      actions: { list: { name: 'listIssues' } },
      events: {},
      channels: {},
    }
    expect(integration.interfaces).toEqual({ 'listable<issue>': implemented })
    const { id } = integration
    expect((await other.getIntegration({ id })).integration.interfaces).toEqual(
      integration.interfaces,
    )
    for (const filter of [{ interfaceId: made.id }, { interfaceName: made.name }]) {
      const { integrations } = await other.listIntegrations(filter)
      expect(integrations.map((each) => each.id)).toEqual([id])
      // Of another workspace, and not in the hub.
      expect((await admin().listIntegrations(filter)).integrations).toEqual([])
      expect((await admin().listPublicIntegrations(filter)).integrations).toEqual([])
    }

    const inUse = { type: 'ReferenceConstraint', message: expect.not.stringContaining(id) }
    await expect(admin().deleteInterface({ id: made.id })).rejects.toMatchObject(inUse)
    const hiding = admin().updateInterface({ id: made.id, public: false })
    await expect(hiding).rejects.toMatchObject(inUse)
    const { integration: changed } = await other.updateIntegration({
      id,
      interfaces: { 'listable<issue>': null },
    } as never)
    expect(changed.interfaces).toEqual({})
    const { integrations } = await other.listIntegrations({ interfaceId: made.id })
    expect(integrations).toEqual([])
    await admin().updateInterface({ id: made.id, public: false })
    const hidden = other.updateIntegration({ id, interfaces: { l: { id: made.id } } } as never)
    await expect(hidden).rejects.toMatchObject({
      type: 'ReferenceNotFound',
      message: expect.stringContaining('body.interfaces.l'),
    })
    const { integration: own } = await admin().createIntegration({
      name: newName(),
      version: '1.0.0',
      interfaces: { listable: { id: made.id } },
    })
    await expect(admin().deleteInterface({ id: made.id })).rejects.toMatchObject({
      type: 'ReferenceConstraint',
      message: expect.stringContaining(own.id),
    })
    await admin().deleteIntegration({ id: own.id })
    await admin().deleteInterface({ id: made.id })
  })

  it('keep the name of what was published first, until its workspace is deleted', async () => {
    const login = await addAccount(server())
    const first = existingClient(server(), login)
    const name = newName()
    const { interface: made } = await first.createInterface({
      name,
      version: '1.0.0',
      public: true,
    })
    const taken = { type: 'AlreadyExists', message: expect.stringContaining(name) }
    await expect(publish('2.0.0', name)).rejects.toMatchObject(taken)
    const { interface: own } = await admin().createInterface({ name, version: '2.0.0' })
    const publishing = admin().updateInterface({ id: own.id, public: true })
    await expect(publishing).rejects.toMatchObject(taken)
    await first.deleteWorkspace({ id: login.workspaceId })
    await expect(admin().getPublicInterfaceById({ id: made.id })).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
    await admin().updateInterface({ id: own.id, public: true })
  })
})
