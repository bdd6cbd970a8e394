import { allOperations, type Operation } from '@botstead/contract'
import { type Kysely, sql } from 'kysely'
import { expect, it, vi } from 'vitest'
import { dialectOf } from '../../src/platform/db/dialect.js'
import type { Schema } from '../../src/platform/db/schema.js'
import { ownerOf } from '../actors.js'
import { describeSlow } from '../engines.js'
import { credentialsOf, exampleOf } from '../examples.js'
import { useServer } from '../harness.js'
import { send } from '../request.js'
import { addAccount, settle, type Tenant } from '../tenant.js'
import { inDatabase } from './seed.js'
import { countWaiting, patientWithLocks } from './waiting.js'

type AnyDatabase = Kysely<Record<string, Record<string, unknown>>>

/** Operations that write with a credential of the workspace; those about the account itself do not belong to one. */
const writing = allOperations.filter(
  ({ method, auth }) =>
    !['GET', 'HEAD', 'DELETE'].includes(method) &&
    ['workspace', 'bot', 'chat', 'chat-user'].includes(auth),
)
/** Operations that create something in a workspace. */
const creating = writing.filter(({ auth, status }) => auth === 'workspace' && status === 201)

describeSlow('what is created in a workspace', (engine) => {
  const server = useServer(engine, {}, patientWithLocks)

  async function newTenant() {
    const tenant = await settle(server(), await addAccount(server()))
    const { account } = await server().client(tenant).getAccount()
    const actor = ownerOf(tenant.workspaceId, account.id)
    /** Deletes the workspace in another process, whose hint to the server is lost. */
    const removeElsewhere = () =>
      inDatabase(server(), ({ workspaces }) => workspaces.remove(actor, tenant.workspaceId))
    return { tenant, removeElsewhere }
  }

  async function call(operation: Operation, tenant: Tenant): Promise<number> {
    const { request, headers } = exampleOf(operation)
    const response = await send(server(), operation, {
      ...request(tenant),
      headers: { ...credentialsOf(operation.auth, tenant), ...headers },
    })
    await response.body?.cancel()
    return response.status
  }

  /** Names of tables that have rows of the workspace, or of one of its bots. */
  async function remainsOf(ids: {
    workspace_id: string
    bot_id?: string
    withBots: boolean
  }): Promise<string[]> {
    return await inDatabase(server(), async (slices) => {
      const db: Kysely<Schema> = slices.db
      const tables = await (db as unknown as AnyDatabase).introspection.getTables()
      const found: string[] = []
      for (const { name, columns } of tables) {
        const has = (column: string) => columns.some((one) => one.name === column)
        // Rows of these tables are deleted by age.
        if (name === 'events' || name.startsWith('audit_')) continue
        const isOfBots = name === 'file_usage' || (has('bot_id') && name !== 'access_tokens')
        if (!ids.withBots && isOfBots) continue
        for (const column of ['workspace_id', 'bot_id'] as const) {
          const id = ids[column]
          if (!has(column) || id === undefined) continue
          const { rows } = await sql`
            select 1 from ${sql.table(name)} where ${sql.ref(column)} = ${id} limit 1`.execute(db)
          if (rows.length > 0) found.push(`${name}.${column}`)
        }
      }
      return found
    })
  }

  it('creations do not outlive the workspace, even at a process that has missed its deletion', async () => {
    const { tenant, removeElsewhere } = await newTenant()
    const { workspaceId, botId } = tenant
    const statuses = await server().clock.hold(async () => {
      const client = server().client(tenant)
      await Promise.all([client.listBots(), client.listFiles(), client.chatGetUser()])
      await removeElsewhere()
      // The process still accepts the caller: the creation itself must refuse.
      expect((await client.listBots()).bots).toEqual([])
      expect((await client.listConversations()).conversations).not.toEqual([])
      const calls = writing.map(async (operation) => [operation.id, await call(operation, tenant)])
      return Object.fromEntries(await Promise.all(calls))
    })
    expect(creating.length).toBeGreaterThan(7)
    const created = creating.filter(({ id }) => statuses[id] < 300)
    expect(created.map(({ id }) => id)).toEqual([])
    expect(await remainsOf({ workspace_id: workspaceId, withBots: false })).toEqual([])
    // Rows that were created in its bots are deleted with the bots.
    await server().pass(60_000)
    const remains = { workspace_id: workspaceId, bot_id: botId, withBots: true }
    await vi.waitFor(async () => expect(await remainsOf(remains)).toEqual([]), 20_000)
  })

  /** Creations that wait for the deletion of the workspace: a version belongs to a bot, which it locks. */
  const holding = creating.filter(({ id }) => id !== 'createBotVersion')

  /**
   * Makes creations and the deletion meet. On PostgreSQL, the row of the workspace is held until the first and then the
   * second wait for it; transactions of SQLite run one after the other anyway.
   */
  async function meet(workspaceId: string, steps: readonly (() => Promise<unknown>)[][]) {
    if (engine.name === 'sqlite') {
      await Promise.all(steps.flat().map((step) => step()))
      return
    }
    const under: Promise<unknown>[] = []
    await inDatabase(server(), async ({ run }) => {
      await run(async (tx) => {
        const row = tx.selectFrom('workspaces').select('id').where('id', '=', workspaceId)
        await dialectOf(tx).lockRows(row).execute()
        for (const together of steps) {
          under.push(...together.map((step) => step()))
          await vi.waitUntil(async () => (await countWaiting(tx)) === under.length)
        }
      })
    })
    await Promise.all(under)
  }

  it.each(['creation', 'deletion'] as const)(
    'a creation at the same time as the deletion is gone with it, with the %s first',
    async (first) => {
      const { tenant, removeElsewhere } = await newTenant()
      const { workspaceId } = tenant
      const statuses: number[] = []
      await server().clock.hold(async () => {
        await server().client(tenant).listBots()
        const creations = holding.map((operation) => async () => {
          statuses.push(await call(operation, tenant))
        })
        const steps = [creations, [removeElsewhere]]
        await meet(workspaceId, first === 'creation' ? steps : steps.toReversed())
      })
      expect(statuses).toHaveLength(holding.length)
      for (const status of statuses) expect([201, 400, 401, 404]).toContain(status)
      // PostgreSQL serves those who wait for a row in their order.
      if (engine.name === 'postgres') {
        expect(statuses.includes(201)).toBe(first === 'creation')
      }
      expect(await remainsOf({ workspace_id: workspaceId, withBots: false })).toEqual([])
    },
  )

  it('a job deletes what an earlier server created after the deletion', async () => {
    const { tenant, removeElsewhere } = await newTenant()
    const { workspaceId } = tenant
    const other = await newTenant()
    await removeElsewhere()
    await inDatabase(server(), ({ run, ids, queue, clock }) =>
      run(async (tx) => {
        const bot = await tx
          .selectFrom('bots')
          .selectAll()
          .where('id', '=', other.tenant.botId)
          .executeTakeFirstOrThrow()
        await tx
          .insertInto('bots')
          .values({ ...bot, id: ids.uuid(), workspace_id: workspaceId })
          .execute()
        for (const id of [workspaceId, other.tenant.workspaceId]) {
          const payload = { workspaceId: id }
          const runAt = clock.now()
          await queue.enqueue(tx, { kind: 'workspaces.leftovers', key: id, payload, runAt })
        }
      }),
    )
    expect(await remainsOf({ workspace_id: workspaceId, withBots: false })).toEqual([
      'bots.workspace_id',
    ])
    await server().pass(60_000)
    await vi.waitFor(async () =>
      expect(await remainsOf({ workspace_id: workspaceId, withBots: true })).toEqual([]),
    )
    // A workspace that is there stays.
    expect((await server().client(other.tenant).listBots()).bots).toHaveLength(1)
  })

  it('is gone with a workspace of thousands of bots', async () => {
    const { tenant } = await newTenant()
    const { workspaceId } = tenant
    await inDatabase(server(), ({ run, ids }) =>
      run(async (tx) => {
        const bot = await tx
          .selectFrom('bots')
          .selectAll()
          .where('workspace_id', '=', workspaceId)
          .executeTakeFirstOrThrow()
        for (let times = 0; times < 25; times += 1) {
          const copies = Array.from({ length: 100 }, () => ({ ...bot, id: ids.uuid() }))
          await tx.insertInto('bots').values(copies).execute()
        }
      }),
    )
    await server().client(tenant).deleteWorkspace({ id: workspaceId })
    // While thousands of jobs start, a slow database may refuse a call for want of a connection.
    await vi.waitFor(
      () => expect(server().client(tenant).listBots()).rejects.toMatchObject({ status: 401 }),
      20_000,
    )
    await vi.waitFor(
      async () =>
        expect(await remainsOf({ workspace_id: workspaceId, withBots: false })).toEqual([]),
      20_000,
    )
  })
})
