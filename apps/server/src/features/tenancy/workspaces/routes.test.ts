import { expect, it } from 'vitest'
import { describeEachEngine } from '../../../../test/engines.js'
import { existingClient } from '../../../../test/existing-clients.js'
import { useServer } from '../../../../test/harness.js'
import { addAccount } from '../../../../test/tenant.js'

describeEachEngine('workspaces over HTTP', (engine) => {
  const server = useServer(engine)

  it('are returned without a wrapper, complete for existing clients', async () => {
    const { token, workspaceId } = server()
    const response = await server().fetch(`/v1/admin/workspaces/${workspaceId}`, {
      headers: { authorization: `Bearer ${token}`, 'x-workspace-id': workspaceId },
    })
    const { account } = await server().client().getAccount()
    expect(await response.json()).toEqual({
      id: workspaceId,
      name: 'Default',
      ownerId: account.id,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: expect.any(String),
      botCount: 0,
      billingVersion: 'v4',
      plan: 'community',
      blocked: false,
      spendingLimit: 0,
      activeTrialId: null,
      isPublic: false,
    })
  })

  it('are created, listed, changed and deleted', async () => {
    const client = server().client({ workspaceId: undefined })
    const made = await client.createWorkspace({ name: 'Made' })
    expect((await client.listWorkspaces()).workspaces[0]).toEqual(made)
    const own = server().client({ workspaceId: made.id })
    await own.createBot({})
    const patch = {
      about: 'About',
      socialAccounts: ['http://a'],
      isPublic: true,
      handle: `made-${made.id}`,
      spendingLimit: 2.5,
    }
    const changed = await own.updateWorkspace({ id: made.id, ...patch })
    expect(changed).toEqual({ ...made, ...patch, updatedAt: changed.updatedAt, botCount: 1 })
    const found = await client.listWorkspaces({ handle: patch.handle })
    expect(found).toEqual({ workspaces: [changed], meta: {} })

    expect(await own.deleteWorkspace({ id: made.id })).toEqual({})
    await expect(own.getWorkspace({ id: made.id })).rejects.toMatchObject({ type: 'Unauthorized' })
    const { workspaces } = await client.listWorkspaces({ pageSize: 100 })
    expect(workspaces.map(({ id }) => id)).not.toContain(made.id)
  })

  it('show others what is public of them, if they are', async () => {
    const { id } = await server().client().createWorkspace({ name: 'Open 100% works' })
    const own = server().client({ workspaceId: id })
    const other = existingClient({ ...server(), ...(await addAccount(server())) })
    const refused = { type: 'ResourceNotFound', message: expect.stringContaining(id) }
    await expect(other.getPublicWorkspace({ id })).rejects.toMatchObject(refused)
    const handle = `open-${id}`
    const shown = { about: 'All', website: 'https://a', socialAccounts: ['https://b'], handle }
    const changed = await own.updateWorkspace({ id, ...shown, isPublic: true })
    const { name, createdAt, updatedAt } = changed
    const expected = { id, name, createdAt, updatedAt, ...shown }
    expect(await other.getPublicWorkspace({ id })).toEqual(expected)
    const found = async (query: { search?: string; workspaceIds?: string[] }) =>
      (await other.listPublicWorkspaces(query)).workspaces
    for (const search of ['100% WORKS', `OPEN-${id}`]) {
      expect(await found({ search })).toEqual([expected])
    }
    expect(await found({ search: '100_works' })).toEqual([])
    expect(await found({ workspaceIds: [id, server().workspaceId] })).toEqual([expected])
    await own.updateWorkspace({ id, isPublic: false })
    await expect(other.getPublicWorkspace({ id })).rejects.toMatchObject(refused)
    expect(await found({ workspaceIds: [id] })).toEqual([])
  })

  it('have handles that can be checked before they are taken', async () => {
    const { workspaceId } = server()
    const client = server().client()
    const check = (handle: string) => client.checkHandleAvailability({ handle })
    expect(await check('pump-works')).toEqual({ available: true, suggestions: [] })
    await client.updateWorkspace({ id: workspaceId, handle: 'pump-works' })
    expect(await check('pump-works')).toEqual({
      available: false,
      suggestions: ['pump-works-2', 'pump-works-3', 'pump-works-4'],
      usedBy: workspaceId,
    })
    const other = server().client({ ...(await addAccount(server())) })
    expect(await other.checkHandleAvailability({ handle: 'pump-works' })).not.toHaveProperty(
      'usedBy',
    )
    // An invalid handle leads to suggestions of valid ones, and each of them can be taken.
    for (const [wanted, first] of [
      ['Pump Works', 'pump-works-2'],
      ['Bäder & Co.', 'bader-co'],
      ['-_-', 'workspace'],
      ['ポンプ', 'workspace'],
      ['a'.repeat(100), undefined],
    ] as const) {
      const { available, suggestions } = await check(wanted)
      expect(available).toBe(first === undefined)
      expect(suggestions[0]).toBe(first)
      for (const handle of suggestions) expect((await check(handle)).available).toBe(true)
    }
    await expect(check('')).rejects.toMatchObject({ type: 'InvalidPayload' })
    await expect(check('a'.repeat(101))).rejects.toMatchObject({ type: 'InvalidPayload' })
  })

  it('can be used in the very next call, also when it is not the current one', async () => {
    const made = await server().client().createWorkspace({ name: 'Next' })
    expect(await server().client().getWorkspace({ id: made.id })).toEqual(made)
    expect(await server().client({ workspaceId: made.id }).listBots()).toEqual({
      bots: [],
      meta: {},
    })
  })

  it.each([
    ['body.handle', { handle: 'With Space' }],
    ['body.handle', { handle: '-dash-first' }],
    ['body.handle', { handle: '' }],
    ['body.socialAccounts', { socialAccounts: Array(6).fill('http://a') }],
    ['body.name', { name: '' }],
    ['body.spendingLimit', { spendingLimit: -1 }],
  ])('refuse a wrong %s', async (field, patch) => {
    const { workspaceId } = server()
    await expect(
      server()
        .client()
        .updateWorkspace({ id: workspaceId, ...patch }),
    ).rejects.toMatchObject({ type: 'InvalidPayload', message: expect.stringContaining(field) })
  })

  it('are created once per idempotency key', async () => {
    const client = server().client()
    const key = { idempotencyKey: 'make-once' }
    const first = await client.createWorkspace({ name: 'Once' }, key)
    expect(await client.createWorkspace({ name: 'Once' }, key)).toEqual(first)
  })
})
