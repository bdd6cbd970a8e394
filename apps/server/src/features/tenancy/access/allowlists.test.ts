import { expect, it } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { inDatabase } from '../../../../test/tenancy/seed.js'
import { addAccount, settle } from '../../../../test/tenant.js'

describeSlow('a bot that is limited to some members', (engine) => {
  const server = useServer(engine)

  async function newTeam() {
    const tenant = await settle(server(), await addAccount(server()))
    const { bot: open } = await server().client(tenant).createBot({ name: 'Open' })
    const { workspaceId } = tenant
    const people = await inDatabase(server(), async (tenants) => {
      const made = { chosen: await tenants.person(), other: await tenants.person() }
      for (const person of Object.values(made)) {
        await tenants.join(person, { workspace: { workspaceId } }, 'developer')
      }
      return made
    })
    const owner = server().client(tenant)
    await owner.updateBotAllowlist({
      botId: tenant.botId,
      setting: 'SELECTED_USERS',
      users: { [people.chosen.account.accountId]: true },
    })
    const clientOf = ({ token }: { token: string }) =>
      server().client({ token, workspaceId, botId: tenant.botId })
    return { tenant, open, owner, people, clientOf }
  }

  it('does not exist for others, in lists neither', async () => {
    const { tenant, open, owner, people, clientOf } = await newTeam()
    const chosen = clientOf(people.chosen)
    const other = clientOf(people.other)
    const idsOf = async (client: typeof owner) =>
      (await client.listBots()).bots.map(({ id }) => id).sort()
    const both = [tenant.botId, open.id].sort()
    expect(await idsOf(owner)).toEqual(both)
    expect(await idsOf(chosen)).toEqual(both)
    expect(await idsOf(other)).toEqual([open.id])
    expect(await owner.getBotAllowlist({ botId: tenant.botId })).toEqual({
      setting: 'SELECTED_USERS',
      users: [{ id: people.chosen.account.accountId }],
    })

    const notFound = { type: 'ResourceNotFound' }
    await expect(other.getBot({ id: tenant.botId })).rejects.toMatchObject(notFound)
    await expect(other.updateBot({ id: tenant.botId, name: 'x' })).rejects.toMatchObject(notFound)
    await expect(other.getBotAllowlist({ botId: tenant.botId })).rejects.toMatchObject(notFound)
    await expect(other.listConversations()).rejects.toMatchObject({ type: 'Unauthorized' })
    await expect(
      other.getWorkspaceConversation({ id: tenant.conversationId }),
    ).rejects.toMatchObject(notFound)
    await expect(other.createBotApiKey({ botId: tenant.botId })).rejects.toMatchObject({
      type: 'ReferenceNotFound',
    })
    expect((await other.listWorkspaceConversations()).conversations).toEqual([])
    expect((await chosen.listWorkspaceConversations()).conversations).not.toEqual([])
    const overview = await other.getOverview()
    expect(JSON.stringify(overview)).not.toContain(tenant.botId)
    expect(JSON.stringify(await owner.getOverview())).toContain(tenant.botId)
    for (const list of [
      await other.listLogs({}),
      await other.listWorkspaceDeliveries({}),
      await other.listWorkspaceDeliveryReceivers({}),
    ]) {
      expect(JSON.stringify(list)).not.toContain(tenant.botId)
    }
  })

  it('is seen by those who may manage bots, and by its own keys', async () => {
    const { tenant, owner } = await newTeam()
    expect((await owner.getBot({ id: tenant.botId })).bot.id).toBe(tenant.botId)
    const key = server().client({ token: tenant.botKey, botId: tenant.botId })
    expect((await key.listConversations()).conversations).not.toEqual([])
  })

  it('ends what is open when a member is taken from the list', async () => {
    const { tenant, owner, people, clientOf } = await newTeam()
    const chosen = clientOf(people.chosen)
    expect((await chosen.listConversations()).conversations).not.toEqual([])
    const stream = await server().fetch(`/v1/admin/conversations/${tenant.conversationId}/stream`, {
      headers: {
        authorization: `Bearer ${people.chosen.token}`,
        'x-workspace-id': tenant.workspaceId,
      },
    })
    expect(stream.status).toBe(200)
    const ended = stream.text()
    await owner.updateBotAllowlist({
      botId: tenant.botId,
      users: { [people.chosen.account.accountId]: false },
    })
    await ended
    await expect(chosen.listConversations()).rejects.toMatchObject({ type: 'Unauthorized' })
  })

  it('names members only', async () => {
    const { tenant, owner } = await newTeam()
    const stranger = await addAccount(server())
    const { account } = await server().client(stranger).getAccount()
    await expect(
      owner.updateBotAllowlist({ botId: tenant.botId, users: { [account.id]: true } }),
    ).rejects.toMatchObject({ type: 'ReferenceNotFound', message: /body\.users/ })
  })
})
