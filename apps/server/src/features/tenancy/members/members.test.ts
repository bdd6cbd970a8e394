import type { Role } from '@botstead/contract'
import { expect, it } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { addAccount, type Login } from '../../../../test/tenant.js'

const password = 'seven green teapots'

describeSlow('members of a workspace', (engine) => {
  const server = useServer(engine)
  let guests = 0

  const clientOf = (login: Login) => server().client(login)
  const codeOf = (url: string) => new URL(url).hash.slice(1)
  const page = () => server().client({ token: undefined, headers: { origin: server().url } })

  /** A person with an account of their own who accepts an invitation. */
  async function join(host: Login, role: Role) {
    guests += 1
    const email = `Guest${guests}@Example.com`
    const invited = await clientOf(host).createWorkspaceMember({ email, role })
    const guest = await addAccount(server())
    await clientOf(guest).acceptInvitation({ code: codeOf(invited.invitationUrl) })
    return { ...guest, workspaceId: host.workspaceId, memberId: invited.id }
  }

  it('join by an invitation, once', async () => {
    const ann = await addAccount(server())
    const invited = await clientOf(ann).createWorkspaceMember({
      email: 'Bea@Example.com',
      role: 'viewer',
      sendEmail: true,
    })
    expect(invited).toMatchObject({ email: 'bea@example.com', role: 'viewer' })
    expect(invited.userId).toBeUndefined()
    expect(invited.invitationUrl).toMatch(/\/dashboard\/join#bp_inv_[\w-]+$/)
    const code = codeOf(invited.invitationUrl)
    expect(await page().getInvitation({ code })).toMatchObject({
      workspaceName: 'Own',
      email: 'bea@example.com',
      role: 'viewer',
    })

    const bea = await addAccount(server())
    const { workspaceId } = await clientOf(bea).acceptInvitation({ code })
    expect(workspaceId).toBe(ann.workspaceId)
    const inAnns = { ...bea, workspaceId }
    expect(await clientOf(inAnns).getWorkspaceMember()).toMatchObject({
      id: invited.id,
      role: 'viewer',
    })
    expect((await clientOf(inAnns).listBots()).bots).toEqual([])
    for (const again of [
      () => clientOf(bea).acceptInvitation({ code }),
      () => page().getInvitation({ code }),
      () => page().signUpWithInvitation({ code, displayName: 'Eve', password }),
    ]) {
      await expect(again()).rejects.toMatchObject({ type: 'ResourceNotFound' })
    }
    const { members } = await clientOf(ann).listWorkspaceMembers()
    expect(members.map(({ role }) => role)).toEqual(['owner', 'viewer'])
  })

  it('make an account on the page of the invitation, which signs them in', async () => {
    const ann = await addAccount(server())
    const { invitationUrl } = await clientOf(ann).createWorkspaceMember({
      email: 'cai@example.com',
      role: 'developer',
    })
    const response = await server().fetch('/v1/admin/invitations/sign-up', {
      method: 'POST',
      headers: { origin: server().url, 'content-type': 'application/json' },
      body: JSON.stringify({ code: codeOf(invitationUrl), displayName: 'Cai', password }),
    })
    expect(response.status).toBe(201)
    const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
    const cai = server().client({
      token: undefined,
      workspaceId: ann.workspaceId,
      headers: { cookie, origin: server().url },
    })
    expect(await cai.getWorkspaceMember()).toMatchObject({
      email: 'cai@example.com',
      displayName: 'Cai',
      role: 'developer',
    })
    const second = await addAccount(server())
    const again = await clientOf(second).createWorkspaceMember({
      email: 'cai@example.com',
      role: 'viewer',
    })
    await expect(
      page().signUpWithInvitation({
        code: codeOf(again.invitationUrl),
        displayName: 'Cai',
        password,
      }),
    ).rejects.toMatchObject({ type: 'AlreadyExists', message: /sign in with it/ })
    expect(await cai.acceptInvitation({ code: codeOf(again.invitationUrl) })).toEqual({
      workspaceId: second.workspaceId,
    })
  })

  it('are invited once, with addresses that end', async () => {
    const ann = await addAccount(server())
    const invite = { email: 'dee@example.com', role: 'viewer' as const }
    const first = await clientOf(ann).createWorkspaceMember(invite)
    await expect(
      clientOf(ann).createWorkspaceMember({ ...invite, email: 'DEE@example.com' }),
    ).rejects.toMatchObject({ type: 'AlreadyExists', message: /body.email/ })
    const second = await clientOf(ann).renewWorkspaceInvitation({ id: first.id })
    await expect(page().getInvitation({ code: codeOf(first.invitationUrl) })).rejects.toMatchObject(
      { type: 'ResourceNotFound' },
    )
    const code = codeOf(second.invitationUrl)
    expect((await page().getInvitation({ code })).email).toBe('dee@example.com')
    server().clock.advance(7 * 24 * 60 * 60 * 1000 + 1)
    await expect(page().getInvitation({ code })).rejects.toMatchObject({ type: 'ResourceNotFound' })
    await clientOf(ann).deleteWorkspaceMember({ id: first.id })
    const { members } = await clientOf(ann).listWorkspaceMembers()
    expect(members).toHaveLength(1)
  })

  it('have at least one owner, whom only owners change', async () => {
    const ann = await addAccount(server())
    const bob = await join(ann, 'administrator')
    const [own] = (await clientOf(ann).listWorkspaceMembers()).members
    const annsId = own?.id ?? ''
    const forbidden = { type: 'Forbidden', message: /owner/ }
    const asBob = clientOf(bob)
    await expect(asBob.updateWorkspaceMember({ id: annsId, role: 'viewer' })).rejects.toMatchObject(
      forbidden,
    )
    await expect(asBob.deleteWorkspaceMember({ id: annsId })).rejects.toMatchObject(forbidden)
    await expect(
      asBob.updateWorkspaceMember({ id: bob.memberId, role: 'owner' }),
    ).rejects.toMatchObject(forbidden)
    await expect(
      asBob.createWorkspaceMember({ email: 'eve@example.com', role: 'owner' }),
    ).rejects.toMatchObject(forbidden)
    const last = { type: 'ReferenceConstraint', message: /last owner/ }
    await expect(
      clientOf(ann).updateWorkspaceMember({ id: annsId, role: 'viewer' }),
    ).rejects.toMatchObject(last)
    await expect(clientOf(ann).deleteWorkspaceMember({ id: annsId })).rejects.toMatchObject(last)

    await clientOf(ann).updateWorkspaceMember({ id: bob.memberId, role: 'owner' })
    // Two owners who leave at the same time: one of them stays.
    const left = await Promise.allSettled([
      clientOf(ann).deleteWorkspaceMember({ id: annsId }),
      asBob.deleteWorkspaceMember({ id: bob.memberId }),
    ])
    expect(left.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const stays = left[0]?.status === 'rejected' ? ann : bob
    const { account } = await clientOf(stays).getAccount()
    const workspace = await clientOf(stays).getWorkspace({ id: ann.workspaceId })
    expect(workspace.ownerId).toBe(account.id)
  })

  it('lose what they have as soon as they are removed or get another role', async () => {
    const ann = await addAccount(server())
    const bob = await join(ann, 'developer')
    const { bot } = await clientOf(bob).createBot({ name: 'Of Bob' })
    const { pat } = await clientOf(bob).createPersonalAccessToken({
      note: 'one bot',
      workspaceId: ann.workspaceId,
      botId: bot.id,
    })
    const limited = { token: pat.value, workspaceId: ann.workspaceId }
    expect((await clientOf(limited).listBots()).bots.map(({ id }) => id)).toEqual([bot.id])
    await clientOf(ann).updateWorkspaceMember({ id: bob.memberId, role: 'viewer' })
    await expect(clientOf(bob).createBot({})).rejects.toMatchObject({ type: 'Forbidden' })
    await expect(clientOf(limited).updateBot({ id: bot.id, name: 'x' })).rejects.toMatchObject({
      type: 'Forbidden',
    })
    await clientOf(ann).deleteWorkspaceMember({ id: bob.memberId })
    await expect(clientOf(bob).listBots()).rejects.toMatchObject({ type: 'Unauthorized' })
    await expect(clientOf(limited).getAccount()).rejects.toMatchObject({ type: 'Unauthorized' })
  })

  it('leave by themselves, and remove nobody else without the permission', async () => {
    const ann = await addAccount(server())
    const bob = await join(ann, 'viewer')
    const cai = await join(ann, 'developer')
    await expect(clientOf(cai).deleteWorkspaceMember({ id: bob.memberId })).rejects.toMatchObject({
      type: 'Forbidden',
      message: /members:write/,
    })
    await clientOf(bob).deleteWorkspaceMember({ id: bob.memberId })
    await expect(clientOf(bob).listBots()).rejects.toMatchObject({ type: 'Unauthorized' })
  })

  it('delete the bots that they made, and those of others with the permission', async () => {
    const ann = await addAccount(server())
    const dev = await join(ann, 'developer')
    const manager = await join(ann, 'manager')
    const own = await clientOf(dev).createBot({})
    const other = await clientOf(ann).createBot({})
    await expect(clientOf(dev).deleteBot({ id: other.bot.id })).rejects.toMatchObject({
      type: 'Forbidden',
      message: /bots:manage/,
    })
    await clientOf(dev).deleteBot({ id: own.bot.id })
    await clientOf(manager).deleteBot({ id: other.bot.id })
  })
})
