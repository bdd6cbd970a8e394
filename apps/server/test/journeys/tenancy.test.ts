import { allOperations, type Operation } from '@botstead/contract'
import { beforeAll, expect, it, vi } from 'vitest'
import { describeSlow } from '../engines.js'
import { credentialsOf, exampleOf } from '../examples.js'
import { type TestServer, useServer } from '../harness.js'
import { beginningOf, expectRefusal, type Request, send } from '../request.js'
import { addAccount, type Login, settle, type Tenant, uploadText } from '../tenant.js'

const statuses = {
  InvalidPayload: 400,
  ResourceNotFound: 404,
  ReferenceNotFound: 400,
  Forbidden: 403,
  Unauthorized: 401,
} as const
const secret = 'What only the victim may read'

/** Deleting one's own user comes last, because no caller is left afterwards. */
const isFarewell = ({ id }: Operation) => id === 'chatDeleteUser'
const closed = allOperations
  .filter(({ auth }) => auth !== 'public')
  .sort((one, other) => Number(isFarewell(one)) - Number(isFarewell(other)))
  .map((operation) => [operation.id, operation] as const)

describeSlow('tenancy', (engine) => {
  const server = useServer(engine)
  let victim: Tenant
  /** A user of another account. */
  let stranger: Tenant
  /** The same person with another workspace. */
  let neighbour: Tenant
  /** Another bot in the same workspace. */
  let sibling: Tenant
  let before: unknown

  beforeAll(async () => {
    victim = await settle(server(), server(), secret)
    await addKnowledge(server(), victim)
    stranger = await settle(server(), await addAccount(server()))
    neighbour = await settle(server(), await addWorkspace(server(), victim))
    sibling = await settle(server(), victim)
    before = await everythingOf(server(), victim)
  })

  it('the victim sees all of its own data', async () => {
    expect(JSON.stringify(before).split(secret).length).toBeGreaterThan(8)
    const { passages } = await server().client(victim).searchFiles({ query: secret })
    expect(passages.map(({ content }) => content).join()).toContain(secret)
  })

  /** Sends a request as another caller and checks that it reveals nothing. */
  async function sendAsOther(operation: Operation, request: Request): Promise<Response> {
    const response = await send(server(), operation, request)
    const text = await beginningOf(response)
    for (const hidden of [secret, victim.token, victim.personalToken, victim.botKey]) {
      expect(text).not.toContain(hidden)
    }
    return response
  }

  /** Sends the victim's request with the credentials of another caller. */
  async function expectForeignPlace(operation: Operation, proof: Record<string, string>) {
    const headers = { ...credentialsOf(operation.auth, victim), ...proof }
    const response = await sendAsOther(operation, {
      ...exampleOf(operation).request(victim),
      headers,
    })
    await expectRefusal(response, {
      status: 401,
      type: 'Unauthorized',
      message: /x-workspace-id|x-bot-id|x-user-key/,
    })
  }

  /** Sends the victim's ids in a scope of the caller's own. */
  async function expectForeignIds(operation: Operation, caller: Tenant) {
    const { request, headers, foreign } = exampleOf(operation)
    const { params, ...rest } = request(victim)
    const response = await sendAsOther(operation, {
      ...rest,
      params: { ...params, ...(params?.webhookId && { webhookId: caller.webhookId }) },
      headers: { ...credentialsOf(operation.auth, caller), ...headers },
    })
    if (foreign === 'own') return expect(response.status).toBeLessThan(300)
    // A response to HEAD has no body.
    if (operation.method === 'HEAD') return expect(response.status).toBe(statuses[foreign])
    await expectRefusal(response, { status: statuses[foreign], type: foreign, message: /./ })
  }

  /** Tries another account, another workspace of the same person, and another bot of the same workspace. */
  async function expectNothingReached(operation: Operation) {
    const { auth } = operation
    if (auth === 'chat-user') {
      await expectForeignPlace(operation, { 'x-user-key': stranger.userKey })
      await expectForeignPlace(operation, { 'x-user-key': sibling.userKey })
    } else if (auth === 'workspace' || auth === 'bot') {
      await expectForeignPlace(operation, { authorization: `Bearer ${stranger.token}` })
    }
    if (auth === 'bot') {
      await expectForeignPlace(operation, { authorization: `Bearer ${stranger.botKey}` })
      await expectForeignPlace(operation, { authorization: `Bearer ${sibling.botKey}` })
    }
    await expectForeignIds(operation, stranger)
    // It lists every bot that the token may use.
    if (operation.id === 'introspect') return
    // Workspaces themselves are accessible from any workspace of the same person.
    const isInside = !operation.path.includes('/workspaces/')
    if ((auth === 'workspace' || auth === 'bot') && isInside) {
      await expectForeignIds(operation, neighbour)
    }
    if (auth === 'bot' || auth === 'chat-user') await expectForeignIds(operation, sibling)
  }

  it.each(closed)('%s neither reveals nor changes data of others', async (_, operation) => {
    await expectNothingReached(operation)
    // Operations that only read are assumed to change nothing, which saves half of the reads here.
    if (['GET', 'HEAD'].includes(operation.method)) return
    expect(await everythingOf(server(), victim)).toEqual(before)
  })
})

/** Adds a searchable file and waits until it is indexed. */
async function addKnowledge(server: TestServer, tenant: Tenant): Promise<void> {
  const runtime = server.client(tenant)
  const { id } = await uploadText(runtime, 'knowledge.md', `# Own words\n\n${secret}`, true)
  const expectIndexed = async () =>
    expect((await runtime.getFile({ id })).file.status).toBe('indexing_completed')
  await vi.waitFor(expectIndexed)
}

async function addWorkspace(server: TestServer, { token }: Login): Promise<Login> {
  const { id } = await server.client({ token }).createWorkspace({ name: 'Next door' })
  return { token, workspaceId: id }
}

/** All data that a tenant can read, except what differs at each read. */
async function everythingOf(server: TestServer, tenant: Tenant): Promise<unknown> {
  const client = server.client(tenant)
  const everything = await Promise.all([
    client.getAccount(),
    client.listPersonalAccessTokens(),
    client.getWorkspace({ id: tenant.workspaceId }),
    client.listBots(),
    client.getBot({ id: tenant.botId }),
    client.listBotApiKeys({ botId: tenant.botId }),
    client.listFiles(),
    client.listConversations(),
    client.getConversation({ id: tenant.conversationId }),
    client.chatGetUser(),
    client.chatListMessages({ conversationId: tenant.conversationId }),
  ])
  const changing = new Set(['lastUsedAt', 'url'])
  return JSON.parse(
    JSON.stringify(everything, (name, value) => (changing.has(name) ? undefined : value)),
  )
}
