import { describe, expect, it, vi } from 'vitest'
import { describeEachEngine } from '../../../../test/engines.js'
import { existingClient } from '../../../../test/existing-clients.js'
import { useServer } from '../../../../test/harness.js'
import { addViewer } from '../../../../test/tenant.js'

describeEachEngine('tokens over HTTP', (engine) => {
  const server = useServer(engine)

  it('of a person can be created, used, listed without their value, and revoked at once', async () => {
    const client = server().client({ workspaceId: undefined })
    const { pat } = await client.createPersonalAccessToken({ note: 'laptop' })
    expect(pat.value).toMatch(/^bp_pat_[\w-]{43}$/)
    const owner = server().client({ token: pat.value })
    expect(await owner.getAccount()).toEqual(await client.getAccount())

    const { value: _, ...shown } = pat
    const { pats } = await client.listPersonalAccessTokens()
    expect(pats[0]).toMatchObject(shown)
    expect(JSON.stringify(pats)).not.toContain(pat.value)

    expect(await client.deletePersonalAccessToken({ id: pat.id })).toEqual({})
    await expect(owner.getAccount()).rejects.toMatchObject({ type: 'Unauthorized' })
  })

  it('of a bot can be created, used in it, and revoked at once', async () => {
    const client = server().client()
    const { bot } = await client.createBot({})
    const made = await client.createBotApiKey({ botId: bot.id, note: 'deploy' })
    expect(made.value).toMatch(/^bp_bak_[\w-]{43}$/)
    const { baks } = await client.listBotApiKeys({ botId: bot.id })
    expect(baks).toEqual([{ id: made.id, createdAt: made.createdAt, note: 'deploy' }])

    const inside = server().client({ token: made.value, botId: bot.id })
    expect(await inside.listConversations()).toEqual({ conversations: [], meta: {} })
    expect(await client.deleteBotApiKey({ id: made.id })).toEqual({})
    await expect(inside.listConversations()).rejects.toMatchObject({ type: 'Unauthorized' })
  })

  it('identify their holder', async () => {
    const client = server().client()
    const { account } = await client.getAccount()
    const { bot } = await client.createBot({})
    const { bot: other } = await client.createBot({})
    const { workspaceId } = server()
    const { value } = await client.createBotApiKey({ botId: bot.id })
    const byPerson = existingClient(server())
    // The client of a service names no bot, or always the same one, whichever bot it asks about.
    const byBot = existingClient(server(), { token: value, botId: other.id })
    const whose = { workspaceId, botId: bot.id }
    expect(await byPerson.introspect({ botId: bot.id })).toEqual({ ...whose, userId: account.id })
    expect(await byPerson.introspect({ botId: other.id })).toMatchObject({ botId: other.id })
    expect(await byBot.introspect({ botId: bot.id })).toEqual({ ...whose, userId: bot.id })
    await expect(byBot.introspect({ botId: other.id })).rejects.toMatchObject({
      type: 'ReferenceNotFound',
    })
    const nobody = existingClient(server(), { token: 'bp_pat_nobody', botId: bot.id })
    await expect(nobody.introspect({ botId: bot.id })).rejects.toMatchObject({
      type: 'Unauthorized',
    })
  })

  it('of an integration identify it in the bots in which it is installed', async () => {
    const admin = server().client()
    const { bot } = await admin.createBot({})
    const { bot: other } = await admin.createBot({})
    const { integration } = await admin.createIntegration({ name: 'desk', version: '1.0.0' })
    const integrations = { desk: { integrationId: integration.id } }
    await admin.updateBot({ id: bot.id, integrations })
    const key = await admin.createIntegrationApiKey({ integrationId: integration.id })
    const byIntegration = existingClient(server(), { token: key.value })
    const { workspaceId } = server()
    const whose = { workspaceId, botId: bot.id, userId: bot.id }
    expect(await byIntegration.introspect({ botId: bot.id })).toEqual(whose)
    await expect(byIntegration.introspect({ botId: other.id })).rejects.toMatchObject({
      type: 'ReferenceNotFound',
    })
  })

  it('of people who may only read are refused', async () => {
    const { bot } = await server().client().createBot({})
    const viewer = await addViewer(server(), server().workspaceId)
    const client = existingClient(server(), { ...viewer })
    await expect(client.introspect({ botId: bot.id })).rejects.toMatchObject({ type: 'Forbidden' })
  })

  it('of a bot may lack a note', async () => {
    const { bot } = await server().client().createBot({})
    expect((await server().client().createBotApiKey({ botId: bot.id })).note).toBe('')
  })

  it('are returned again to a call that is repeated with its idempotency key', async () => {
    const client = server().client()
    const key = { idempotencyKey: 'token-once' }
    const first = await client.createPersonalAccessToken({ note: 'once' }, key)
    expect(await client.createPersonalAccessToken({ note: 'once' }, key)).toEqual(first)
    const { pats } = await client.listPersonalAccessTokens()
    expect(pats.filter(({ note }) => note === 'once')).toHaveLength(1)
  })

  it('show when they were last used, once that is stored', async () => {
    const client = server().client()
    const { pat } = await client.createPersonalAccessToken({ note: 'used' })
    await server().client({ token: pat.value }).getAccount()
    const lastUsedAt = async () => {
      const { pats } = await client.listPersonalAccessTokens()
      return pats.find(({ id }) => id === pat.id)?.lastUsedAt
    }
    await vi.waitFor(async () => expect(await lastUsedAt()).toMatch(/Z$/))
  })
})

describe('the token that the operator chose', () => {
  const chosen = 'chosen-by-the-operator'
  const server = useServer(undefined, { BOTSTEAD_ADMIN_TOKEN: chosen })

  it('gives access to the first account', async () => {
    expect(server().token).toBe(chosen)
    const { pats } = await server().client().listPersonalAccessTokens()
    expect(pats.map(({ note }) => note)).toEqual(['BOTSTEAD_ADMIN_TOKEN'])
  })
})
