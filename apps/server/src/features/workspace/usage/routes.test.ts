import { type Client, noQuota } from '@botstead/contract'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { describeEachEngine, engines } from '../../../../test/engines.js'
import { connect } from '../../../../test/existing-clients.js'
import { useServer } from '../../../../test/harness.js'
import { inDatabase } from '../../../../test/tenancy/seed.js'
import { addAccount, addViewer, type Login, uploadText } from '../../../../test/tenant.js'

const minute = 60 * 1000
const day = 24 * 60 * minute

describeEachEngine('what workspaces and bots use', (engine) => {
  const server = useServer(engine)
  const today = () => new Date(server().clock.now()).toISOString().slice(0, 10)
  const thisMonth = () => today().slice(0, 7)

  // In the middle of a month, so that no test runs over its end, and early in the day.
  beforeAll(async () => {
    const now = new Date(server().clock.now())
    const middle = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 14, 1)
    await server().pass(middle - now.getTime())
  })

  async function newBot(login: Login, name = 'A bot') {
    const admin = server().client(login)
    const { bot } = await admin.createBot({ name })
    const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
    const user = await connect(server(), webhookId)
    const { conversation } = await user.createConversation({})
    const say = async (text = 'Hello') =>
      await user.createMessage({
        conversationId: conversation.id,
        payload: { type: 'text', text },
      })
    const runtime = server().client({ ...login, botId: bot.id })
    const answer = async () =>
      await runtime.createMessage({
        conversationId: conversation.id,
        userId: bot.id,
        type: 'text',
        payload: { text: 'Hi' },
        tags: {},
      })
    return { id: bot.id, conversationId: conversation.id, admin, runtime, say, answer, user }
  }

  type UsageType = Parameters<Client['getUsage']>[0]['type']
  async function used(admin: Client, id: string, type: UsageType, period?: string) {
    return (await admin.getUsage({ id, type, period })).usage.value
  }

  it('are messages and events, of which none is missed or counted twice', async () => {
    const login = await addAccount(server())
    const one = await newBot(login)
    const other = await newBot(login)
    const before = await used(one.admin, one.id, 'invocation_calls')
    await Promise.all([
      ...Array.from({ length: 20 }, () => one.say()),
      ...Array.from({ length: 10 }, () => one.answer()),
      ...Array.from({ length: 5 }, () =>
        one.runtime.createEvent({ type: 'noticed', payload: { of: 'it' } }),
      ),
      ...Array.from({ length: 7 }, () => other.say()),
      // Refused, and so not counted.
      expect(
        one.runtime.createEvent({ type: 'x', payload: {}, userId: 'nobody' }),
      ).rejects.toThrow(),
    ])
    expect(await used(one.admin, one.id, 'invocation_calls')).toBe(before + 25)
    expect(await used(one.admin, one.id, 'message_count')).toBe(30)
    expect(await used(one.admin, other.id, 'message_count')).toBe(7)
    expect(await used(one.admin, login.workspaceId, 'message_count')).toBe(37)
    const { data } = await one.admin.breakDownWorkspaceUsageByBot({
      id: login.workspaceId,
      type: 'message_count',
    })
    expect(data).toEqual([
      { botId: one.id, value: 30 },
      { botId: other.id, value: 7 },
    ])
    // What was deleted was used.
    await one.runtime.deleteConversation({ id: one.conversationId })
    await one.admin.deleteBot({ id: other.id })
    await server().pass(minute)
    expect(await used(one.admin, login.workspaceId, 'message_count')).toBe(37)
    const { usages } = await one.admin.listWorkspaceUsages({
      id: login.workspaceId,
      type: 'message_count',
    })
    expect(usages.map(({ id, value }) => [id, value])).toEqual([
      [login.workspaceId, 37],
      [one.id, 30],
      [other.id, 7],
    ])
    expect(usages[0]).toEqual({
      id: login.workspaceId,
      period: thisMonth(),
      type: 'message_count',
      value: 37,
      quota: noQuota,
    })
  })

  it('are the same for all processes, and are merged later', async () => {
    const login = await addAccount(server())
    const { id, admin, say } = await newBot(login)
    await Promise.all(Array.from({ length: 12 }, () => say()))
    await inDatabase(server(), async (slices) => {
      await slices.run(async (tx) => {
        // As a second process does, by connections of its own.
        for (const shard of [3, 7]) {
          await tx
            .insertInto('usage_days')
            .values({
              workspace_id: login.workspaceId,
              bot_id: id,
              kind: 'user_messages',
              day: today(),
              shard,
              value: 4,
            })
            .onConflict((conflict) =>
              conflict
                .columns(['workspace_id', 'bot_id', 'kind', 'day', 'shard'])
                .doUpdateSet((eb) => ({ value: eb('usage_days.value', '+', 4) })),
            )
            .execute()
        }
      })
    })
    expect(await used(admin, id, 'message_count')).toBe(20)
    await server().pass(3 * day)
    await inDatabase(server(), async ({ db }) => {
      await vi.waitFor(async () => {
        const rows = await db
          .selectFrom('usage_days')
          .select(['shard', 'value'])
          .where('bot_id', '=', id)
          .where('kind', '=', 'user_messages')
          .execute()
        expect(rows.map(({ shard, value }) => [Number(shard), Number(value)])).toEqual([[0, 20]])
      })
    })
    expect(await used(admin, id, 'message_count')).toBe(20)
  })

  it('tell the days and months', async () => {
    const login = await addAccount(server())
    const { id, admin, say, runtime } = await newBot(login)
    const first = today()
    const month = thisMonth()
    await say()
    await uploadText(runtime, 'one.txt', 'x'.repeat(300))
    await vi.waitFor(async () => {
      await server().pass(60 * minute)
      const { data } = await admin.listUsageActivityDaily({ id, type: 'storage_count' })
      expect(data).toEqual([{ key: id, date: first, value: 300 }])
    })
    await server().pass(day)
    await Promise.all([say(), say()])
    const daily = await admin.listUsageActivityDaily({ id, type: 'message_count', pageSize: 1 })
    expect(daily.data).toEqual([{ key: id, date: today(), value: 2 }])
    const rest = await admin.listUsageActivityDaily({
      id,
      type: 'message_count',
      pageSize: 1,
      nextToken: daily.meta.nextToken,
    })
    expect(rest).toEqual({ data: [{ key: id, date: first, value: 1 }], meta: {} })
    const { data } = await admin.listUsageActivity({
      id: login.workspaceId,
      type: 'message_count',
      timestampUntil: `${first}T12:00:00Z`,
    })
    expect(data).toEqual([
      { timestamp: `${first}T00:00:00.000Z`, value: 1, period: month, metadata: { botId: id } },
    ])
    await server().pass(28 * day)
    await vi.waitFor(async () => {
      const { usages } = await admin.listUsageHistory({ id, type: 'storage_count' })
      expect(usages.map(({ period, value }) => [period, value])).toEqual([
        [thisMonth(), 300],
        [month, 300],
      ])
    })
    expect(await used(admin, id, 'message_count')).toBe(0)
    expect(await used(admin, id, 'message_count', month)).toBe(3)
    const csv = await server().fetch(`/v1/admin/workspaces/${login.workspaceId}/usages/export`, {
      headers: {
        authorization: `Bearer ${login.token}`,
        'x-workspace-id': login.workspaceId,
      },
    })
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    const lines = (await csv.text()).split('\r\n')
    expect(lines[0]).toBe('date,botId,botName,type,value')
    expect(lines).toContain(`${first},${id},A bot,message_count,1`)
    expect(lines).toContain(`${first},${id},A bot,storage_count,300`)
    expect(lines).toContain(`${first},,,bot_count,1`)
  })

  it('are as much as a quota allows, and people are told before', async () => {
    const login = await addAccount(server())
    const { id, admin, say, answer, runtime } = await newBot(login)
    const before = await used(admin, id, 'invocation_calls')
    const value = before + 10
    const { quota } = await admin.setBotQuota({ id, type: 'invocation_calls', value })
    expect(quota).toEqual({ period: thisMonth(), type: 'invocation_calls', value })
    const results = await Promise.allSettled(Array.from({ length: 14 }, () => say()))
    const refused = results.filter((result) => result.status === 'rejected')
    expect(refused).toHaveLength(4)
    // Users learn nothing of what others used.
    expect(refused[0]?.reason).toMatchObject({
      type: 'QuotaExceeded',
      message: 'This chat takes nothing more for now.',
    })
    await expect(runtime.createEvent({ type: 'noticed', payload: {} })).rejects.toMatchObject({
      type: 'QuotaExceeded',
      message: `The bot would exceed its message and event quota: ${value} of ${value} messages and events used this month, 1 more requested.`,
    })
    // The bot may still say so.
    await answer()
    expect(await used(admin, id, 'invocation_calls')).toBe(value)
    const { logs } = await admin.getBotLogs({ id, timeStart: '2020-01-01T00:00:00Z' })
    const told = logs.filter(({ message }) => message.includes('quota'))
    expect(told.map(({ level }) => level)).toEqual(['warn', 'warn'])
    expect(told.map(({ message }) => message)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          /^The bot has reached 8\d % of its message and event quota: \d+ of \d+ messages and events used this month\. /,
        ),
        `The bot has used up its message and event quota: ${value} of ${value} messages and events used this month. Further requests are refused.`,
      ]),
    )
    expect(await admin.getAllWorkspaceQuotaCompletion({})).toMatchObject({
      [login.workspaceId]: { completion: 0 },
    })
    await server().pass(31 * day)
    await say()
    expect(await used(admin, id, 'invocation_calls')).toBe(1)
    await admin.setBotQuota({ id, type: 'invocation_calls', value: null })
    await say()
    // What came while there was no quota counts.
    await admin.setBotQuota({ id, type: 'invocation_calls', value: 3 })
    await say()
    await expect(say()).rejects.toMatchObject({ type: 'QuotaExceeded' })
  })

  it('are scheduled messages and events, which are counted and refused when they are created', async () => {
    const login = await addAccount(server())
    const { id, admin, runtime } = await newBot(login)
    const before = await used(admin, id, 'invocation_calls')
    await admin.setBotQuota({ id, type: 'invocation_calls', value: before + 2 })
    const plan = () =>
      runtime.createEvent({ type: 'noticed', payload: {}, schedule: { delay: minute } })
    const { event } = await plan()
    await plan()
    await expect(plan()).rejects.toMatchObject({ type: 'QuotaExceeded' })
    await server().pass(2 * minute)
    await vi.waitFor(async () => {
      expect((await runtime.getEvent({ id: event.id })).event.status).not.toBe('scheduled')
    })
    expect(await used(admin, id, 'invocation_calls')).toBe(before + 2)
  })

  it('are limited for a workspace with all its bots', async () => {
    const login = await addAccount(server())
    const one = await newBot(login)
    const other = await newBot(login)
    const id = login.workspaceId
    const before = await used(one.admin, id, 'invocation_calls')
    await one.admin.setWorkspaceQuota({ id, type: 'invocation_calls', value: before + 4 })
    const all = [one, one, one, other, other, other].map(({ say }) => say())
    const done = (await Promise.allSettled(all)).filter(({ status }) => status === 'fulfilled')
    expect(done).toHaveLength(4)
    expect((await one.admin.getAllWorkspaceQuotaCompletion({}))[id]).toEqual({
      type: 'invocation_calls',
      completion: 1,
    })
    const limits = [
      ['bot_count', 2, () => one.admin.createBot({})],
      [
        'integrations_owned_count',
        0,
        () => one.admin.createIntegration({ name: 'own', version: '1.0.0' }),
      ],
      [
        'workspace_member_count',
        1,
        () => one.admin.createWorkspaceMember({ email: 'a@example.com', role: 'viewer' }),
      ],
    ] as const
    for (const [type, value, exceed] of limits) {
      expect(await used(one.admin, id, type)).toBe(value)
      await one.admin.setWorkspaceQuota({ id, type, value })
      await expect(exceed()).rejects.toMatchObject({ type: 'QuotaExceeded' })
      await one.admin.setWorkspaceQuota({ id, type, value: value + 1 })
      await exceed()
    }
    const { quotas } = await one.admin.listWorkspaceQuotas({ id })
    expect(Object.fromEntries(quotas.map(({ type, value }) => [type, value]))).toMatchObject({
      invocation_calls: before + 4,
      bot_count: 3,
      storage_count: 10_000_000_000,
      invocation_timeout: noQuota,
    })
  })

  it('are bytes of files, of a bot and of its workspace', async () => {
    const login = await addAccount(server())
    const { id, admin, runtime } = await newBot(login)
    const other = await newBot(login)
    await uploadText(runtime, 'one.txt', 'x'.repeat(300))
    await uploadText(runtime, 'two.txt', 'y'.repeat(400), true)
    await uploadText(other.runtime, 'two.txt', 'y'.repeat(50), true)
    const types = ['storage_count', 'knowledgebase_vector_storage', 'indexed_file_count'] as const
    const ids = [id, login.workspaceId]
    const { usages } = await admin.getMultipleUsages({ ids, types: [...types] })
    expect(usages.map(({ value }) => value)).toEqual([700, 400, 1, 750, 450, 2])
    await admin.setBotQuota({ id, type: 'storage_count', value: 1000 })
    await expect(runtime.upsertFile({ key: 'three.txt', size: 301 })).rejects.toMatchObject({
      type: 'QuotaExceeded',
      message:
        'The bot would exceed its storage quota: 700 of 1000 bytes used, 301 more requested.',
    })
    // Users of the chat learn nothing of what others used.
    const { bot } = await admin.getBot({ id })
    const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
    const { key: userKey } = await server().client({ webhookId }).chatCreateUser({})
    const chat = server().client({ webhookId, userKey })
    const { conversation } = await chat.chatCreateConversation({})
    await expect(
      chat.chatCreateFile({ key: 'a.png', size: 301, tags: { conversation: conversation.id } }),
    ).rejects.toMatchObject({
      type: 'QuotaExceeded',
      message: 'This chat takes nothing more for now.',
    })
    await runtime.upsertFile({ key: 'three.txt', size: 300 })
    await other.runtime.upsertFile({ key: 'three.txt', size: 301 })
    await runtime.deleteFile({ id: 'two.txt' })
    expect(await used(admin, id, 'storage_count')).toBe(600)
    expect(await used(admin, id, 'indexed_file_count')).toBe(0)
    await admin.setWorkspaceQuota({ id: login.workspaceId, type: 'storage_count', value: 1000 })
    await expect(other.runtime.upsertFile({ key: 'four.txt', size: 50 })).rejects.toMatchObject({
      type: 'QuotaExceeded',
      message: expect.stringContaining('The workspace would exceed'),
    })
  })

  it('are the time that listeners listen', async () => {
    const login = await addAccount(server())
    const { id, admin, user, conversationId } = await newBot(login)
    const listener = await user.listenConversation({ id: conversationId })
    try {
      // In steps, because a listener must be looked after meanwhile.
      await vi.waitFor(async () => {
        await server().pass(10_000)
        expect(await used(admin, id, 'listener_time')).toBeGreaterThanOrEqual(80)
      })
    } finally {
      await listener.disconnect()
    }
    let last = 0
    await vi.waitFor(async () => {
      await server().pass(20_000)
      const before = last
      last = await used(admin, id, 'listener_time')
      expect(last).toBe(before)
      expect(last).toBeGreaterThanOrEqual(80)
    })
  })

  it('are exceeded only by what the server promised, such as scheduled and recurring events', async () => {
    const login = await addAccount(server())
    const { id, admin, runtime } = await newBot(login)
    await runtime.createEvent({ type: 'later', payload: {}, schedule: { delay: minute } })
    const everyMinute = { schedule: { cron: '* * * * *' }, type: 'regular', payload: {} }
    await admin.updateBot({ id, recurringEvents: { everyMinute } })
    const value = await used(admin, id, 'invocation_calls')
    await admin.setBotQuota({ id, type: 'invocation_calls', value })
    await vi.waitFor(async () => {
      await server().pass(minute)
      const { events } = await runtime.listEvents({})
      const happened = events.filter(({ status }) => status !== 'scheduled')
      const types = happened.map(({ type }) => type)
      expect(types).toEqual(expect.arrayContaining(['later', 'regular']))
      expect(await used(admin, id, 'invocation_calls')).toBeGreaterThan(value)
    })
    await expect(runtime.createEvent({ type: 'now', payload: {} })).rejects.toMatchObject({
      type: 'QuotaExceeded',
    })
  })

  it('stay where a bot used them when it moves, and its quotas go along', async () => {
    const login = await addAccount(server())
    const { id, admin, say } = await newBot(login)
    await say()
    await admin.setBotQuota({ id, type: 'invocation_calls', value: 2 })
    const { id: target } = await admin.createWorkspace({ name: 'Target' })
    await admin.transferBot({ id, targetWorkspaceId: target })
    const there = server().client({ ...login, workspaceId: target })
    const { quotas } = await there.listBotQuotas({ id })
    expect(quotas[0]).toMatchObject({ type: 'invocation_calls', value: 2 })
    expect(await used(there, id, 'invocation_calls')).toBe(0)
    expect(await used(admin, login.workspaceId, 'message_count')).toBe(1)
    await say()
    await say()
    await expect(say()).rejects.toMatchObject({ type: 'QuotaExceeded' })
  })

  it('are seen by members, for the bots that they may see, and limited by few', async () => {
    const login = await addAccount(server())
    const seen = await newBot(login)
    const hidden = await newBot(login)
    await Promise.all([seen.say(), hidden.say(), hidden.say()])
    await seen.admin.updateBotAllowlist({ botId: hidden.id, setting: 'SELECTED_USERS' })
    const viewerLogin = await addViewer(server(), login.workspaceId)
    const viewer = server().client(viewerLogin)
    const id = login.workspaceId
    const { data } = await viewer.breakDownWorkspaceUsageByBot({ id, type: 'message_count' })
    expect(data).toEqual([{ botId: seen.id, value: 1 }])
    const daily = await viewer.listUsageActivityDaily({ id, type: 'message_count' })
    expect(daily.data.map(({ key }) => key)).toEqual([seen.id])
    await expect(viewer.getUsage({ id: hidden.id, type: 'message_count' })).rejects.toMatchObject({
      type: 'ResourceNotFound',
      message: `There is no workspace ${hidden.id} among those of the caller, and no such bot in this workspace.`,
    })
    const other = (await addAccount(server())).workspaceId
    await expect(
      seen.admin.setWorkspaceQuota({ id: other, type: 'bot_count', value: 1 }),
    ).rejects.toMatchObject({
      type: 'ResourceNotFound',
      message: `There is no workspace ${other} in this call: the header x-workspace-id names another one.`,
    })
    const csv = await server().fetch(`/v1/admin/workspaces/${id}/usages/export`, {
      headers: { authorization: `Bearer ${login.token}`, 'x-workspace-id': id },
    })
    expect(await csv.text()).toContain(hidden.id)
    // Who may not see bots sees their figures, without names.
    const { members } = await seen.admin.listWorkspaceMembers()
    const paying = members.find(({ role }) => role === 'viewer')
    await seen.admin.updateWorkspaceMember({ id: paying?.id ?? '', role: 'billing' })
    const unnamed = await server().fetch(`/v1/admin/workspaces/${id}/usages/export`, {
      headers: { authorization: `Bearer ${viewerLogin.token}`, 'x-workspace-id': id },
    })
    const rows = await unnamed.text()
    expect(rows).toContain(`,${seen.id},,message_count,`)
    expect(rows).not.toContain('A bot')
    await seen.admin.updateWorkspaceMember({ id: paying?.id ?? '', role: 'viewer' })
    for (const dateFrom of ['03/04/2026', 'March 4, 2026', '4', 'yesterday']) {
      await expect(
        viewer.listUsageActivityDaily({ id, type: 'message_count', dateFrom }),
      ).rejects.toMatchObject({
        type: 'InvalidQuery',
        message: 'query.dateFrom must begin with a day such as 2026-03-01.',
      })
    }
    for (const set of [
      () => viewer.setWorkspaceQuota({ id, type: 'bot_count', value: 1 }),
      () => viewer.setBotQuota({ id: seen.id, type: 'storage_count', value: 1 }),
    ]) {
      await expect(set()).rejects.toMatchObject({ type: 'Forbidden' })
    }
    await expect(viewer.getMultipleUsages({ ids: [id], types: ['unknown'] })).rejects.toMatchObject(
      { type: 'InvalidQuery', message: /query\.types must be among/ },
    )
  })

  it('are not seen of bots that are gone by members who may not see all bots', async () => {
    const login = await addAccount(server())
    const seen = await newBot(login)
    const hidden = await newBot(login)
    await Promise.all([seen.say(), hidden.say()])
    await seen.admin.updateBotAllowlist({ botId: hidden.id, setting: 'SELECTED_USERS' })
    const viewing = await addViewer(server(), login.workspaceId)
    await seen.admin.deleteBot({ id: hidden.id })
    await server().pass(minute)
    await inDatabase(server(), async ({ db }) => {
      await vi.waitFor(async () => {
        const lists = db.selectFrom('bot_allowlists').select('bot_id')
        expect(await lists.where('bot_id', '=', hidden.id).execute()).toEqual([])
      })
    })
    const id = login.workspaceId
    const shown = async (of: Login) => {
      const client = server().client(of)
      const { data } = await client.breakDownWorkspaceUsageByBot({ id, type: 'message_count' })
      const daily = await client.listUsageActivityDaily({ id, type: 'message_count' })
      const csv = await server().fetch(`/v1/admin/workspaces/${id}/usages/export`, {
        headers: { authorization: `Bearer ${of.token}`, 'x-workspace-id': id },
      })
      const text = await csv.text()
      return [
        data.map(({ botId }) => botId).sort(),
        daily.data.map(({ key }) => key).sort(),
        [seen.id, hidden.id].filter((botId) => text.includes(botId)).sort(),
      ]
    }
    const all = [seen.id, hidden.id].sort()
    expect(await shown(login)).toEqual([all, all, all])
    expect(await shown(viewing)).toEqual([[seen.id], [seen.id], [seen.id]])
  })

  it('are not seen of a whole workspace with a token that is limited to one bot', async () => {
    const login = await addAccount(server())
    const { id: botId, admin } = await newBot(login)
    const { workspaceId } = login
    const { pat } = await admin.createPersonalAccessToken({ note: 'one', workspaceId, botId })
    const limited = server().client({ token: pat.value, workspaceId })
    expect(await used(limited, botId, 'message_count')).toBe(0)
    for (const refused of [
      limited.getUsage({ id: workspaceId, type: 'message_count' }),
      limited.getAllWorkspaceQuotaCompletion({}),
    ]) {
      await expect(refused).rejects.toMatchObject({ type: 'Forbidden' })
    }
  })

  it('are forgotten with their workspace', async () => {
    const login = await addAccount(server())
    const { admin, say } = await newBot(login)
    await say()
    await admin.setWorkspaceQuota({ id: login.workspaceId, type: 'invocation_calls', value: 5 })
    await say()
    await admin.deleteWorkspace({ id: login.workspaceId })
    await server().pass(minute)
    await inDatabase(server(), async ({ db }) => {
      await vi.waitFor(async () => {
        for (const table of ['usage_days', 'usage_months', 'usage_quotas'] as const) {
          const rows = db.selectFrom(table).select('workspace_id')
          const of = rows.where('workspace_id', '=', login.workspaceId)
          expect(await of.execute()).toEqual([])
        }
      })
    })
  })

  it('are read once for what a request repeats, and of any month', async () => {
    const login = await addAccount(server())
    const { id, admin, say } = await newBot(login)
    await say()
    const { usages } = await admin.getMultipleUsages({
      ids: [id, login.workspaceId, id],
      types: ['message_count', 'bot_count', 'message_count'],
    })
    expect(usages.map(({ type, value }) => [type, value])).toEqual(
      [1, 1, 1].flatMap((messages, at) => [
        ['message_count', messages],
        ['bot_count', at === 1 ? 1 : 0],
        ['message_count', messages],
      ]),
    )
    for (const period of ['0000-01', '0099-12', '9999-12']) {
      expect(await used(admin, login.workspaceId, 'message_count', period)).toBe(0)
    }
    await expect(used(admin, id, 'message_count', '2026-13')).rejects.toMatchObject({
      type: 'InvalidQuery',
    })
  })
})

// SQLite has one process, which does everything.
const several = engines.filter(({ name }) => name === 'postgres')

describe.each(several)('the time of listeners of a process without background work', (engine) => {
  const server = useServer(engine, { BOTSTEAD_ROLES: 'api' })

  it('is stored while they listen', async () => {
    const login = await addAccount(server())
    const admin = server().client(login)
    const { bot } = await admin.createBot({})
    const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
    const user = await connect(server(), webhookId)
    const { conversation } = await user.createConversation({})
    const listener = await user.listenConversation({ id: conversation.id })
    try {
      await vi.waitFor(async () => {
        await server().pass(10_000)
        const { usage } = await admin.getUsage({ id: bot.id, type: 'listener_time' })
        expect(usage.value).toBeGreaterThanOrEqual(10)
      })
    } finally {
      await listener.disconnect()
    }
  })
})
