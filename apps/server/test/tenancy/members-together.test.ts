import { describe, expect, inject, it, vi } from 'vitest'
import { dialectOf } from '../../src/platform/db/dialect.js'
import type { Tx } from '../../src/platform/db/schema.js'
import { engines } from '../engines.js'
import { useServer } from '../harness.js'
import { addAccount, type Login } from '../tenant.js'
import { inDatabase } from './seed.js'
import { countWaiting, patientWithLocks } from './waiting.js'

describe.skipIf(!inject('postgresUrl'))('changes of members at the same time', () => {
  const server = useServer(
    engines.find(({ name }) => name === 'postgres'),
    {},
    patientWithLocks,
  )
  let guests = 0

  const clientOf = (login: Login) => server().client(login)
  const codeOf = (url: string) => new URL(url).hash.slice(1)

  async function invite(host: Login, role: 'viewer' | 'owner' = 'viewer') {
    guests += 1
    const email = `guest${guests}@example.com`
    const { id, invitationUrl } = await clientOf(host).createWorkspaceMember({ email, role })
    return { id, code: codeOf(invitationUrl) }
  }

  /** Makes requests that each wait for the rows of some members, in this order, and returns how they end. */
  async function together(
    ids: readonly string[],
    requests: readonly (() => Promise<unknown>)[],
  ): Promise<string[]> {
    const under: Promise<string>[] = []
    await inDatabase(server(), ({ run }) =>
      run(async (tx: Tx) => {
        const rows = tx.selectFrom('workspace_members').select('id').where('id', 'in', ids)
        await dialectOf(tx).lockRows(rows).execute()
        for (const [at, request] of requests.entries()) {
          under.push(
            request().then(
              () => 'done',
              ({ type }) => type,
            ),
          )
          await vi.waitUntil(async () => (await countWaiting(tx)) === at + 1)
        }
      }),
    )
    return await Promise.all(under)
  }

  it('leave an invitation that is accepted without a new code', async () => {
    const [host, guest] = [await addAccount(server()), await addAccount(server())]
    const { id, code } = await invite(host)
    const ended = await together(
      [id],
      [
        () => clientOf(guest).acceptInvitation({ code }),
        () => clientOf(host).renewWorkspaceInvitation({ id }),
      ],
    )
    expect(ended).toEqual(['done', 'ResourceNotFound'])
  })

  it('make nobody a member twice', async () => {
    const [host, guest] = [await addAccount(server()), await addAccount(server())]
    const invitations = [await invite(host), await invite(host)]
    const ended = await together(
      invitations.map(({ id }) => id),
      invitations.map(
        ({ code }) =>
          () =>
            clientOf(guest).acceptInvitation({ code }),
      ),
    )
    expect(ended).toEqual(['done', 'AlreadyExists'])
  })

  it('put nobody who was removed on the list of a bot', async () => {
    const [host, guest] = [await addAccount(server()), await addAccount(server())]
    const { id, code } = await invite(host)
    await clientOf(guest).acceptInvitation({ code })
    const { account } = await clientOf(guest).getAccount()
    const { bot } = await clientOf(host).createBot({ name: 'Hidden' })
    const users = { [account.id]: true }
    const ended = await together(
      [id],
      [
        () => clientOf(host).deleteWorkspaceMember({ id }),
        () => clientOf(host).updateBotAllowlist({ botId: bot.id, users }),
      ],
    )
    expect(ended).toEqual(['done', 'ReferenceNotFound'])
  })

  it('leave an owner when two of them leave, and an open invitation for one counts for none', async () => {
    const [host, guest] = [await addAccount(server()), await addAccount(server())]
    const { id, code } = await invite(host, 'owner')
    await clientOf(guest).acceptInvitation({ code })
    await invite(host, 'owner')
    const { members } = await clientOf(host).listWorkspaceMembers()
    const own = members.find(({ role }) => role === 'owner')?.id ?? ''
    const { workspaceId } = host
    const ended = await together(
      [own, id],
      [
        () => clientOf(host).deleteWorkspaceMember({ id: own }),
        () => clientOf({ ...guest, workspaceId }).deleteWorkspaceMember({ id }),
      ],
    )
    expect(ended).toEqual(['done', 'ReferenceConstraint'])
  })

  it('keep to the limit of members', async () => {
    const host = await addAccount(server())
    const { members } = await clientOf(host).listWorkspaceMembers()
    await inDatabase(server(), ({ run }) =>
      run(async (tx) => {
        const rows = Array.from({ length: 998 }, (_, number) => ({
          id: `member_${host.workspaceId}_${number}`,
          workspace_id: host.workspaceId,
          email: `${number}@example.com`,
          role: 'viewer' as const,
          created_at: new Date().toISOString(),
        }))
        await tx.insertInto('workspace_members').values(rows).execute()
      }),
    )
    const ended = await together(
      members.map(({ id }) => id),
      [() => invite(host), () => invite(host)],
    )
    expect(ended).toEqual(['done', 'LimitExceeded'])
  })
})
