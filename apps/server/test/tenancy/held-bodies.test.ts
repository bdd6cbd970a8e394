import { once } from 'node:events'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { describeSlow } from '../engines.js'
import { useServer } from '../harness.js'
import { addAccount } from '../tenant.js'

/** Longer than an admission counts without being looked at again. */
const heldMs = 2500

describeSlow('a call whose body is held back', (engine) => {
  const server = useServer(engine)

  /** Begins a call and waits until its body is asked for; the returned function sends the rest. */
  async function hold(path: string, headers: Record<string, string>, body: object) {
    const json = JSON.stringify(body)
    const call = request(`${server().url}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-length': json.length,
        expect: '100-continue',
        ...headers,
      },
    })
    const answered = once(call, 'response')
    await once(call, 'continue')
    call.write(json.slice(0, -1))
    return async () => {
      await sleep(heldMs)
      call.end(json.slice(-1))
      const [response] = await answered
      return { status: response.statusCode, body: JSON.parse(await text(response)) }
    }
  }

  it('makes no token when its own was deleted meanwhile', async () => {
    const owner = server().client(await addAccount(server()))
    const { pat } = await owner.createPersonalAccessToken({ note: 'stolen' })
    const { pat: kept } = await owner.createPersonalAccessToken({ note: 'kept' })
    const path = '/v1/admin/account/pats'
    const as = ({ value }: { value: string }) => ({ authorization: `Bearer ${value}` })
    const finish = [
      await hold(path, as(pat), { note: 'lasting' }),
      await hold(path, as(kept), { note: 'late' }),
    ]
    await owner.deletePersonalAccessToken({ id: pat.id })
    const [refused, accepted] = await Promise.all(finish.map((end) => end()))
    expect(refused).toMatchObject({ status: 401, body: { type: 'Unauthorized' } })
    expect(accepted).toMatchObject({ status: 201, body: { pat: { note: 'late' } } })
    const { pats } = await owner.listPersonalAccessTokens({})
    expect(pats.map(({ note }) => note)).not.toContain('lasting')
  })

  it('invites nobody when the caller has lost the role meanwhile', async () => {
    const ann = await addAccount(server())
    const owner = server().client(ann)
    const { account } = await owner.getAccount()
    const bea = await addAccount(server())
    const invited = await owner.createWorkspaceMember({
      email: `bea-${account.id}@example.com`,
      role: 'administrator',
    })
    const code = new URL(invited.invitationUrl).hash.slice(1)
    await server().client(bea).acceptInvitation({ code })
    const headers = { authorization: `Bearer ${bea.token}`, 'x-workspace-id': ann.workspaceId }
    const email = `accomplice-${account.id}@example.com`
    const finish = await hold('/v1/admin/workspace-members', headers, { email, role: 'developer' })
    await owner.deleteWorkspaceMember({ id: invited.id })
    expect((await finish()).status).toBeGreaterThanOrEqual(400)
    const { members } = await owner.listWorkspaceMembers()
    expect(members.map((member) => member.email)).not.toContain(email)
  })
})
