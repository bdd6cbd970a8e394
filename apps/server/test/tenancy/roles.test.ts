import {
  allOperations,
  isReading,
  type Operation,
  type Role,
  roles,
  type WorkspacePermission,
  workspacePermissions,
} from '@botstead/contract'
import { beforeAll, expect, it } from 'vitest'
import { describeSlow } from '../engines.js'
import { credentialsOf, exampleOf } from '../examples.js'
import { useServer } from '../harness.js'
import { send } from '../request.js'
import { addAccount, settle, type Tenant } from '../tenant.js'
import { inDatabase } from './seed.js'

const guarded = allOperations.filter(({ auth }) => auth === 'workspace' || auth === 'bot')

describeSlow('the roles of members', (engine) => {
  const server = useServer(engine)
  let tenant: Tenant

  beforeAll(async () => {
    tenant = await settle(server(), await addAccount(server()))
  })

  async function memberWith(role: Role): Promise<Tenant> {
    const { workspaceId } = tenant
    const token = await inDatabase(server(), async (tenants) => {
      const member = await tenants.person()
      await tenants.join(member, { workspace: { workspaceId } }, role)
      return member.token
    })
    return { ...tenant, token }
  }

  /** Calls an operation with ids of nothing, so that a call that is admitted changes nothing. */
  async function refusalOf(operation: Operation, member: Tenant): Promise<string | undefined> {
    const { request, headers } = exampleOf(operation)
    const given = request(member)
    const params = Object.fromEntries(
      Object.keys(given.params ?? {}).map((name) => [name, '00000000-0000-4000-8000-000000000000']),
    )
    const response = await send(server(), operation, {
      ...given,
      params,
      headers: { ...credentialsOf(operation.auth, member), ...headers },
    })
    if (response.status === 403) return await response.text()
    // A stream of a place where nothing happens begins late.
    await response.body?.cancel()
    return undefined
  }

  it.each(roles)('let %s use exactly the operations of its permissions', async (role) => {
    const member = await memberWith(role)
    const wrong: string[] = []
    for (const operation of guarded) {
      const permission = operation.permission as WorkspacePermission
      const isAllowed = (workspacePermissions[permission].roles as readonly Role[]).includes(role)
      const refusal = await refusalOf(operation, member)
      const isRefused =
        refusal?.includes(`The role ${role} in this workspace does not include ${permission}`) ??
        false
      if (isRefused === isAllowed) wrong.push(`${operation.id}: ${refusal ?? 'admitted'}`)
    }
    expect(wrong).toEqual([])
    expect(guarded.length).toBeGreaterThan(180)
  })

  it('are narrowed by a token that may only read', async () => {
    const owner = server().client(tenant)
    const { pat } = await owner.createPersonalAccessToken({ note: 'reads', readOnly: true })
    expect(pat).toMatchObject({ readOnly: true })
    const reader = { ...tenant, token: pat.value }
    const wrong: string[] = []
    for (const operation of guarded) {
      const isAllowed = isReading(operation.permission as WorkspacePermission)
      const isRefused = (await refusalOf(operation, reader))?.includes('may only read') ?? false
      if (isRefused === isAllowed) wrong.push(operation.id)
    }
    expect(wrong).toEqual([])
    const client = server().client(reader)
    await expect(client.createWorkspace({ name: 'x' })).rejects.toMatchObject({ type: 'Forbidden' })
    await expect(client.createPersonalAccessToken({ note: 'x' })).rejects.toMatchObject({
      type: 'Forbidden',
    })
    const page = server().client({ token: undefined, headers: { origin: server().url } })
    await expect(page.createSession({ token: pat.value })).rejects.toMatchObject({
      type: 'Forbidden',
    })
  })

  it('give a token that expires nothing that lasts longer', async () => {
    const login = await addAccount(server())
    const owner = server().client(login)
    const expiresAt = new Date(server().clock.now() + 600_000).toISOString()
    const later = new Date(server().clock.now() + 601_000).toISOString()
    const { pat } = await owner.createPersonalAccessToken({ note: 'brief', expiresAt })
    const brief = server().client({ token: pat.value })
    for (const given of [{}, { expiresAt: later }]) {
      await expect(
        brief.createPersonalAccessToken({ note: 'more', ...given }),
      ).rejects.toMatchObject({ type: 'InvalidPayload', message: /body\.expiresAt/ })
    }
    expect((await brief.createPersonalAccessToken({ note: 'same', expiresAt })).pat.expiresAt).toBe(
      expiresAt,
    )
    const page = server().client({ token: undefined, headers: { origin: server().url } })
    const { session } = await page.createSession({ token: pat.value })
    expect(session.expiresAt).toBe(expiresAt)
    const { session: usual } = await page.createSession({ token: login.token })
    expect(usual.expiresAt > later).toBe(true)
  })

  it('are named in the reference of every operation', () => {
    expect(guarded.filter(({ permission }) => permission === undefined)).toEqual([])
    const others = allOperations.filter(
      ({ auth }) => !['workspace', 'bot', 'account'].includes(auth),
    )
    expect(others.filter(({ permission }) => permission !== undefined)).toEqual([])
  })
})
