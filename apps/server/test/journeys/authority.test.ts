import { allOperations } from '@botstead/contract'
import { beforeAll, expect, it } from 'vitest'
import { describeSlow } from '../engines.js'
import { credentialsOf, exampleOf } from '../examples.js'
import { existingClient } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { beginningOf, expectRefusal, send } from '../request.js'
import { inDatabase } from '../tenancy/seed.js'
import { addAccount, addViewer, settle, type Tenant } from '../tenant.js'

const inBots = allOperations.filter(({ auth }) => auth === 'bot')

describeSlow('who may act as an integration', (engine) => {
  const server = useServer(engine)
  /** Installs an integration that somebody else publishes. */
  let guest: Tenant
  let integrationId: string
  let key: string
  let install: (dev: boolean) => Promise<{ id: string; botId: string }>

  beforeAll(async () => {
    const owner = existingClient(server())
    const { integration } = await owner.createIntegration({
      name: 'desk',
      version: '1.0.0',
      identifier: { extractScript: '.path' },
      visibility: 'public',
    })
    integrationId = integration.id
    key = (await owner.createIntegrationApiKey({ integrationId })).value
    guest = await settle(server(), await addAccount(server()))
    await server()
      .client(guest)
      .updateBot({ id: guest.botId, integrations: { [integrationId]: { enabled: true } } })
    install = async (dev) => {
      const made = { name: dev ? 'dev-desk' : 'own-desk', version: '1.0.0', dev }
      const { id } = (await owner.createIntegration(made)).integration
      const { bot } = await owner.createBot({})
      await owner.updateBot({ id: bot.id, integrations: { [id]: { enabled: true } } })
      return { id, botId: bot.id }
    }
  })

  /** Headers with a token of the guest that name an integration of somebody else, or with a key of a bot the chat. */
  function namings(): Record<string, string>[] {
    const person = { authorization: `Bearer ${guest.token}` }
    const bot = { authorization: `Bearer ${guest.botKey}` }
    const named: Record<string, string>[] = [
      { 'x-integration-id': integrationId },
      { 'x-integration-alias': 'desk' },
      { 'x-integration-id': integrationId, 'x-integration-alias': 'desk' },
    ]
    const all = [person, bot].flatMap((holder) => named.map((name) => ({ ...holder, ...name })))
    return [...all, { ...bot, 'x-integration-alias': 'chat' }]
  }

  it.each(inBots.map((operation) => [operation.id, operation] as const))(
    '%s is refused to callers who only name an integration in headers',
    async (_, operation) => {
      for (const naming of namings()) {
        const isPerson = naming.authorization === `Bearer ${guest.token}`
        const { request, headers } = exampleOf(operation)
        const response = await send(server(), operation, {
          ...request(guest),
          headers: { ...credentialsOf('bot', guest), ...headers, ...naming },
        })
        if (operation.standIn && isPerson) {
          // The conversation of the example is one of the chat.
          expect(await beginningOf(response)).toContain('ReferenceNotFound')
        } else if (operation.method === 'HEAD') expect(response.status).toBe(403)
        else {
          const message = isPerson ? /may not act as it: \w+ needs its key/ : /is the key of a bot/
          await expectRefusal(response, { status: 403, type: 'Forbidden', message })
        }
      }
    },
  )

  it('a key acts as its integration; people only write what a user of a conversation says', async () => {
    expect(inBots.filter(({ standIn }) => standIn).map(({ id }) => id)).toEqual(['createMessage'])
    const names = { botId: guest.botId, integrationId, integrationAlias: 'desk' }
    const desk = existingClient(server(), { token: key, ...names })
    const { user } = await desk.createUser({ tags: {} })
    const { conversation } = await desk.createConversation({ channel: 'inbox', tags: {} })
    await desk.setState({
      type: 'integration',
      id: integrationId,
      name: 'token',
      payload: { a: 1 },
    })
    const person = existingClient(server(), { token: guest.token, ...names })
    const said = { type: 'text', payload: { text: 'Hello' }, tags: {} }
    const ids = { conversationId: conversation.id, userId: user.id }
    expect((await person.createMessage({ ...ids, ...said })).message.direction).toBe('incoming')
    const bot = existingClient(server(), { token: guest.botKey, ...names })
    for (const caller of [person, bot]) {
      const asking = [
        caller.getState({ type: 'integration', id: integrationId, name: 'token' }),
        caller.configureIntegration({ identifier: 'account of a victim' }),
      ]
      for (const call of asking) await expect(call).rejects.toMatchObject({ type: 'Forbidden' })
    }
    await expect(bot.createMessage({ ...ids, ...said })).rejects.toMatchObject({
      type: 'Forbidden',
    })
    expect((await desk.listMessages({})).messages).toHaveLength(1)
    await desk.configureIntegration({ identifier: 'own account' })
  })

  it('a developer acts as an integration of their workspace, except for the account of a deployed one', async () => {
    for (const dev of [true, false]) {
      const { id, botId } = await install(dev)
      const developer = existingClient(server(), { botId, integrationId: id })
      const { conversation } = await developer.createConversation({ channel: 'inbox', tags: {} })
      expect(conversation.integration).toBe(dev ? 'dev-desk' : 'own-desk')
      const configured = developer.configureIntegration({ identifier: 'P1' })
      if (dev) await configured
      else {
        await expect(configured).rejects.toMatchObject({
          type: 'Forbidden',
          message: expect.stringContaining('This call needs the key of the integration'),
        })
      }
    }
  })

  it('whoever may write in the workspace of the bot acts as the built-in chat', async () => {
    const headers = { 'x-integration-alias': 'chat' }
    const owner = server().client({ ...guest, headers })
    const made = await owner.createConversation({ channel: 'channel', tags: {} })
    expect(made.conversation.integration).toBe('chat')
    await expect(owner.configureIntegration({ identifier: 'x' })).rejects.toMatchObject({
      type: 'Forbidden',
    })
    const { token } = await addViewer(server(), guest.workspaceId)
    const viewer = server().client({ token, botId: guest.botId, headers })
    await expect(viewer.listConversations({})).rejects.toMatchObject({ type: 'Forbidden' })
  })

  it('a member who may only read does not act as an integration', async () => {
    const { id, botId } = await install(true)
    const { token } = await addViewer(server(), server().workspaceId)
    const viewer = existingClient(server(), { token, botId })
    expect((await viewer.listConversations({})).conversations).toEqual([])
    const asDesk = existingClient(server(), { token, botId, integrationId: id })
    await expect(asDesk.listConversations({})).rejects.toMatchObject({ type: 'Forbidden' })
  })

  it('the key of another integration gives no authority', async () => {
    const { id } = await install(true)
    const { value } = await existingClient(server()).createIntegrationApiKey({ integrationId: id })
    for (const options of [{}, { integrationId }, { integrationAlias: 'desk' }]) {
      const other = existingClient(server(), { token: value, botId: guest.botId, ...options })
      await expect(other.listConversations({})).rejects.toMatchObject({ type: 'Forbidden' })
    }
  })

  it('an integration gets the account that somebody else took from an earlier server', async () => {
    const bots = await Promise.all(
      [guest, await addAccount(server())].map(async (login) => {
        const admin = server().client(login)
        const { bot } = await admin.createBot({})
        await admin.updateBot({ id: bot.id, integrations: { [integrationId]: { enabled: true } } })
        return { id: bot.id }
      }),
    )
    const [thief, owner] = bots
    if (!thief || !owner) throw new Error('There are two bots')
    await inDatabase(server(), ({ run }) =>
      run(async (tx) => {
        await tx
          .updateTable('installations')
          .set({ identifier: 'P7', identified_at: '2020-01-01T00:00:00.000Z' })
          .where('bot_id', '=', thief.id)
          .where('alias', '=', 'desk')
          .execute()
      }),
    )
    const desk = existingClient(server(), { token: key, botId: owner.id })
    await desk.configureIntegration({ identifier: 'P7' })
    await inDatabase(server(), async ({ db }) => {
      const rows = await db
        .selectFrom('installations')
        .select(['bot_id', 'account_is_proven', 'account_served_elsewhere'])
        .where('identifier', '=', 'P7')
        .orderBy('account_is_proven')
        .execute()
      expect(rows).toEqual([
        { bot_id: thief.id, account_is_proven: 0, account_served_elsewhere: 1 },
        { bot_id: owner.id, account_is_proven: 1, account_served_elsewhere: 0 },
      ])
    })
  })
})
