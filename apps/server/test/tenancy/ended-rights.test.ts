import type { Client } from '@botstead/contract'
import { createClient } from '@botstead/contract'
import { expect, it, vi } from 'vitest'
import { insertRecords, moveHeads } from '../../src/features/tenancy/audit/store.js'
import { isoTime } from '../../src/platform/clock.js'
import { addAccount, settle, type Tenant } from '../tenant.js'
import { inDatabase } from './seed.js'
import { describePlacesSlow, useServers } from './two-servers.js'

interface Member {
  id: string
  accountId: string
  token: string
}

describePlacesSlow('rights that end, at $name (another process: $isElsewhere)', (place) => {
  const servers = useServers(place)

  async function newTeam() {
    const { first } = servers()
    const tenant = await settle(first, await addAccount(first))
    const owner = first.client(tenant)
    const { workspaceId } = tenant
    const { token, account } = await inDatabase(first, async (tenants) => {
      const person = await tenants.person()
      await tenants.join(person, { workspace: { workspaceId } }, 'developer')
      return person
    })
    const { members } = await owner.listWorkspaceMembers()
    const id = members.find(({ userId }) => userId === account.accountId)?.id ?? ''
    return { tenant, owner, member: { id, token, accountId: account.accountId } }
  }

  it('an export of the audit log ends with the role, also while nobody reads it', async () => {
    const { address, first, untimed } = servers()
    const { tenant, owner, member } = await newTeam()
    const { workspaceId } = tenant
    await owner.updateWorkspaceMember({ id: member.id, role: 'administrator' })
    // More than a connection takes that nobody reads.
    await inDatabase(first, ({ run }) =>
      run(async (tx) => {
        for (let at = 1; at <= 600; at++) {
          await insertRecords(tx, [
            {
              ...{ workspace_id: workspaceId, sequence: 1000 + at, id: `${workspaceId}-${at}` },
              ...{ recorded_at: isoTime(at), operation: 'seed.act', authority: 'server', hash: '' },
              changes: JSON.stringify({ name: { to: 'x'.repeat(20_000) } }),
            },
          ])
        }
        const head = { workspace_id: workspaceId, sequence: 1600, hash: '', recorded_at: '' }
        await moveHeads(tx, [head])
      }),
    )
    await untimed(async () => {
      const response = await fetch(
        `${address}/v1/admin/workspaces/${workspaceId}/audit-records/export`,
        {
          headers: { authorization: `Bearer ${member.token}`, 'x-workspace-id': workspaceId },
        },
      )
      expect(response.status).toBe(200)
      await owner.updateWorkspaceMember({ id: member.id, role: 'viewer' })
      await vi.waitFor(async () => {
        const again = createClient({ baseUrl: address, token: member.token, workspaceId })
        await expect(again.getAuditRecords({ id: workspaceId })).rejects.toMatchObject({
          type: 'Forbidden',
        })
      })
      await expect(response.text()).rejects.toThrow()
    })
  })

  const ends: [
    what: string,
    end: (owner: Client, member: Member, tenant: Tenant) => Promise<unknown>,
  ][] = [
    ['is removed', (owner, { id }) => owner.deleteWorkspaceMember({ id })],
    ['gets another role', (owner, { id }) => owner.updateWorkspaceMember({ id, role: 'billing' })],
    [
      'may not see the bot',
      (owner, _, { botId }) => owner.updateBotAllowlist({ botId, setting: 'SELECTED_USERS' }),
    ],
  ]
  it.each(ends)(
    'a member who %s is refused at once, with the tokens for the bot',
    async (_, end) => {
      const { address, untimed } = servers()
      await untimed(async () => {
        const { tenant, owner, member } = await newTeam()
        const { workspaceId, botId, conversationId } = tenant
        const at = { baseUrl: address, workspaceId, botId }
        const { pat } = await createClient({
          ...at,
          token: member.token,
        }).createPersonalAccessToken({
          note: 'one bot',
          workspaceId,
          botId,
        })
        const clients = [member.token, pat.value].map((token) => createClient({ ...at, token }))
        const calls = clients.flatMap((client) => [
          () => client.listConversations(),
          () => client.getWorkspaceConversation({ id: conversationId }),
          () => client.createBotApiKey({ botId }),
          () => client.upsertFile({ key: 'x', size: 1 }),
        ])
        for (const call of calls) await call()
        await end(owner, member, tenant)
        await vi.waitFor(async () => {
          for (const call of calls) {
            await expect(call()).rejects.toMatchObject({
              type: expect.stringMatching(
                /^(Unauthorized|Forbidden|ResourceNotFound|ReferenceNotFound)$/,
              ),
            })
          }
        })
      })
    },
  )

  it.each(ends)('a request that waits for a file fails when its member %s', async (_, end) => {
    const { address } = servers()
    const { tenant, owner, member } = await newTeam()
    const { botId } = tenant
    const client = createClient({ baseUrl: address, botId, token: member.token })
    const { file } = await client.upsertFile({ key: 'slow.txt', size: 4, index: true })
    const waiting = client.getFile({ id: file.id, waitFor: 'indexing_completed' })
    await Promise.all([
      expect(waiting).rejects.toMatchObject({
        type: expect.stringMatching(/^(Unauthorized|Forbidden)$/),
      }),
      (async () => {
        await client.getFile({ id: file.id })
        await end(owner, member, tenant)
        await fetch(file.uploadUrl, { method: 'PUT', body: 'slow' })
      })(),
    ])
  })
})
