import { type Kysely, sql, type TableMetadata } from 'kysely'
import { expect, it, vi } from 'vitest'
import { describeSlow } from '../engines.js'
import { useServer } from '../harness.js'
import { inDatabase } from './seed.js'

type AnyDatabase = Kysely<Record<string, Record<string, unknown>>>

/** Tables whose rows are deleted otherwise, although they name a bot. */
const deletedOtherwise = new Set([
  // By age.
  'events',
  'usage_days',
  // With the upload that they are parts of, and with the vectors that the engine has.
  'content_parts',
  'semantic_spaces',
  'passages_without_vector',
])
/** Tables with the audit log of a workspace, which outlives it until its records expire. */
const keptByRetention = new Set(['audit_records', 'audit_heads'])
/** As an id it links the rows to each other; as JSON it is empty; as a time it is never old. */
const text = '{}'

/** A row of a bot in a table, of whatever columns the table has. */
function rowIn({ columns }: TableMetadata, botId: string): Record<string, unknown> {
  const needed = columns.filter(
    (column) =>
      !column.isAutoIncrementing &&
      (column.name === 'bot_id' || (!column.isNullable && !column.hasDefaultValue)),
  )
  return Object.fromEntries(
    needed.map(({ name, dataType }) => [
      name,
      name === 'bot_id' ? botId : /text/i.test(dataType) ? text : 1,
    ]),
  )
}

/** Names of tables with rows of a bot or a workspace. */
async function tablesWith(
  db: AnyDatabase,
  tables: readonly string[],
  column: 'bot_id' | 'workspace_id',
  id: string,
) {
  const counts = await Promise.all(
    tables.map(async (table) => {
      const { rows } = await sql<{ found: unknown }>`
        select 1 as found from ${sql.table(table)} where ${sql.ref(column)} = ${id} limit 1`.execute(
        db,
      )
      return rows.length > 0 ? [table] : []
    }),
  )
  return counts.flat()
}

describeSlow('rows of a bot', (engine) => {
  const server = useServer(engine)

  it('are deleted after it from every table, and those of another bot stay', async () => {
    const client = server().client()
    const gone = (await client.createBot({ name: 'Gone' })).bot.id
    const other = (await client.createBot({ name: 'Other' })).bot.id
    const inBot = server().client({ botId: gone })
    const { file } = await inBot.upsertFile({
      key: 'a.txt',
      size: 5,
      index: true,
      tags: { a: 'b' },
    })
    await fetch(file.uploadUrl, { method: 'PUT', body: 'hello' })
    await vi.waitFor(async () =>
      expect((await inBot.getFile({ id: file.id })).file.status).toBe('indexing_completed'),
    )
    await inDatabase(server(), async (slices) => {
      const db = slices.db as unknown as AnyDatabase
      const tables = (await db.introspection.getTables()).filter(
        ({ name, columns }) =>
          !deletedOtherwise.has(name) && columns.some((column) => column.name === 'bot_id'),
      )
      const names = tables.map(({ name }) => name)
      expect(names.length).toBeGreaterThan(25)
      const filled = await tablesWith(db, names, 'bot_id', gone)
      for (const table of tables) {
        // Tables that bots and their files fill by themselves have real rows.
        if (filled.includes(table.name)) continue
        const row = rowIn(table, gone)
        await slices.run(async (tx) => {
          await (tx as unknown as AnyDatabase).insertInto(table.name).values(row).execute()
        })
      }
      expect(await tablesWith(db, names, 'bot_id', gone)).toEqual(names)
      const others = await tablesWith(db, names, 'bot_id', other)

      await client.deleteBot({ id: gone })
      await server().pass(60_000)
      await vi.waitFor(async () =>
        expect(await tablesWith(db, names, 'bot_id', gone), 'tables that no slice purges').toEqual(
          [],
        ),
      )
      expect(await tablesWith(db, names, 'bot_id', other)).toEqual(others)
    })
  })

  it('are deleted with its workspace, as is what belongs to the workspace', async () => {
    const { id: workspaceId } = await server().client().createWorkspace({ name: 'Gone' })
    const { bot } = await server().client({ workspaceId }).createBot({})
    const inBot = server().client({ workspaceId, botId: bot.id })
    const { file } = await inBot.upsertFile({ key: 'a.txt', size: 5 })
    await fetch(file.uploadUrl, { method: 'PUT', body: 'hello' })
    const admin = server().client({ workspaceId })
    const made = { name: 'mail', version: '1.0.0' }
    const { interface: list } = await admin.createInterface(made)
    await admin.createIntegration({ ...made, interfaces: { list: { id: list.id } } })
    const { plugin } = await admin.createPlugin({ ...made, code: { node: 'a', browser: 'b' } })
    await admin.updateBot({ id: bot.id, plugins: { mail: { id: plugin.id } } })
    await inDatabase(server(), async (slices) => {
      const db = slices.db as unknown as AnyDatabase
      const names = (await db.introspection.getTables())
        .filter(
          ({ name, columns }) =>
            !keptByRetention.has(name) && columns.some((column) => column.name === 'workspace_id'),
        )
        .map(({ name }) => name)
      const filled = () => tablesWith(db, names, 'workspace_id', workspaceId)
      const some = ['bots', 'file_usage', 'files', 'integrations', 'installations', 'interfaces']
      const others = ['interface_uses', 'plugins', 'plugin_codes', 'plugin_installations']
      expect(await filled()).toEqual(expect.arrayContaining([...some, ...others]))
      await admin.deleteWorkspace({ id: workspaceId })
      await server().pass(60_000)
      await vi.waitFor(async () =>
        expect(await filled(), 'tables that keep rows of the workspace').toEqual([]),
      )
    })
  })
})
