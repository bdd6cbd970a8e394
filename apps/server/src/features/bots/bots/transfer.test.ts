import { allOperations, type Role, roles } from '@botstead/contract'
import { type Kysely, sql, type TableMetadata } from 'kysely'
import { expect, it, vi } from 'vitest'
import { describeEachEngine } from '../../../../test/engines.js'
import { credentialsOf, exampleOf } from '../../../../test/examples.js'
import { existingClient } from '../../../../test/existing-clients.js'
import { useServer } from '../../../../test/harness.js'
import { useRemote } from '../../../../test/remote/server.js'
import { send } from '../../../../test/request.js'
import { inDatabase } from '../../../../test/tenancy/seed.js'
import { addAccount, type Login, settle, type Tenant, uploadText } from '../../../../test/tenant.js'
import { checkAuditLogs } from '../../tenancy/audit/index.js'

type AnyDatabase = Kysely<Record<string, Record<string, unknown>>>

const words = 'Whispered words'

/** Tables with rows of a workspace that do not belong to a bot, and the reason why a transfer leaves them. */
const ofWorkspaceAlone: Readonly<Record<string, string>> = {
  audit_heads: 'each workspace has its own log',
  audit_records: 'the records of before stay where the acts were',
  bundles: 'the other workspace gets copies, and the sweep deletes what nothing uses',
  deployments: 'moved, by the owner',
  file_usage: 'counted in both workspaces',
  integrations: 'belong to their developers',
  interface_uses: 'of integrations and plugins',
  interfaces: 'belong to their developers',
  kept_bundles: 'moved, by the version that keeps them',
  plugin_codes: 'belong to their developers',
  plugins: 'belong to their developers',
  shared_addresses: 'of integrations',
  tunnels: 'belong to the workspace that used them first',
  workspace_members: 'people stay where they are',
}

/** Tables with a bot whose rows stay in the former workspace, and why. */
const staysBehind: Readonly<Record<string, string>> = {
  usage_days: 'what the bot used is that of the workspace in which it was',
  usage_months: 'sums of these days',
}

describeEachEngine('the transfer of a bot', (engine) => {
  const server = useServer(engine)
  const remote = useRemote()

  async function addMember(workspaceId: string, role: Role): Promise<Login> {
    const token = await inDatabase(server(), async (tenants) => {
      const person = await tenants.person()
      await tenants.join(person, { workspace: { workspaceId } }, role)
      return person.token
    })
    return { token, workspaceId }
  }

  /** A workspace with a bot that has everything, its owner, and another workspace of that person. */
  async function newTenant() {
    const tenant = await settle(server(), await addAccount(server()), words)
    const owner = server().client(tenant)
    const { id: target } = await owner.createWorkspace({ name: 'Target' })
    const moved: Tenant = { ...tenant, workspaceId: target }
    return { tenant, owner, target, moved, there: server().client(moved) }
  }

  async function usageOf(workspaceId: string) {
    return await inDatabase(server(), async ({ db }) => {
      const rows = await db
        .selectFrom('file_usage')
        .select(['storage_bytes', 'vector_bytes'])
        .where('workspace_id', '=', workspaceId)
        .execute()
      const files = await db
        .selectFrom('files')
        .select(({ fn }) => [fn.sum<number | null>('counted_storage').as('storage')])
        .where('workspace_id', '=', workspaceId)
        .executeTakeFirstOrThrow()
      const counted = Number(rows[0]?.storage_bytes ?? 0)
      expect(counted, 'the usage is the sum of the files').toBe(Number(files.storage ?? 0))
      return { storage: counted, vector: Number(rows[0]?.vector_bytes ?? 0) }
    })
  }

  it('moves it with everything in it', async () => {
    const { tenant, owner, target, moved, there } = await newTenant()
    const { botId: id, workspaceId } = tenant
    const inBot = server().client({ token: tenant.token, botId: id })
    await uploadText(inBot, 'indexed.md', 'Searched words', true)
    await inBot.writeBotLogs({ logs: [{ level: 'error', message: 'An old line' }] })
    const before = await usageOf(workspaceId)
    expect(before.storage).toBeGreaterThan(0)
    await vi.waitFor(async () => {
      const { files } = await inBot.listFiles({})
      expect(files.map(({ status }) => status)).toContain('indexing_completed')
    })

    const official = existingClient(server(), tenant)
    expect(await official.transferBot({ id, targetWorkspaceId: target })).toEqual({})

    expect((await owner.listBots()).bots).toEqual([])
    await expect(owner.getBot({ id })).rejects.toMatchObject({ type: 'ResourceNotFound' })
    expect((await there.listBots()).bots.map((bot) => bot.id)).toEqual([id])
    expect((await there.getBot({ id })).bot).toMatchObject({ name: words, tags: { whose: 'own' } })
    expect((await there.listBotApiKeys({ botId: id })).baks.map(({ note }) => note)).toEqual([
      words,
    ])
    // People and the key of the bot go on as before.
    for (const token of [tenant.token, tenant.botKey]) {
      const runtime = server().client({ token, botId: id })
      expect((await runtime.getMessage({ id: tenant.messageId })).message.payload).toMatchObject({
        text: words,
      })
      const found = await runtime.searchFiles({ query: 'searched' })
      expect(found.passages).toHaveLength(1)
      await uploadText(runtime, `of ${token.slice(0, 6)}.md`, 'more')
    }
    const chat = server().client({ webhookId: tenant.webhookId, userKey: tenant.userKey })
    await chat.chatCreateMessage({
      conversationId: tenant.conversationId,
      payload: { type: 'text', text: 'Afterwards' },
    })
    expect(await usageOf(workspaceId)).toEqual({ storage: 0, vector: 0 })
    expect(await usageOf(target)).toEqual({ storage: before.storage + 8, vector: before.vector })
    const listed = await there.listWorkspaceConversations({})
    expect(listed.conversations.map((each) => each.id)).toContain(tenant.conversationId)
    expect((await owner.listWorkspaceConversations({})).conversations).toEqual([])

    // Old lines are in the log of the bot at once, and in that of the workspace when the job has moved them.
    const { logs } = await there.getBotLogs({ id, timeStart: '2020-01-01T00:00:00.000Z' })
    expect(logs.map(({ message }) => message)).toContain('An old line')
    await server().pass(30_000)
    await vi.waitFor(async () => {
      const lines = await there.listLogs({ source: 'bot' })
      expect(lines.logs.map(({ message }) => message)).toContain('An old line')
    })
    expect((await owner.listLogs({ source: 'bot' })).logs).toEqual([])
    expect(moved.workspaceId).toBe(target)
  })

  it('is recorded in the logs of both workspaces, whose chains stay whole', async () => {
    const { tenant, owner, target, there } = await newTenant()
    const { workspaceId: from } = tenant
    await owner.transferBot({ id: tenant.botId, targetWorkspaceId: target })
    const { account } = await owner.getAccount()
    const record = {
      operation: 'transferBot',
      action: 'TRANSFER_BOT',
      userId: account.id,
      resourceId: tenant.botId,
      resourceName: words,
      value: JSON.stringify({ workspaceId: { from, to: target } }),
    }
    const filter = { operation: 'transferBot' }
    expect((await owner.getAuditRecords({ id: from, ...filter })).records).toMatchObject([record])
    expect((await there.getAuditRecords({ id: target, ...filter })).records).toMatchObject([record])
    expect((await owner.getAuditRecords({ id: from })).records.length).toBeGreaterThan(5)
    await inDatabase(server(), async ({ db }) => {
      for await (const checked of checkAuditLogs(db, new Map())) {
        expect(checked.fault).toBeUndefined()
      }
    })
  })

  it('takes along what was written for a workspace in between, if the bot moves twice at once', async () => {
    remote().behave(() => ({}))
    const login = await addAccount(server())
    const owner = server().client(login)
    const { id: second } = await owner.createWorkspace({ name: 'Second' })
    const { id: third } = await owner.createWorkspace({ name: 'Third' })
    const { bot } = await owner.createBot({ url: remote().url })
    const inBot = server().client({ token: login.token, botId: bot.id })
    const placesOfAttempts = () =>
      inDatabase(server(), async ({ db }) => {
        const attempts = db.selectFrom('delivery_attempts').select('workspace_id')
        const rows = await attempts.where('bot_id', '=', bot.id).execute()
        return rows.map(({ workspace_id }) => workspace_id)
      })
    const untilAttempts = (...places: string[]) =>
      vi.waitFor(async () => expect(await placesOfAttempts()).toEqual(places))
    await owner.transferBot({ id: bot.id, targetWorkspaceId: second })
    await server().pass(9000)
    await inBot.createEvent({ type: 'first', payload: {} })
    // The process remembers the second workspace from now on, for five seconds.
    await untilAttempts(second)
    const there = server().client({ ...login, workspaceId: second })
    await there.transferBot({ id: bot.id, targetWorkspaceId: third })
    await server().pass(1500)
    await untilAttempts(third)
    await inBot.createEvent({ type: 'second', payload: {} })
    await vi.waitFor(async () => expect(await placesOfAttempts()).toHaveLength(2))
    await server().pass(30_000)
    await untilAttempts(third, third)
  })

  it('takes along more lines and attempts than one transaction moves, of every level and time', async () => {
    const login = await addAccount(server())
    const owner = server().client(login)
    const { id: target } = await owner.createWorkspace({ name: 'Target' })
    const { bot } = await owner.createBot({})
    const own = { bot_id: bot.id, workspace_id: login.workspaceId }
    const at = (ms: number) => new Date(server().clock.now() + ms).toISOString()
    const lines = Array.from({ length: 1250 }, (_, number) => ({
      ...{ user_id: null, workflow_id: null, conversation_id: null, integration_id: null },
      ...{ ...own, message_id: null, event_id: null, message: 'Whispered' },
      id: `report_${bot.id}_${number}`,
      level: number < 1200 ? ('info' as const) : ('error' as const),
      created_at: at(Math.floor(number / 300)),
    }))
    const attempts = Array.from({ length: 1250 }, (_, number) => ({
      ...{ status: 200, error: null, answer: null, url: null, signature: null },
      ...{ ...own, delivery_id: `delivery_${bot.id}`, response_headers: null, duration_ms: 1 },
      number: number + 1,
      started_at: at(0),
      // Seven hundred of them at one time, and the others one after the other.
      ended_at: at(Math.max(700, number)),
    }))
    await inDatabase(server(), ({ run }) =>
      run(async (tx) => {
        await tx.insertInto('log_lines').values(lines).execute()
        await tx.insertInto('delivery_attempts').values(attempts).execute()
      }),
    )
    const placesOf = (table: 'log_lines' | 'delivery_attempts') =>
      inDatabase(server(), async ({ db }) => {
        const rows = db.selectFrom(table).select('workspace_id').where('bot_id', '=', bot.id)
        return new Set((await rows.execute()).map(({ workspace_id }) => workspace_id))
      })
    await owner.transferBot({ id: bot.id, targetWorkspaceId: target })
    await server().pass(12_000)
    await vi.waitFor(async () => {
      expect(await placesOf('log_lines')).toEqual(new Set([target]))
      expect(await placesOf('delivery_attempts')).toEqual(new Set([target]))
    })
  })

  it('ends the access of those who are members of the former workspace alone', async () => {
    const { tenant, owner, target, moved, there } = await newTenant()
    const old = await addMember(tenant.workspaceId, 'owner')
    const asOld = server().client(old)
    expect((await asOld.getBot({ id: tenant.botId })).bot.name).toBe(words)
    const { pat } = await asOld.createPersonalAccessToken({
      note: 'one bot',
      workspaceId: tenant.workspaceId,
      botId: tenant.botId,
    })
    await owner.transferBot({ id: tenant.botId, targetWorkspaceId: target })
    const guarded = allOperations
      .filter(({ auth }) => auth === 'workspace' || auth === 'bot')
      .filter(({ id }) => !['deleteWorkspace', 'deleteWorkspaceMember'].includes(id))
    /** Plugins of the former workspace, and the address of a guest, which names the bot. */
    const plugins = ['getPluginCode', 'getDereferencedPlugin']
    /** What the bot used while it was there, with its id. */
    const usage = [
      'listUsageActivity',
      'listUsageActivityDaily',
      'listWorkspaceUsages',
      'breakDownWorkspaceUsageByBot',
      'exportWorkspaceUsage',
    ]
    const members = ['listWorkspaceMembers', 'updateWorkspaceMember']
    const stays = new Set([...plugins, ...members, ...usage])
    const shows: string[] = []
    for (const token of [old.token, pat.value]) {
      for (const workspaceId of [tenant.workspaceId, target]) {
        for (const operation of guarded) {
          const { request, headers } = exampleOf(operation)
          const given = { ...tenant, token, workspaceId }
          const response = await send(server(), operation, {
            ...request(tenant),
            headers: { ...credentialsOf(operation.auth, given), ...headers },
          })
          if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
            await response.body?.cancel()
            if (operation.id !== 'streamLogs') shows.push(operation.id)
            continue
          }
          const text = await response.text()
          if (!response.ok || stays.has(operation.id)) continue
          if (/AuditRecords$/.test(operation.id)) continue
          const tells = [tenant.botId, tenant.conversationId, words]
          const isToldIn = (part: string) => text.includes(part)
          if (operation.auth === 'bot' || tells.some(isToldIn)) {
            shows.push(`${operation.id}: ${text.slice(0, 200)}`)
          }
        }
      }
    }
    expect(shows).toEqual([])
    // Nothing of the bot was changed by those calls.
    expect((await there.getBot({ id: tenant.botId })).bot.name).toBe(words)
    const newcomer = await addMember(moved.workspaceId, 'viewer')
    const asNewcomer = server().client({ ...newcomer, botId: tenant.botId })
    expect((await asNewcomer.getBot({ id: tenant.botId })).bot.name).toBe(words)
    expect((await asNewcomer.listMessages({})).messages.length).toBeGreaterThan(0)
  })

  it('needs the right to delete it where it is, and to create bots where it goes', async () => {
    const { tenant, owner, target, there } = await newTenant()
    const { account } = await owner.getAccount()
    const { workspaceId } = tenant
    const mayLeave = new Set<Role>(['manager', 'administrator', 'owner'])
    const mayEnter = new Set<Role>(['developer', ...mayLeave])
    for (const [here, elsewhere] of roles.flatMap((one) => [
      [one, 'owner' as const],
      ['owner' as const, one],
    ]) as [Role, Role][]) {
      const { bot } = await owner.createBot({ name: 'Some' })
      const { token } = await inDatabase(server(), async (tenants) => {
        const person = await tenants.person()
        await tenants.join(person, { workspace: { workspaceId } }, here)
        await tenants.join(person, { workspace: { workspaceId: target } }, elsewhere)
        return person
      })
      const moving = server()
        .client({ token, workspaceId })
        .transferBot({ id: bot.id, targetWorkspaceId: target })
      if (mayLeave.has(here) && mayEnter.has(elsewhere)) expect(await moving).toEqual({})
      else await expect(moving, `${here} ${elsewhere}`).rejects.toMatchObject({ type: 'Forbidden' })
    }
    // Developers move the bots that they made.
    const developer = await inDatabase(server(), async (tenants) => {
      const person = await tenants.person()
      for (const each of [workspaceId, target]) {
        await tenants.join(person, { workspace: { workspaceId: each } }, 'developer')
      }
      return server().client({ token: person.token, workspaceId })
    })
    const { bot: own } = await developer.createBot({ name: 'Own' })
    await developer.transferBot({ id: own.id, targetWorkspaceId: target })
    expect((await there.getBot({ id: own.id })).bot.name).toBe('Own')
    expect(account.id).toBeDefined()
  })

  it('is refused for what the caller does not see, with tokens that are limited, and to the same workspace', async () => {
    const { tenant, owner, target } = await newTenant()
    const id = tenant.botId
    const stranger = await addAccount(server())
    const unknown = '6f1c1f5e-0000-4000-8000-000000000000'
    const answerOf = async (targetWorkspaceId: string) => {
      const error: unknown = await owner
        .transferBot({ id, targetWorkspaceId })
        .catch((reason: unknown) => reason)
      if (!(error instanceof Error)) throw new Error('It was not refused')
      return error.message.replaceAll(targetWorkspaceId, '')
    }
    expect(await answerOf(stranger.workspaceId)).toBe(await answerOf(unknown))
    await expect(owner.transferBot({ id, targetWorkspaceId: unknown })).rejects.toMatchObject({
      type: 'ReferenceNotFound',
      message: expect.stringContaining('body.targetWorkspaceId'),
    })
    await expect(
      owner.transferBot({ id, targetWorkspaceId: tenant.workspaceId }),
    ).rejects.toMatchObject({
      type: 'InvalidPayload',
      message: expect.stringContaining('body.targetWorkspaceId'),
    })
    const { workspaceId } = tenant
    for (const limits of [{ readOnly: true }, { workspaceId }, { workspaceId, botId: id }]) {
      const { pat } = await owner.createPersonalAccessToken({ note: 'limited', ...limits })
      const limited = server().client({ token: pat.value, workspaceId })
      await expect(limited.transferBot({ id, targetWorkspaceId: target })).rejects.toMatchObject({
        type: 'Forbidden',
      })
    }
    const developer = await inDatabase(server(), async (tenants) => {
      const person = await tenants.person()
      await tenants.join(person, { workspace: { workspaceId } }, 'developer')
      await tenants.join(person, { workspace: { workspaceId: target } }, 'developer')
      return server().client({ token: person.token, workspaceId })
    })
    await owner.updateBotAllowlist({ botId: id, setting: 'SELECTED_USERS' })
    for (const targetWorkspaceId of [target, workspaceId, unknown]) {
      await expect(developer.transferBot({ id, targetWorkspaceId })).rejects.toMatchObject({
        type: 'ResourceNotFound',
      })
    }
    expect((await owner.getBot({ id })).bot.id).toBe(id)
  })

  it('is refused with foreign code that the other workspace may not use, and loses nothing', async () => {
    const { tenant, owner, target, there } = await newTenant()
    const id = tenant.botId
    const { integration: shared } = await owner.createIntegration({
      name: 'shared-mail',
      version: '1.0.0',
      visibility: 'unlisted',
    })
    await owner.updateBot({
      id,
      integrations: {
        mail: { integrationId: tenant.integrationId, enabled: false, configuration: {} },
        shared: { integrationId: shared.id, enabled: false, configuration: {} },
      },
      plugins: { help: { id: tenant.pluginId } },
    })
    const before = await usageOf(tenant.workspaceId)
    const moving = owner.transferBot({ id, targetWorkspaceId: target })
    await expect(moving).rejects.toMatchObject({ type: 'ReferenceConstraint', status: 409 })
    const error: unknown = await moving.catch((reason: unknown) => reason)
    expect(String((error as Error).message)).toMatch(
      /own-mail 1\.0\.\d+ \(as mail\), the plugin own-help/,
    )
    expect(String((error as Error).message)).not.toContain('shared-mail')
    expect(await usageOf(tenant.workspaceId)).toEqual(before)
    expect((await there.listBots()).bots).toEqual([])
    await owner.updateBot({ id, integrations: { mail: null }, plugins: { help: null } })
    await owner.transferBot({ id, targetWorkspaceId: target })
    const headers = { 'x-multiple-integrations': 'true' }
    const { bot } = await server()
      .client({ token: tenant.token, workspaceId: target, headers })
      .getBot({ id })
    expect(Object.keys(bot.integrations)).toContain('shared')
    // It is installed elsewhere now.
    await expect(
      owner.updateIntegration({ id: shared.id, visibility: 'private' }),
    ).rejects.toMatchObject({ type: 'ReferenceConstraint' })
  })

  it('leaves on the list of who may see it those who are members, and who moved it', async () => {
    const { tenant, owner, target, there } = await newTenant()
    const { workspaceId, botId } = tenant
    const ids: string[] = []
    const both = await inDatabase(server(), async (tenants) => {
      for (const places of [[workspaceId], [workspaceId, target]]) {
        const person = await tenants.person()
        ids.push(person.account.accountId)
        for (const place of places) {
          await tenants.join(person, { workspace: { workspaceId: place } }, 'developer')
        }
      }
      return ids[1] ?? ''
    })
    const users = Object.fromEntries(ids.map((id) => [id, true]))
    await owner.updateBotAllowlist({ botId, setting: 'SELECTED_USERS', users })
    await owner.transferBot({ id: botId, targetWorkspaceId: target })
    const { account } = await owner.getAccount()
    const list = await there.getBotAllowlist({ botId })
    expect(list.setting).toBe('SELECTED_USERS')
    expect(list.users.map(({ id }) => id).toSorted()).toEqual([both, account.id].toSorted())
    const other = await addMember(target, 'developer')
    await expect(server().client(other).getBot({ id: botId })).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
  })

  it('leaves no row of the bot in the former workspace, in no table', async () => {
    const { tenant, owner, target } = await newTenant()
    const { botId, workspaceId: from } = tenant
    await inDatabase(server(), async (slices) => {
      const db = slices.db as unknown as AnyDatabase
      const having = (table: TableMetadata, name: string) =>
        table.columns.some((column) => column.name === name)
      const tables = (await db.introspection.getTables()).filter((table) =>
        having(table, 'workspace_id'),
      )
      const ofBots = tables.filter(
        (table) => having(table, 'bot_id') && !Object.hasOwn(staysBehind, table.name),
      )
      const names = (some: TableMetadata[]) => some.map(({ name }) => name).toSorted()
      const others = tables.filter((table) => !having(table, 'bot_id') && table.name !== 'bots')
      expect(names(others), 'tables of workspaces that a transfer must move, or may leave').toEqual(
        Object.keys(ofWorkspaceAlone).toSorted(),
      )
      expect(ofBots.length).toBeGreaterThan(8)
      const countIn = async ({ name }: TableMetadata, workspaceId: string) => {
        const { rows } = await sql<{ n: unknown }>`
          select count(*) as n from ${sql.table(name)}
          where bot_id = ${botId} and workspace_id = ${workspaceId}`.execute(db)
        return Number(rows[0]?.n)
      }
      for (const table of ofBots) {
        if ((await countIn(table, from)) > 0) continue
        const row = Object.fromEntries(
          table.columns
            .filter(
              ({ name, isAutoIncrementing, isNullable, hasDefaultValue }) =>
                ['bot_id', 'workspace_id'].includes(name) ||
                (!isAutoIncrementing && !isNullable && !hasDefaultValue),
            )
            .map(({ name, dataType }) => {
              if (name === 'bot_id') return [name, botId]
              if (name === 'workspace_id') return [name, from]
              if (name === 'level') return [name, 'info']
              if (name === 'account_id') return [name, 'nobody']
              return [name, /text/i.test(dataType) ? '{}' : 1]
            }),
        )
        await slices.run(async (tx) => {
          await (tx as unknown as AnyDatabase).insertInto(table.name).values(row).execute()
        })
      }
      // What could not be opened is not read; its integration does not exist.
      await slices.run(async (tx) => {
        await tx.deleteFrom('installations').where('integration_id', '=', '{}').execute()
      })
      await owner.transferBot({ id: botId, targetWorkspaceId: target })
      await server().pass(60_000)
      await vi.waitFor(async () => {
        const left: string[] = []
        for (const table of ofBots) if ((await countIn(table, from)) > 0) left.push(table.name)
        expect(left, 'tables whose rows do not move with their bot').toEqual([])
      })
      const arrived: string[] = []
      for (const table of ofBots) if ((await countIn(table, target)) > 0) arrived.push(table.name)
      const lost = names(ofBots).filter((name) => !arrived.includes(name))
      expect(lost, 'tables whose rows are lost').toEqual([])
    })
  })

  it('is done once by requests at the same time, and not beside a deletion', async () => {
    for (let round = 0; round < 4; round++) {
      const { tenant, owner, target } = await newTenant()
      const { id: third } = await owner.createWorkspace({ name: 'Third' })
      const id = tenant.botId
      const results = await Promise.allSettled([
        owner.transferBot({ id, targetWorkspaceId: target }),
        owner.transferBot({ id, targetWorkspaceId: third }),
        ...(round % 2 === 1 ? [owner.deleteBot({ id })] : []),
      ])
      const done = results.filter(({ status }) => status === 'fulfilled')
      expect(done).toHaveLength(1)
      for (const result of results) {
        if (result.status === 'rejected') {
          expect(result.reason).toMatchObject({ type: 'ResourceNotFound' })
        }
      }
      const places = await Promise.all(
        [tenant.workspaceId, target, third].map(async (workspaceId) => {
          const client = server().client({ token: tenant.token, workspaceId })
          return (await client.listBots()).bots.length
        }),
      )
      const isDeleted = results[2]?.status === 'fulfilled'
      expect(places.reduce((sum, count) => sum + count, 0)).toBe(isDeleted ? 0 : 1)
      const { records } = await owner.getAuditRecords({ id: tenant.workspaceId })
      const acts = records.filter(({ operation }) =>
        ['transferBot', 'deleteBot'].includes(operation),
      )
      expect(acts).toHaveLength(1)
    }
  })

  it('beside a deletion of the other workspace either comes too late, or is deleted with it', async () => {
    for (let round = 0; round < 4; round++) {
      const { tenant, owner, target, there } = await newTenant()
      const id = tenant.botId
      const [moved] = await Promise.allSettled([
        owner.transferBot({ id, targetWorkspaceId: target }),
        there.deleteWorkspace({ id: target }),
      ])
      const { bots } = await owner.listBots()
      expect(bots.map((bot) => bot.id)).toEqual(moved.status === 'fulfilled' ? [] : [id])
      if (moved.status === 'rejected') {
        expect(moved.reason).toMatchObject({ type: 'ReferenceNotFound' })
      }
      const rows = await inDatabase(server(), ({ db }) =>
        db.selectFrom('bots').select('id').where('workspace_id', '=', target).execute(),
      )
      expect(rows).toEqual([])
    }
  })

  it('counts files exactly that are uploaded and deleted meanwhile', async () => {
    const { tenant, owner, target } = await newTenant()
    const inBot = server().client({ token: tenant.botKey, botId: tenant.botId })
    const upload = async (number: number) => {
      const file = await uploadText(inBot, `file ${number}`, 'x'.repeat(10 + number))
      if (number % 3 === 0) await inBot.deleteFile({ id: file.id })
    }
    const uploads = Array.from({ length: 30 }, (_, number) => upload(number))
    const moves = (async () => {
      await owner.transferBot({ id: tenant.botId, targetWorkspaceId: target })
    })()
    const results = await Promise.allSettled([moves, ...uploads])
    expect(results.filter(({ status }) => status === 'rejected')).toEqual([])
    expect(await usageOf(tenant.workspaceId)).toMatchObject({ storage: 0 })
    const { storage } = await usageOf(target)
    expect(storage).toBeGreaterThan(0)
  })
})

describeEachEngine('the transfer of a bot to a full workspace', (engine) => {
  const server = useServer(engine, { BOTSTEAD_STORAGE_QUOTA_BYTES: '100' })

  it('is refused, and changes nothing', async () => {
    const tenant = await addAccount(server())
    const owner = server().client(tenant)
    const { id: target } = await owner.createWorkspace({ name: 'Target' })
    const there = server().client({ ...tenant, workspaceId: target })
    const { bot: other } = await there.createBot({})
    const { bot } = await owner.createBot({})
    const token = tenant.token
    await uploadText(server().client({ token, botId: other.id }), 'a', 'x'.repeat(60))
    const file = await uploadText(server().client({ token, botId: bot.id }), 'b', 'x'.repeat(60))
    const move = () => owner.transferBot({ id: bot.id, targetWorkspaceId: target })
    await expect(move()).rejects.toMatchObject({ type: 'QuotaExceeded' })
    expect((await owner.getBot({ id: bot.id })).bot.id).toBe(bot.id)
    const { records } = await there.getAuditRecords({ id: target, operation: 'transferBot' })
    expect(records).toEqual([])
    await server().client({ token, botId: bot.id }).deleteFile({ id: file.id })
    await uploadText(server().client({ token, botId: bot.id }), 'b', 'x'.repeat(40))
    await move()
    expect((await there.listBots()).bots).toHaveLength(2)
  })
})
