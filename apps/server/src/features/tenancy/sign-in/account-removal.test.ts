import { expect, it } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { existingClient } from '../../../../test/existing-clients.js'
import { useServer } from '../../../../test/harness.js'
import { inDatabase } from '../../../../test/tenancy/seed.js'
import { addAccount } from '../../../../test/tenant.js'

const password = 'seven green teapots'

describeSlow('the deletion of an account', (engine) => {
  const server = useServer(engine)
  const page = () => server().client({ token: undefined, headers: { origin: server().url } })

  /** Somebody who is a developer in the workspace of somebody else, and has none of their own. */
  async function addGuest() {
    const host = await addAccount(server())
    const guest = await addAccount(server())
    const admin = server().client(host)
    const { account } = await server().client(guest).getAccount()
    const invited = await admin.createWorkspaceMember({ email: account.email, role: 'developer' })
    const code = new URL(invited.invitationUrl).hash.slice(1)
    await server().client(guest).acceptInvitation({ code })
    await server().client(guest).deleteWorkspace({ id: guest.workspaceId })
    return { admin, email: account.email, guest: { ...guest, workspaceId: host.workspaceId } }
  }

  it('ends its tokens, sessions and memberships, and frees its address', async () => {
    const { admin, email, guest } = await addGuest()
    const client = server().client(guest)
    await client.changePassword({ password })
    await client.setAccountPreference({ key: 'colour', value: 'green' })
    const { bot } = await admin.createBot({ name: 'Desk' })
    const { userId = '' } = await client.getWorkspaceMember()
    await admin.updateBotAllowlist({
      botId: bot.id,
      setting: 'SELECTED_USERS',
      users: { [userId]: true },
    })
    const { session } = await page().signInWithPassword({ email, password })
    expect(session?.current).toBe(true)
    for (const currentPassword of [undefined, 'another password']) {
      await expect(client.deleteAccount({ currentPassword })).rejects.toMatchObject({
        type: 'InvalidPayload',
        metadata: { field: 'currentPassword' },
      })
    }
    await client.deleteAccount({ currentPassword: password })

    await expect(client.getAccount()).rejects.toMatchObject({ type: 'Unauthorized' })
    await expect(page().signInWithPassword({ email, password })).rejects.toMatchObject({
      type: 'Unauthorized',
    })
    const { members } = await admin.listWorkspaceMembers()
    expect(members.map(({ role }) => role)).toEqual(['owner'])
    const { users } = await admin.getBotAllowlist({ botId: bot.id })
    expect(users.map(({ id }) => id)).not.toContain(userId)
    const left = await inDatabase(server(), async ({ db }) => [
      await db.selectFrom('access_tokens').select('id').where('account_id', '=', userId).execute(),
      await db
        .selectFrom('account_passwords')
        .select('hash')
        .where('account_id', '=', userId)
        .execute(),
      await db.selectFrom('preferences').select('key').where('owner_id', '=', userId).execute(),
      await db
        .selectFrom('bot_allowlist_members')
        .select('bot_id')
        .where('account_id', '=', userId)
        .execute(),
    ])
    expect(left).toEqual([[], [], [], []])
    // Somebody else may have the address.
    const invited = await admin.createWorkspaceMember({ email, role: 'viewer' })
    const code = new URL(invited.invitationUrl).hash.slice(1)
    const { workspaceId } = await page().signUpWithInvitation({
      code,
      displayName: 'Bea',
      password,
    })
    expect(workspaceId).toBe(guest.workspaceId)
  })

  it('is possible with the existing client for an account without a password', async () => {
    const { admin, guest } = await addGuest()
    await existingClient(server(), guest).deleteAccount({})
    await expect(existingClient(server(), guest).getAccount({})).rejects.toMatchObject({
      code: 401,
    })
    expect((await admin.listWorkspaceMembers()).members).toHaveLength(1)
  })

  it('is refused to the last owner of a workspace, and to the operator', async () => {
    const ann = await addAccount(server())
    await expect(server().client(ann).deleteAccount({})).rejects.toMatchObject({
      type: 'ReferenceConstraint',
      message: expect.stringContaining(ann.workspaceId),
    })
    expect((await server().client(ann).getWorkspaceMember()).role).toBe('owner')
    await expect(server().client().deleteAccount({})).rejects.toMatchObject({
      type: 'ReferenceConstraint',
      message: expect.stringContaining('operator'),
    })
    expect((await server().client().getAccount()).account.id).toBeDefined()
  })
})
