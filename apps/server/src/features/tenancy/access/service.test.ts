import { beforeAll, expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../../test/engines.js'
import { createSlices, type Person, type Slices } from '../../../../test/slices.js'

describeEachEngine('tokens', (engine) => {
  const database = useDatabase(engine)
  let tenants: Slices

  beforeAll(async () => {
    tenants = await createSlices(database())
  })

  const newBot = async (of: Person) =>
    (await tenants.bots.create(of.workspace, {}, undefined)).bot.id

  it('are listed newest first, to their owner only, without their value', async () => {
    const ann = await tenants.person()
    const bob = await tenants.person()
    for (const note of ['second', 'third']) {
      await tenants.access.service.createPersonal(ann.account, { note }, undefined)
    }
    const listed = await tenants.access.service.listPersonal(ann.account)
    expect(listed.map(({ note }) => note)).toEqual(['third', 'second', 'first'])
    const [token] = listed
    expect(Object.keys(token ?? {}).toSorted()).toEqual([
      'bot_id',
      'created_at',
      'expires_at',
      'id',
      'last_used_at',
      'note',
      'read_only',
      'workspace_id',
    ])
    expect(await tenants.access.service.listPersonal(bob.account)).toHaveLength(1)
  })

  it('are stored as hashes, so that the database contains no usable token', async () => {
    const ann = await tenants.person()
    const bot = await newBot(ann)
    const key = await tenants.access.service.createBotKey(ann.workspace, { botId: bot }, undefined)
    const stored = JSON.stringify(
      await database().db.selectFrom('access_tokens').selectAll().execute(),
    )
    for (const value of [ann.token, key.value]) {
      expect(stored).not.toContain(value)
      expect(stored).not.toContain(value.slice('bp_pat_'.length))
    }
  })

  it('are deleted by their owner only', async () => {
    const ann = await tenants.person()
    const bob = await tenants.person()
    const absent = { type: 'ResourceNotFound' }
    const id = ann.account.tokenId
    await expect(tenants.access.service.removePersonal(bob.account, id)).rejects.toMatchObject(
      absent,
    )
    expect(await tenants.tokens.isKnown(ann.token)).toBe(true)
    await tenants.access.service.removePersonal(ann.account, id)
    expect(await tenants.tokens.isKnown(ann.token)).toBe(false)
    await expect(tenants.access.service.removePersonal(ann.account, id)).rejects.toMatchObject(
      absent,
    )
  })

  it('of a bot are listed for one bot of the workspace', async () => {
    const ann = await tenants.person()
    const bot = await newBot(ann)
    const sibling = await newBot(ann)
    const key = await tenants.access.service.createBotKey(
      ann.workspace,
      { botId: bot, note: 'deploy' },
      undefined,
    )
    await tenants.access.service.createBotKey(ann.workspace, { botId: sibling }, undefined)
    const listed = await tenants.access.service.listBotKeys(ann.workspace, bot)
    expect(listed.map(({ id, note }) => [id, note])).toEqual([[key.token.id, 'deploy']])
    const personal = await tenants.access.service.listPersonal(ann.account)
    expect(personal.map(({ note }) => note)).toEqual(['first'])
    await tenants.access.service.removeBotKey(ann.workspace, key.token.id)
    expect(await tenants.access.service.listBotKeys(ann.workspace, bot)).toEqual([])
  })

  it('of a bot are out of reach for other workspaces', async () => {
    const ann = await tenants.person()
    const bob = await tenants.person()
    const bot = await newBot(ann)
    const key = await tenants.access.service.createBotKey(ann.workspace, { botId: bot }, undefined)
    const { service } = tenants.access
    await expect(service.listBotKeys(bob.workspace, bot)).rejects.toMatchObject({
      type: 'ReferenceNotFound',
      message: expect.stringContaining('query.botId'),
    })
    await expect(
      service.createBotKey(bob.workspace, { botId: bot }, undefined),
    ).rejects.toMatchObject({
      type: 'ReferenceNotFound',
      message: expect.stringContaining('body.botId'),
    })
    await expect(service.removeBotKey(bob.workspace, key.token.id)).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
    // Each kind is deleted by its own operation.
    await expect(service.removePersonal(ann.account, key.token.id)).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
    await expect(service.removeBotKey(ann.workspace, ann.account.tokenId)).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
    expect(await service.listBotKeys(ann.workspace, bot)).toHaveLength(1)
  })

  it('of a deleted bot are purged', async () => {
    const ann = await tenants.person()
    const bot = await newBot(ann)
    const key = await tenants.access.service.createBotKey(ann.workspace, { botId: bot }, undefined)
    await tenants.bots.remove(ann.workspace, bot)
    await tenants.access.service.purge(bot)
    expect(await tenants.tokens.isKnown(key.value)).toBe(false)
    expect(await tenants.tokens.isKnown(ann.token)).toBe(true)
  })

  it('of all owners can be listed and revoked by the operator', async () => {
    const ann = await tenants.person()
    const bot = await newBot(ann)
    const key = await tenants.access.service.createBotKey(ann.workspace, { botId: bot }, undefined)
    const all = await tenants.tokens.listAll()
    expect(all.map(({ id }) => id)).toEqual(
      expect.arrayContaining([key.token.id, ann.account.tokenId]),
    )
    expect(await tenants.tokens.revoke(key.token.id)).toBe(true)
    expect(await tenants.tokens.revoke(key.token.id)).toBe(false)
    expect(await tenants.tokens.isKnown(key.value)).toBe(false)
  })
})

describeEachEngine('the operator of an empty database', (engine) => {
  const database = useDatabase(engine)

  it('has to start the server once before there can be a token', async () => {
    const tenants = await createSlices(database())
    await expect(tenants.tokens.createForFirstAccount('cli')).rejects.toThrow('first start')
    const first = await tenants.person()
    tenants.clock.advance(1)
    await tenants.person()
    const made = await tenants.tokens.createForFirstAccount('cli')
    expect(await tenants.access.authenticator.account(made.value, 'account:read')).toMatchObject({
      accountId: first.account.accountId,
      tokenId: made.token.id,
    })
    const [newest] = await tenants.access.service.listPersonal(first.account)
    expect(newest?.note).toBe('cli')
  })
})
