import { allOperations, type Operation } from '@botstead/contract'
import { beforeAll, expect, it } from 'vitest'
import { describeSlow } from './engines.js'
import { type TestServer, useServer } from './harness.js'
import { reaches } from './tenancy/reaches.js'
import { inDatabase, inventory, seedTenant, type Tenant } from './tenancy/seed.js'

/** Whether an operation is about an existing object, and not about one that its caller names. */
function namesAnId({ auth, params, query, body }: Operation): boolean {
  if (!['account', 'token', 'workspace', 'bot', 'chat-user'].includes(auth)) return false
  const named = [params, query, body].flatMap((part) => Object.keys(part?.properties ?? {}))
  return (
    named.some((name) => /Id$/.test(name) && name !== 'webhookId') ||
    params?.properties.id !== undefined ||
    params?.properties.idOrKey !== undefined
  )
}

const calledWith = (...kinds: Operation['auth'][]) =>
  allOperations
    .filter(({ auth }) => kinds.includes(auth))
    .map((operation) => [operation.id, operation] as const)
const calledWithToken = calledWith('account', 'token', 'workspace', 'bot')
const calledInScope = calledWith('workspace', 'bot')
const calledByPeople = calledWith('account', 'workspace')
const headerOf = (auth: Operation['auth']) => (auth === 'bot' ? 'x-bot-id' : 'x-workspace-id')

/** Calls without a body or a real path: callers are refused before either is looked at. */
async function refusal(server: TestServer, operation: Operation, headers: Record<string, string>) {
  const path = operation.path.replaceAll(/\{\w+\}/g, 'any')
  const response = await server.fetch(path, { method: operation.method, headers })
  const { type, message } = JSON.parse(await response.text())
  return { status: response.status, type, message }
}

describeSlow('tenancy', (engine) => {
  const server = useServer(engine)
  let ann: Tenant
  let bob: Tenant

  beforeAll(async () => {
    ann = await seedTenant(server())
    bob = await seedTenant(server())
  })

  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  const idOf = ({ auth }: Operation, tenant: Tenant) =>
    auth === 'bot' ? tenant.botId : tenant.workspaceId
  const scope = ({ auth }: Operation, id: string): Record<string, string> =>
    ['account', 'token'].includes(auth) ? {} : { [headerOf(auth)]: id }

  it.each(calledWithToken)('%s refuses calls without a valid token', async (_, operation) => {
    const own = scope(operation, idOf(operation, ann))
    const attempts = [
      own,
      { ...own, ...bearer('bp_pat_unknown') },
      { ...own, authorization: ann.token },
    ]
    const refused = {
      status: 401,
      type: 'Unauthorized',
      message: expect.stringContaining('Authorization'),
    }
    expect(
      await Promise.all(attempts.map((headers) => refusal(server(), operation, headers))),
    ).toMatchObject([refused, refused, refused])
  })

  it.each(calledInScope)(
    '%s refuses a missing scope, and unknown and foreign ones alike',
    async (_, operation) => {
      const rule = `The header ${headerOf(operation.auth)} must be the id of a ${operation.auth} that the token may use.`
      const attempts: [Record<string, string>, string][] = [
        [{}, `The header ${headerOf(operation.auth)} is missing. ${rule}`],
        [scope(operation, '6f1c1f5e-0000-4000-8000-000000000000'), rule],
        [scope(operation, idOf(operation, bob)), rule],
      ]
      for (const token of operation.auth === 'bot' ? [ann.token, ann.key] : [ann.token]) {
        const answers = attempts.map(([headers]) =>
          refusal(server(), operation, { ...headers, ...bearer(token) }),
        )
        expect(await Promise.all(answers)).toEqual(
          attempts.map(([, message]) => ({ status: 401, type: 'Unauthorized', message })),
        )
      }
    },
  )

  it.each(calledByPeople)('%s refuses the key of a bot', async (_, operation) => {
    const headers = { ...scope(operation, ann.workspaceId), ...bearer(ann.key) }
    expect(await refusal(server(), operation, headers)).toMatchObject({
      status: 403,
      type: 'Forbidden',
    })
  })

  it('is tested with every operation that names an id', () => {
    const named = allOperations.filter(namesAnId).map(({ id }) => id)
    expect(
      Object.keys(reaches).toSorted(),
      'each operation that names an id needs a line in test/tenancy/reaches-*.ts',
    ).toEqual(named.toSorted())
  })

  let before: unknown
  it.each(Object.entries(reaches))(
    '%s does not reach the data of other tenants',
    async (id, reach) => {
      before ??= await inventory(bob)
      const error = await reach(ann.client, bob).then(
        () => undefined,
        (reason: unknown) => reason,
      )
      expect(error).toMatchObject({
        type: expect.stringMatching(/^(ResourceNotFound|ReferenceNotFound|Forbidden)$/),
      })
      // The test trusts GET operations to change nothing, which spares half of its reading.
      if (allOperations.find((operation) => operation.id === id)?.method === 'GET') return
      const [expected, after] = [before, await inventory(bob)]
      before = after
      expect(after).toEqual(expected)
    },
  )

  it('keeps lists of tenants apart, with any filter', async () => {
    const { client } = ann
    const { workspaces } = await client.listWorkspaces({ pageSize: 100 })
    expect(workspaces.map(({ id }) => id)).toEqual([ann.workspaceId])
    const { bots } = await client.listBots({ pageSize: 100 })
    expect(bots.map(({ id }) => id)).toEqual([ann.botId])
    expect((await client.listFiles({ ids: [bob.fileId] })).files).toEqual([])
    const { conversations } = await client.listConversations({ participantIds: [bob.userId] })
    expect(conversations).toEqual([])
  })

  it('limits states to the bot and the integrations of the caller', async () => {
    const state = { name: 'cursor', payload: { seen: 1 } }
    const call = (tenant: Tenant, type: 'bot' | 'integration', id: string) =>
      tenant.client.getOrSetState({ type, id, ...state }).then(
        () => 'done',
        ({ type, message }: { type: string; message: string }) => [type, message],
      )
    const refused = (type: string, id: string) => [
      'ResourceNotFound',
      `There is no ${type} ${id} in this bot.`,
    ]
    const nobody = '6f1c1f5e-0000-4000-8000-000000000000'
    expect(await call(ann, 'bot', ann.botId)).toBe('done')
    expect(await call(ann, 'bot', 'a-plugin')).toBe('done')
    for (const id of [bob.botId, nobody, bob.botId.toUpperCase()]) {
      expect(await call(ann, 'bot', id)).toEqual(refused('bot', id))
    }
    // Her own, but not installed in the bot.
    for (const id of [ann.integrationId, bob.integrationId, nobody, 'mail']) {
      expect(await call(ann, 'integration', id)).toEqual(refused('integration', id))
    }
    const { bot } = await ann.client.getBot({ id: ann.botId })
    const chat = bot.integrations.chat?.id ?? ''
    expect(await call(ann, 'integration', chat)).toBe('done')
    const { client } = ann
    await client.updateBot({ id: ann.botId, integrations: { [ann.integrationId]: {} } })
    expect(await call(ann, 'integration', ann.integrationId)).toBe('done')
    const headers = { 'x-integration-id': ann.integrationId }
    const inMail = server().client({ ...ann, headers })
    const own = { type: 'integration', id: ann.integrationId } as const
    expect((await inMail.setState({ ...own, ...state })).state.payload).toEqual({ seen: 1 })
    for (const place of [
      { type: 'bot', id: bob.botId },
      { type: 'integration', id: chat },
    ] as const) {
      await expect(inMail.getState({ ...place, name: 'cursor' })).rejects.toMatchObject({
        type: 'ResourceNotFound',
      })
    }
  })

  it('lets viewers of a workspace read and no more', async () => {
    const viewer = await inDatabase(server(), async (tenants) => {
      const person = await tenants.person()
      await tenants.join(person, { workspace: ann }, 'viewer')
      return person
    })
    const { workspaceId, botId } = ann
    const client = server().client({ token: viewer.token, workspaceId, botId })
    expect((await client.listBots()).bots.map(({ id }) => id)).toEqual([botId])
    expect((await client.getConversation({ id: ann.conversationId })).conversation.id).toBe(
      ann.conversationId,
    )
    const forbidden = { type: 'Forbidden' }
    await expect(client.createBot({})).rejects.toMatchObject(forbidden)
    await expect(client.updateBot({ id: botId, name: 'taken' })).rejects.toMatchObject(forbidden)
    await expect(client.deleteBot({ id: botId })).rejects.toMatchObject(forbidden)
    await expect(client.createConversation({ channel: 'channel', tags: {} })).rejects.toMatchObject(
      forbidden,
    )
  })

  it('accepts user keys at the chat address they were made for', async () => {
    const astray = server().client({ webhookId: bob.webhookId, userKey: ann.userKey })
    await expect(astray.chatGetUser()).rejects.toMatchObject({ type: 'Unauthorized' })
    await expect(
      astray.chatListMessages({ conversationId: bob.chatConversationId }),
    ).rejects.toMatchObject({ type: 'Unauthorized' })
  })

  it('lets nobody claim a conversation by an id that another tenant uses', async () => {
    const { conversation } = await ann.client.chatCreateConversation({ id: 'shared-name' })
    const other = await bob.client.chatCreateConversation({ id: 'shared-name' })
    await bob.client.chatCreateMessage({
      conversationId: 'shared-name',
      payload: { type: 'text', text: 'for bob' },
    })
    expect(conversation.id).toBe(other.conversation.id)
    const { messages } = await ann.client.chatListMessages({ conversationId: 'shared-name' })
    expect(messages).toEqual([])
  })
})
