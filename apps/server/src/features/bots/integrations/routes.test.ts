import { expect, it } from 'vitest'
import { describeEachEngine } from '../../../../test/engines.js'
import { existingClient } from '../../../../test/existing-clients.js'
import { useServer } from '../../../../test/harness.js'
import { addAccount } from '../../../../test/tenant.js'

const schema = { type: 'object', properties: { token: { type: 'string' } }, required: ['token'] }

describeEachEngine('integrations', (engine) => {
  const server = useServer(engine)
  const admin = () => existingClient(server())
  let count = 0
  const newName = () => `mail-${++count}`

  it('are created, shown, changed member by member, and deleted', async () => {
    const name = newName()
    const { integration } = await admin().createIntegration({
      name,
      version: '1.0.0',
      title: 'Mail',
      description: 'Sends mail',
      url: 'http://localhost:9/',
      icon: Buffer.from('<svg/>').toString('base64'),
      configuration: { schema, identifier: { required: true } },
      channels: {
        inbox: {
          messages: { text: { schema: {} }, image: { schema: {} } },
          conversation: { tags: { thread: {} } },
          message: { tags: { id: {} } },
        },
      },
      actions: { send: { input: { schema: {} }, output: { schema: {} } } },
      events: { received: { schema: {} } },
      states: { cursor: { type: 'integration', schema: {} } },
      secrets: { API_KEY: 'hidden' },
      attributes: { team: 'red' },
    })
    expect(integration).toMatchObject({
      name,
      version: '1.0.0',
      title: 'Mail',
      visibility: 'private',
      dev: false,
      iconUrl: 'data:image/svg+xml;base64,PHN2Zy8+',
      secrets: ['API_KEY'],
      signingSecret: expect.stringMatching(/.{20,}/),
      configuration: { schema, identifier: { required: true } },
      user: { tags: {}, creation: { enabled: false, requiredTags: [] } },
      interfaces: {},
    })
    const { id } = integration
    expect((await admin().getIntegration({ id })).integration).toEqual({
      ...integration,
      signingSecret: '',
    })
    const { integration: changed } = await admin().updateIntegration({
      id,
      title: 'Post',
      url: null,
      channels: { inbox: { messages: { image: null }, message: { tags: { subject: {} } } } },
      events: { received: null, bounced: { schema: {} } },
      secrets: { API_KEY: null, OTHER_KEY: 'hidden' },
      attributes: { team: null },
    } as unknown as Parameters<ReturnType<typeof admin>['updateIntegration']>[0])
    expect(changed).toMatchObject({
      title: 'Post',
      description: 'Sends mail',
      url: '',
      secrets: ['OTHER_KEY'],
      attributes: {},
    })
    expect(Object.keys(changed.events)).toEqual(['bounced'])
    expect(changed.channels.inbox).toMatchObject({
      conversation: { tags: { thread: {} } },
      message: { tags: { id: {}, subject: {} } },
    })
    expect(Object.keys(changed.channels.inbox?.messages ?? {})).toEqual(['text'])
    await admin().deleteIntegration({ id })
    await expect(admin().getIntegration({ id })).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
  })

  it('are found by name and version, also with a handle', async () => {
    await admin().updateWorkspace({ id: server().workspaceId, handle: 'acme' })
    const name = `acme/${newName()}`
    const versions = ['0.9.0', '1.2.0', '1.10.0', '2.0.0-beta.1']
    for (const version of versions) await admin().createIntegration({ name, version })
    const find = async (version: string) =>
      (await admin().getIntegrationByName({ name, version })).integration.version
    expect(await find('1.2.0')).toBe('1.2.0')
    expect(await find('latest')).toBe('1.10.0')
    expect(await find('<1.10.0')).toBe('1.2.0')
    expect(await find('^1.0.0')).toBe('1.10.0')
    expect(await find('2.0.0-beta.1')).toBe('2.0.0-beta.1')
    for (const [other, version] of [
      [name, '3.0.0'],
      [name, 'nonsense'],
      ['acme/none', 'latest'],
    ] as const) {
      await expect(admin().getIntegrationByName({ name: other, version })).rejects.toMatchObject({
        type: 'ResourceNotFound',
      })
    }
  })

  it('may begin with the handle of their own workspace only', async () => {
    const name = `initech_2/${newName()}`
    const made = { name, version: '1.0.0' }
    const login = await addAccount(server())
    const other = existingClient(server(), { ...login })
    const refused = { type: 'Forbidden', message: expect.stringContaining('initech_2/') }
    await expect(other.createIntegration(made)).rejects.toMatchObject(refused)
    await other.updateWorkspace({ id: login.workspaceId, handle: 'initech_2' })
    await expect(admin().createIntegration(made)).rejects.toMatchObject(refused)
    await expect(admin().validateIntegrationCreation(made)).rejects.toMatchObject(refused)
    await other.validateIntegrationCreation(made)
    expect((await other.createIntegration(made)).integration).toMatchObject(made)
  })

  it('are unique by name and version, apart from those of development tools', async () => {
    const name = newName()
    await admin().createIntegration({ name, version: '1.0.0' })
    const taken = { type: 'AlreadyExists' }
    await expect(admin().createIntegration({ name, version: '1.0.0' })).rejects.toMatchObject(taken)
    await expect(
      admin().validateIntegrationCreation({ name, version: '1.0.0' }),
    ).rejects.toMatchObject(taken)
    await admin().validateIntegrationCreation({ name, version: '1.0.1' })
    await admin().createIntegration({ name, version: '1.0.0', dev: true })
    await admin().createIntegration({ name, version: '1.0.0', dev: true })
    expect((await admin().listIntegrations({ name })).integrations).toHaveLength(1)
    expect((await admin().listIntegrations({ name, dev: true })).integrations).toHaveLength(2)
  })

  it('refuse invalid members', async () => {
    const { integration } = await admin().createIntegration({ name: newName(), version: '1.0.0' })
    const { id } = integration
    const broken = { send: { input: { schema: { type: 7 } }, output: { schema: {} } } }
    const attempts: [() => Promise<unknown>, string, string][] = [
      [
        () => admin().createIntegration({ name: 'Mail', version: '1.0.0' }),
        'InvalidIdentifier',
        'body.name',
      ],
      [
        () => admin().createIntegration({ name: 'mail', version: 'one' }),
        'InvalidPayload',
        'body.version',
      ],
      [
        () => admin().validateIntegrationUpdate({ id, actions: broken }),
        'InvalidJsonSchema',
        'body.actions.send.input.schema',
      ],
      [
        () => admin().updateIntegration({ id, interfaces: { hitl: { id: 'none' } } } as never),
        'ReferenceNotFound',
        'body.interfaces.hitl',
      ],
      [
        () => admin().updateIntegration({ id, secrets: { lower: 'x' } }),
        'InvalidPayload',
        'body.secrets.lower',
      ],
    ]
    for (const [attempt, type, message] of attempts) {
      await expect(attempt()).rejects.toMatchObject({
        type,
        message: expect.stringContaining(message),
      })
    }
    await admin().validateIntegrationUpdate({ id, title: 'Fine' })
    expect((await admin().getIntegration({ id })).integration.title).toBe('')
  })

  it('are listed page by page, sorted and filtered', async () => {
    const names = [newName(), newName(), newName()]
    for (const name of names) {
      await admin().createIntegration({ name, version: '1.0.0', description: 'Für 100% of paging' })
    }
    const query = { search: 'FÜR 100% OF', sortBy: 'name', pageSize: 2 } as const
    const first = await admin().listIntegrations(query)
    const second = await admin().listIntegrations({ ...query, nextToken: first.meta.nextToken })
    const found = [...first.integrations, ...second.integrations].map(({ name }) => name)
    expect(found).toEqual(names.toSorted())
    expect(second.meta.nextToken).toBeUndefined()
    expect((await admin().listIntegrations({ search: '100_ of' })).integrations).toEqual([])
    const { integrations } = await admin().listIntegrations({ interfaceName: 'hitl' })
    expect(integrations).toEqual([])
  })

  it('cannot be seen or changed by other workspaces while they are private', async () => {
    const { integration } = await admin().createIntegration({ name: newName(), version: '1.0.0' })
    const { id, name } = integration
    const other = existingClient(server(), await addAccount(server()))
    const { bot } = await other.createBot({})
    const missing = { type: 'ResourceNotFound' }
    await expect(other.getIntegration({ id })).rejects.toMatchObject(missing)
    await expect(other.getIntegrationByName({ name, version: 'latest' })).rejects.toMatchObject(
      missing,
    )
    await expect(other.updateIntegration({ id, title: 'Taken' })).rejects.toMatchObject(missing)
    await expect(other.deleteIntegration({ id })).rejects.toMatchObject(missing)
    await expect(other.rotateIntegrationSigningSecrets({ id })).rejects.toMatchObject(missing)
    await expect(
      other.getIntegrationLogs({ id, timeStart: '2020-01-01T00:00:00Z' }),
    ).rejects.toMatchObject(missing)
    const unknown = { type: 'ReferenceNotFound' }
    await expect(other.createIntegrationApiKey({ integrationId: id })).rejects.toMatchObject(
      unknown,
    )
    await expect(
      other.updateBot({ id: bot.id, integrations: { mail: { integrationId: id, enabled: true } } }),
    ).rejects.toMatchObject(unknown)
    expect((await other.listIntegrations({})).integrations).toEqual([])
    await other.createIntegration({ name, version: '1.0.0' })
  })

  it('says in the format of existing tools that there are no interfaces and plugins', async () => {
    const client = existingClient(server())
    for (const response of [
      await client.listInterfaces({ name: 'hitl' }),
      await client.listPublicInterfaces({}),
    ]) {
      expect(response).toEqual({ interfaces: [], meta: {} })
    }
    expect(await client.listPlugins({})).toEqual({ plugins: [], meta: {} })
    expect(await client.listPublicPlugins({})).toEqual({ plugins: [], meta: {} })
    const none = { type: 'ResourceNotFound', code: 404 }
    for (const search of [
      () => client.getInterfaceByName({ name: 'own/hitl', version: '<1.0.0' }),
      () => client.getPublicInterface({ name: 'hitl', version: 'latest' }),
      () => client.getPluginByName({ name: 'hitl', version: 'latest' }),
      () => client.getPublicPluginCode({ id: 'plugin_none', platform: 'node' }),
      () => client.getDereferencedPlugin({ id: 'plugin_none', interfaces: { hitl: 'x' } }),
    ]) {
      await expect(search()).rejects.toMatchObject(none)
    }
  })

  it('has the built-in chat in the hub', async () => {
    const { integrations } = await admin().listPublicIntegrations({})
    expect(integrations.map(({ name }) => name)).toEqual(['chat'])
    const { integration } = await admin().getPublicIntegration({ name: 'chat', version: 'latest' })
    const byId = await admin().getPublicIntegrationById({ id: integration.id })
    expect(byId.integration).toEqual(integration)
    expect(Object.keys(integration.actions)).toContain('publishMessageStream')
    await expect(
      admin().getPublicIntegration({ name: 'chat', version: '9.0.0' }),
    ).rejects.toMatchObject({ type: 'ResourceNotFound' })
    await expect(admin().getPublicIntegrationById({ id: 'none' })).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
  })
})
