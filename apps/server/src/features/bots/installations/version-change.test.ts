import { expect, it, vi } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { existingClient } from '../../../../test/existing-clients.js'
import { useServer } from '../../../../test/harness.js'
import { registered } from '../../../../test/remote/integration.js'
import { useRemote } from '../../../../test/remote/server.js'
import { addAccount } from '../../../../test/tenant.js'

describeSlow('another version of an installed integration', (engine) => {
  const server = useServer(engine)
  const remote = useRemote()
  let count = 0

  /** An integration whose name begins with a handle, installed in a bot by its id, with an account. */
  async function install() {
    const login = await addAccount(server())
    // Older tools send no header, and know installations by the id of the integration.
    const byId = existingClient(server(), login)
    const byAlias = existingClient(server(), {
      ...login,
      headers: { 'x-multiple-integrations': 'true' },
    })
    const handle = `acme${++count}`
    await byId.updateWorkspace({ id: login.workspaceId, handle })
    const name = `${handle}/messenger`
    const make = async (version: string, patch: object = {}) => {
      const url = remote().url
      return (await byId.createIntegration({ name, version, url, ...patch })).integration
    }
    const old = await make('0.1.0')
    const { bot } = await byId.createBot({})
    const [chat = ''] = Object.keys(bot.integrations)
    const change = async (integrations: object) => {
      await byId.updateBot({ id: bot.id, integrations } as never)
    }
    const entry = { enabled: true, configuration: {} }
    await change({ [old.id]: entry, [chat]: null })
    const before = await registered(byAlias, bot.id, name)
    const { value: token } = await byId.createIntegrationApiKey({ integrationId: old.id })
    /** The integration in the bot: a version of it, under an alias. */
    const inBot = (integrationId: string, alias = name, key = token) => {
      const names = { botId: bot.id, integrationId, integrationAlias: alias }
      return existingClient(server(), { ...login, token: key, ...names })
    }
    await inBot(old.id).configureIntegration({ identifier: 'P1' })
    const all = async () => (await byAlias.getBot({ id: bot.id })).bot.integrations
    return { byId, byAlias, bot, chat, name, make, old, entry, change, before, inBot, all }
  }

  it('takes its place, wherever the two ids stand among the changes', async () => {
    const { make, old, entry, change, before, chat, name, all, bot, byAlias } = await install()
    const next = await make('0.2.0')
    await change({ [next.id]: entry, [chat]: null, [old.id]: null })
    expect(await registered(byAlias, bot.id, name)).toMatchObject({
      id: next.id,
      version: '0.2.0',
      status: 'registered',
      webhookId: before?.webhookId,
      identifier: 'P1',
      createdAt: before?.createdAt,
    })
    expect(Object.keys(await all()).toSorted()).toEqual([name, 'chat'])
    await vi.waitFor(() => expect(remote().requestsOf('unregister')).toHaveLength(1))
    await change({ [next.id]: null, [chat]: null, [old.id]: entry })
    expect((await all())[name]).toMatchObject({
      version: '0.1.0',
      webhookId: before?.webhookId,
      identifier: 'P1',
    })
  })

  it('keeps the configuration unless it gets another, which its own schema checks', async () => {
    const { make, old, entry, change, name, all } = await install()
    await change({ [old.id]: { configuration: { token: 'tkn' } } })
    const schema = { type: 'object', required: ['token'] }
    const next = await make('0.2.0', { configuration: { schema } })
    await expect(change({ [next.id]: entry, [old.id]: null })).rejects.toMatchObject({
      type: 'InvalidDataFormat',
    })
    await change({ [next.id]: { enabled: true }, [old.id]: null })
    expect((await all())[name]).toMatchObject({
      version: '0.2.0',
      configuration: { token: 'tkn' },
    })
  })

  it('has the alias of the version before, if somebody gave it one', async () => {
    const { byAlias, bot, make, old, entry, change, name, all } = await install()
    const installed = { desk: { integrationId: old.id, ...entry }, [name]: null }
    await byAlias.updateBot({ id: bot.id, integrations: installed })
    const { webhookId } = (await all()).desk ?? {}
    const next = await make('0.2.0')
    await change({ [old.id]: null, [next.id]: entry })
    expect((await all()).desk).toMatchObject({ version: '0.2.0', webhookId })
    expect(await all()).not.toHaveProperty([name])
    // Without a removal nothing is replaced: the second one has the name as its alias.
    const third = await make('0.3.0')
    await change({ [third.id]: entry })
    expect((await all()).desk).toMatchObject({ version: '0.2.0', webhookId })
    await expect(change({ [old.id]: entry })).rejects.toMatchObject({ type: 'AlreadyExists' })
  })

  it('has the states that the version before stored for itself, unless it dropped them', async () => {
    const { byId, byAlias, make, old, entry, change, name, inBot, bot } = await install()
    const schema = { type: 'object' }
    const states = {
      credentials: { type: 'integration', schema },
      cursor: { type: 'integration', schema },
    }
    await byId.updateIntegration({ id: old.id, states } as never)
    const next = await make('0.2.0', { states: { credentials: states.credentials } })
    const { value: key } = await byId.createIntegrationApiKey({ integrationId: next.id })
    const inOld = inBot(old.id)
    const inNext = inBot(next.id, name, key)
    const own = (id: string, state: string) => ({ type: 'integration', id, name: state }) as const
    const token = (of: string) => ({ payload: { token: of } })
    for (const state of ['credentials', 'cursor', 'undeclared']) {
      await inOld.setState({ ...own(old.id, state), ...token(`${state} of the account`) })
    }
    const ofUser = await inOld.createUser({ tags: {} })
    const draft = { type: 'user', id: ofUser.user.id, name: 'draft' } as const
    await inOld.setState({ ...draft, payload: { text: 'Hello' } })

    await change({ [next.id]: entry, [old.id]: null })
    for (const state of ['credentials', 'undeclared']) {
      const kept = await inNext.getState(own(next.id, state))
      expect(kept.state.payload).toEqual({ token: `${state} of the account` })
    }
    expect((await inNext.getState(draft)).state.payload).toEqual({ text: 'Hello' })
    const absent = { type: 'ResourceNotFound' }
    await expect(inNext.getState(own(next.id, 'cursor'))).rejects.toMatchObject(absent)

    // On the way back, what is newer counts.
    await inNext.setState({ ...own(next.id, 'credentials'), ...token('renewed') })
    await change({ [old.id]: entry, [next.id]: null })
    const back = async (state: string) => (await inOld.getState(own(old.id, state))).state.payload
    expect(await back('credentials')).toEqual({ token: 'renewed' })
    expect(await back('cursor')).toEqual({ token: 'cursor of the account' })

    // Another integration in its place gets nothing of it.
    const { integration: other } = await byId.createIntegration({ name: 'other', version: '0.2.0' })
    const { value: otherKey } = await byId.createIntegrationApiKey({ integrationId: other.id })
    await byAlias.updateBot({
      id: bot.id,
      integrations: { [name]: { integrationId: other.id, enabled: false } },
    })
    const inOther = inBot(other.id, name, otherKey)
    await expect(inOther.getState(own(other.id, 'credentials'))).rejects.toMatchObject(absent)
  })
})
