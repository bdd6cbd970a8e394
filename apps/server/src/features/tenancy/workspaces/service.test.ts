import { beforeAll, expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../../test/engines.js'
import { createSlices, type Slices } from '../../../../test/slices.js'

describeEachEngine('workspaces', (engine) => {
  const database = useDatabase(engine)
  let tenants: Slices

  beforeAll(async () => {
    tenants = await createSlices(database())
  })

  it('belong to the account that creates them', async () => {
    const ann = await tenants.person()
    const { workspace, botCount } = await tenants.workspaces.create(
      ann.account,
      { name: 'Second' },
      undefined,
    )
    expect(workspace).toMatchObject({ name: 'Second', owner_id: ann.account.accountId })
    expect(botCount).toBe(0)
    expect(await tenants.members.roleOf(ann.account.accountId, workspace.id)).toBe('owner')
  })

  it('count their bots', async () => {
    const ann = await tenants.person()
    const { workspaceId } = ann.workspace
    await tenants.bots.create(ann.workspace, {}, undefined)
    await tenants.bots.create(ann.workspace, { dev: true }, undefined)
    expect((await tenants.workspaces.get(ann.workspace, workspaceId)).botCount).toBe(2)
    const changed = await tenants.workspaces.update(ann.workspace, workspaceId, { about: 'x' })
    expect(changed.botCount).toBe(2)
    const { rows } = await tenants.workspaces.list(ann.account, {})
    expect(rows.map(({ botCount }) => botCount)).toEqual([2])
  })

  it('are listed newest first, page by page, each once, to their members only', async () => {
    const ann = await tenants.person()
    const bob = await tenants.person()
    await tenants.join(ann, bob, 'viewer')
    const names = Array.from({ length: 5 }, (_, i) => `w${i}`)
    for (const name of names) {
      tenants.clock.advance(1)
      await tenants.workspaces.create(ann.account, { name }, undefined)
    }
    const seen: string[] = []
    let nextToken: string | undefined
    do {
      const page = await tenants.workspaces.list(ann.account, {
        pageSize: 2,
        ...(nextToken && { nextToken }),
      })
      expect(page.rows.length).toBeLessThanOrEqual(2)
      seen.push(...page.rows.map(({ workspace }) => workspace.name))
      nextToken = page.nextToken
    } while (nextToken)
    expect(seen.slice(0, 5)).toEqual(names.toReversed())
    expect(seen.slice(5)).toEqual(['Own', 'Own'])
    const { rows: bobs } = await tenants.workspaces.list(bob.account, { pageSize: 100 })
    expect(bobs.map(({ workspace }) => workspace.id)).toEqual([bob.workspace.workspaceId])
  })

  it('refuse the page token of another account', async () => {
    const ann = await tenants.person()
    const bob = await tenants.person()
    await tenants.workspaces.create(ann.account, { name: 'more' }, undefined)
    const { nextToken } = await tenants.workspaces.list(ann.account, { pageSize: 1 })
    expect(nextToken).toBeDefined()
    await expect(
      tenants.workspaces.list(bob.account, { nextToken: nextToken ?? '' }),
    ).rejects.toThrow('token')
  })

  it('are found by their handle, which is unique', async () => {
    const ann = await tenants.person()
    const bob = await tenants.person()
    const handle = `ann-${ann.account.accountId.toLowerCase()}`
    const { workspaceId } = ann.workspace
    await tenants.workspaces.create(ann.account, { name: 'other' }, undefined)
    await tenants.workspaces.update(ann.workspace, workspaceId, { handle })
    await tenants.workspaces.update(ann.workspace, workspaceId, { handle })
    await expect(
      tenants.workspaces.update(bob.workspace, bob.workspace.workspaceId, {
        name: 'not stored',
        handle,
      }),
    ).rejects.toMatchObject({ type: 'AlreadyExists', message: expect.stringContaining(handle) })
    const { workspace } = await tenants.workspaces.get(bob.workspace, bob.workspace.workspaceId)
    expect(workspace).toMatchObject({ name: 'Own', handle: null })

    const found = async (account: typeof ann.account) =>
      (await tenants.workspaces.list(account, { handle })).rows.map((row) => row.workspace.id)
    expect(await found(ann.account)).toEqual([workspaceId])
    expect(await found(bob.account)).toEqual([])
  })

  it('keep members that a change leaves out', async () => {
    const ann = await tenants.person()
    const { workspaceId } = ann.workspace
    const all = {
      name: 'New name',
      spendingLimit: 12.5,
      about: 'About',
      profilePicture: 'http://a/p.png',
      contactEmail: 'a@example.com',
      website: 'http://a',
      socialAccounts: ['http://b', 'http://c'],
      isPublic: true,
    }
    await tenants.workspaces.update(ann.workspace, workspaceId, all)
    tenants.clock.advance(1000)
    const { workspace } = await tenants.workspaces.update(ann.workspace, workspaceId, {
      name: 'Newer',
    })
    expect(workspace).toMatchObject({
      name: 'Newer',
      spending_limit: 12.5,
      about: 'About',
      profile_picture: 'http://a/p.png',
      contact_email: 'a@example.com',
      website: 'http://a',
      social_accounts: '["http://b","http://c"]',
      is_public: 1,
    })
    expect(workspace.updated_at > workspace.created_at).toBe(true)
  })

  it('cannot be seen by others', async () => {
    const ann = await tenants.person()
    const bob = await tenants.person()
    const foreign = bob.workspace.workspaceId
    const absent = { type: 'ResourceNotFound' }
    await expect(tenants.workspaces.get(ann.workspace, foreign)).rejects.toMatchObject(absent)
    await expect(
      tenants.workspaces.update(ann.workspace, foreign, { name: 'taken' }),
    ).rejects.toMatchObject(absent)
    await expect(tenants.workspaces.remove(ann.workspace, foreign)).rejects.toMatchObject(absent)
    expect((await tenants.workspaces.get(bob.workspace, foreign)).workspace.name).toBe('Own')
  })

  it('are changed with the role in the named workspace, not in the current one', async () => {
    const ann = await tenants.person()
    const host = await tenants.person()
    await tenants.join(ann, host, 'viewer')
    const { workspaceId } = host.workspace
    expect((await tenants.workspaces.get(ann.workspace, workspaceId)).workspace.name).toBe('Own')
    await expect(
      tenants.workspaces.update(ann.workspace, workspaceId, { name: 'taken' }),
    ).rejects.toMatchObject({ type: 'Forbidden' })
  })

  it('are deleted by their owner only, with their bots and the keys of these', async () => {
    const owner = await tenants.person()
    const admin = await tenants.person()
    await tenants.join(admin, owner, 'administrator')
    const { workspaceId } = owner.workspace
    const { bot } = await tenants.bots.create(owner.workspace, {}, undefined)
    const key = await tenants.access.service.createBotKey(
      owner.workspace,
      { botId: bot.id },
      undefined,
    )
    await expect(tenants.workspaces.remove(admin.workspace, workspaceId)).rejects.toMatchObject({
      type: 'Forbidden',
    })
    expect((await tenants.workspaces.get(owner.workspace, workspaceId)).botCount).toBe(1)

    await tenants.workspaces.remove(owner.workspace, workspaceId)
    await expect(tenants.workspaces.get(owner.workspace, workspaceId)).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
    expect(await tenants.bots.workspaceOf(bot.id)).toBeUndefined()
    expect(await tenants.tokens.isKnown(key.value)).toBe(false)
    expect(await tenants.members.roleOf(admin.account.accountId, workspaceId)).toBeUndefined()
    await expect(tenants.workspaces.remove(owner.workspace, workspaceId)).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
  })
})
