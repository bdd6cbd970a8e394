import { beforeAll, expect, it } from 'vitest'
import { describeEachEngine } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { addAccount, uploadText } from '../../../../test/tenant.js'

describeEachEngine('the limits of a workspace', (engine) => {
  const server = useServer(engine, {
    BOTSTEAD_STORAGE_QUOTA_BYTES: '1kB',
    BOTSTEAD_RATE_LIMIT: '5000',
    BOTSTEAD_CALL_QUOTA: '3',
  })
  let login: Awaited<ReturnType<typeof addAccount>>
  let client: ReturnType<ReturnType<typeof server>['client']>

  beforeAll(async () => {
    login = await addAccount(server())
    client = server().client(login)
  })

  async function limitsOf(as = client) {
    const { limits } = await as.listWorkspaceLimits({ id: login.workspaceId })
    return new Map(limits.map((each) => [each.name, each]))
  }

  it('begin with nothing used', async () => {
    const limits = await limitsOf()
    expect(limits.get('storage')).toMatchObject({
      unit: 'bytes',
      used: 0,
      isExact: true,
      limit: 1000,
      setting: 'BOTSTEAD_STORAGE_QUOTA_BYTES',
    })
    for (const name of ['bots', 'integrations', 'files', 'conversations', 'messages'] as const) {
      expect(limits.get(name)).toMatchObject({ used: 0, isExact: true })
      expect(limits.get(name)).not.toHaveProperty('limit')
    }
    expect(limits.get('requestsPerMinute')).toMatchObject({ limit: 5000 })
    expect(limits.get('fileSize')).toMatchObject({ setting: 'BOTSTEAD_MAX_FILE_BYTES' })
    expect(limits.get('fileSize')).not.toHaveProperty('used')
  })

  it('count what is used, exactly as the quota does', async () => {
    const { bot } = await client.createBot({})
    await client.createBot({})
    const own = server().client({ ...login, botId: bot.id })
    await uploadText(own, 'one.txt', 'x'.repeat(300))
    await uploadText(own, 'two.txt', 'y'.repeat(400), true)
    await own.createConversation({ channel: 'web', tags: {} })
    const limits = await limitsOf()
    const used = (name: Parameters<typeof limits.get>[0]) => limits.get(name)?.used
    expect([used('storage'), used('indexedStorage')]).toEqual([700, 400])
    expect([used('bots'), used('files'), used('conversations')]).toEqual([2, 2, 1])
    await expect(own.upsertFile({ key: 'three.txt', size: 301 })).rejects.toMatchObject({
      type: 'QuotaExceeded',
    })
    await own.upsertFile({ key: 'three.txt', size: 300 })
    expect((await limitsOf()).get('storage')?.used).toBe(1000)
  })

  it('count messages and events of the month', async () => {
    const owner = await addAccount(server())
    const as = server().client(owner)
    const { bot } = await as.createBot({})
    const runtime = server().client({ ...owner, botId: bot.id })
    const happen = () => runtime.createEvent({ type: 'noticed', payload: {} })
    for (let at = 0; at < 3; at++) await happen()
    await expect(happen()).rejects.toMatchObject({
      type: 'QuotaExceeded',
      message: expect.stringContaining('The workspace would exceed'),
    })
    const { limits } = await as.listWorkspaceLimits({ id: owner.workspaceId })
    expect(limits.find(({ name }) => name === 'calls')).toMatchObject({
      used: 3,
      limit: 3,
      setting: 'BOTSTEAD_CALL_QUOTA',
    })
  })

  it('are those of members only', async () => {
    const other = server().client(await addAccount(server()))
    await expect(limitsOf(other)).rejects.toMatchObject({ type: 'ResourceNotFound' })
  })
})
