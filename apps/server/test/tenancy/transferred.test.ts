import { type Client, createClient } from '@botstead/contract'
import { expect, it, vi } from 'vitest'
import { addAccount, settle } from '../tenant.js'
import { inDatabase } from './seed.js'
import { describePlacesSlow, useServers } from './two-servers.js'

describePlacesSlow('a bot that is moved, at $name (another process: $isElsewhere)', (place) => {
  const servers = useServers(place)

  async function newTeam() {
    const { first, address } = servers()
    const tenant = await settle(first, await addAccount(first))
    const owner = first.client(tenant)
    const { id: target } = await owner.createWorkspace({ name: 'Target' })
    const { workspaceId, botId } = tenant
    const [old, coming] = await inDatabase(first, async (tenants) => {
      const people = [await tenants.person(), await tenants.person()]
      const places = [workspaceId, target]
      for (const [at, person] of people.entries()) {
        const joined = { workspace: { workspaceId: places[at] ?? '' } }
        await tenants.join(person, joined, 'developer')
      }
      return people.map(({ token }) => token)
    })
    const at = (token: string | undefined, scope: { workspaceId: string; botId?: string }) =>
      createClient({ baseUrl: address, token: token ?? '', ...scope })
    return {
      tenant,
      owner,
      target,
      old: at(old, { workspaceId, botId }),
      coming: at(coming, { workspaceId: target, botId }),
      key: at(tenant.botKey, { workspaceId, botId }),
    }
  }

  const reads = (client: Client, id: string) =>
    [
      () => client.getBot({ id }),
      () => client.listMessages({}),
      () => client.listFiles({}),
    ] as const

  it('is out of reach of former members, and in reach of new ones, before any cache expires', async () => {
    const { untimed } = servers()
    const { tenant, owner, target, old, coming, key } = await newTeam()
    const id = tenant.botId
    await untimed(async () => {
      const overview = () => old.getOverview({ botId: id })
      for (const read of [...reads(old, id), overview]) await read()
      await key.listMessages({})
      for (const read of reads(coming, id)) await expect(read()).rejects.toThrow()
      await owner.transferBot({ id, targetWorkspaceId: target })
      const refused = {
        type: expect.stringMatching(/^(Unauthorized|ResourceNotFound|ReferenceNotFound)$/),
      }
      await vi.waitFor(
        async () => {
          for (const read of [...reads(old, id), overview]) {
            await expect(read()).rejects.toMatchObject(refused)
          }
          for (const read of reads(coming, id)) await read()
        },
        { timeout: 1000 },
      )
      // The key of the bot is that of the bot.
      await key.createMessage({
        conversationId: tenant.conversationId,
        userId: tenant.userId,
        type: 'text',
        payload: { text: 'Afterwards' },
        tags: {},
      })
    })
  })
})
