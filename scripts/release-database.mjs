// Makes the databases of a release, from which tests of upgrades start: on SQLite, and on the empty
// PostgreSQL database of DATABASE_URL, which pg_dump must be able to read. To be run once a release:
//   DATABASE_URL=postgres://... node scripts/release-database.mjs apps/server/test/releases/0.1.0
// The optional second argument is the command of another build: apps/server/bin/botstead.js.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'

const ofServer = createRequire(resolve('apps/server/package.json'))
const { createClient } = await import(ofServer.resolve('@botstead/contract'))
const { DatabaseSync } = ofServer('@photostructure/sqlite')
const pg = ofServer('pg')

const [folder, command = resolve('apps/server/bin/botstead.js')] = process.argv.slice(2)
const url = process.env.DATABASE_URL
if (!folder || !url) throw new Error('Name the folder, and an empty database in DATABASE_URL.')
const secret = 'the secret of the databases of releases'
const token = 'bp_pat_of_the_databases_of_releases'
const port = 18_797

/** Starts the server, makes one of everything, and stops it. */
async function use(environment) {
  const child = spawn(process.execPath, [command, 'start'], {
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      BOTSTEAD_SECRET: secret,
      BOTSTEAD_ADMIN_TOKEN: token,
      BOTSTEAD_DISK_RESERVE_BYTES: '0',
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(child, 'exit')
  const baseUrl = `http://127.0.0.1:${port}`
  while (!(await fetch(`${baseUrl}/readyz`).catch(() => undefined))?.ok) {
    if (child.exitCode !== null) throw new Error('The server did not start.')
    await new Promise((wake) => setTimeout(wake, 100))
  }
  const account = createClient({ baseUrl, token })
  const { workspaces } = await account.listWorkspaces({})
  const workspaceId = workspaces[0].id
  const admin = createClient({ baseUrl, token, workspaceId })
  const { bot } = await admin.createBot({ name: 'Release', tags: { whose: 'own' } })
  await admin.createBotApiKey({ botId: bot.id, note: 'Release' })
  const webhookId = Object.values(bot.integrations)[0].webhookId
  const { user, key: userKey } = await createClient({ baseUrl, webhookId }).chatCreateUser({
    name: 'Guest',
  })
  const chat = createClient({ baseUrl, webhookId, userKey })
  const runtime = createClient({ baseUrl, token, workspaceId, botId: bot.id })
  const { conversation } = await chat.chatCreateConversation({})
  for (const text of ['Hello', 'What does the zebra eat?']) {
    await chat.chatCreateMessage({
      conversationId: conversation.id,
      payload: { type: 'text', text },
    })
  }
  await runtime.createEvent({ type: 'noticed', payload: {}, schedule: { delay: 86_400_000 } })
  await runtime.createWorkflow({
    name: 'greet',
    status: 'listening',
    conversationId: conversation.id,
  })
  await runtime.setState({
    type: 'conversation',
    id: conversation.id,
    name: 'noted',
    payload: { words: 'kept' },
  })
  await admin.createIntegration({ name: 'own-mail', version: '1.0.0' })
  await admin.createInterface({ name: 'own-list', version: '1.0.0' })
  await admin.createPlugin({
    name: 'own-help',
    version: '1.0.0',
    code: { node: 'say()', browser: '' },
  })
  await runtime.createKnowledgeBase({ name: 'Animals' })
  const text = '# Zebras\n\nThe zebra eats grass.'
  const { file } = await runtime.upsertFile({
    key: 'zebra.md',
    size: Buffer.byteLength(text),
    index: true,
    tags: { whose: 'own' },
  })
  await fetch(file.uploadUrl, { method: 'PUT', body: text })
  for (let status = ''; status !== 'indexing_completed'; ) {
    status = (await runtime.getFile({ id: file.id })).file.status
    if (status === 'indexing_failed') throw new Error('The file was not indexed.')
    await new Promise((wake) => setTimeout(wake, 100))
  }
  child.kill('SIGTERM')
  await ended
  return {
    workspaceId,
    botId: bot.id,
    userId: user.id,
    userKey,
    webhookId,
    conversationId: conversation.id,
  }
}

/** A value of a column that no row of the server has: text that is JSON too, or 1. */
const sampleOf = (type) =>
  /text/i.test(type) ? '{}' : /blob|bytea/i.test(type) ? Buffer.from('{}') : 1

/** Adds a row to each table that has none; returns the names of those that take none. */
async function fillEmpty(tables, { count, insert }) {
  const refused = []
  for (const [name, columns] of tables) {
    if ((await count(name)) > 0) continue
    const needed = columns.filter((column) => column.isNeeded)
    try {
      await insert(
        name,
        needed.map((column) => column.name),
        needed.map((column) => sampleOf(column.type)),
      )
    } catch (error) {
      refused.push(`${name} (${error.message})`)
    }
  }
  return refused
}

mkdirSync(folder, { recursive: true })
const work = mkdtempSync(join(tmpdir(), 'botstead-release-'))
const known = { secret, token }

known.sqlite = await use({ BOTSTEAD_DATA_DIR: join(work, 'sqlite') })
{
  const file = join(work, 'sqlite', 'botstead.db')
  const database = new DatabaseSync(file)
  const names = database
    .prepare(`select name from sqlite_schema where type = 'table' and name not like 'sqlite%'
      and sql not like 'create virtual%' and name not in (
        select shadow.name from sqlite_schema as virtual join sqlite_schema as shadow
          on shadow.name like virtual.name || '\\_%' escape '\\'
        where virtual.sql like 'create virtual%')`)
    .all()
  const tables = names.map(({ name }) => [
    name,
    database
      .prepare(`pragma table_info("${name}")`)
      .all()
      .map((column) => ({
        name: column.name,
        type: column.type,
        isNeeded: column.notnull === 1 && column.dflt_value === null,
      })),
  ])
  const refused = await fillEmpty(tables, {
    count: (name) => database.prepare(`select count(*) as n from "${name}"`).get().n,
    insert: (name, columns, values) =>
      database
        .prepare(
          columns.length === 0
            ? `insert into "${name}" default values`
            : `insert into "${name}" (${columns.join()}) values (${columns.map(() => '?').join()})`,
        )
        .run(...values),
  })
  database.exec('pragma wal_checkpoint(truncate); pragma journal_mode = delete; vacuum')
  database.close()
  writeFileSync(join(folder, 'sqlite.db.gz'), gzipSync(readFileSync(file), { level: 9 }))
  console.log(`SQLite: ${tables.length} tables; without a row: ${refused.join(', ') || 'none'}`)
}

known.postgres = await use({ BOTSTEAD_DATA_DIR: join(work, 'postgres'), DATABASE_URL: url })
{
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(`
    select table_name as table, column_name as name, data_type as type,
      is_nullable = 'NO' and column_default is null and is_identity = 'NO' as "isNeeded"
    from information_schema.columns where table_schema = 'public' order by ordinal_position`)
  const tables = [...groupByTable(rows)]
  const refused = await fillEmpty(tables, {
    count: async (name) =>
      Number((await client.query(`select count(*) from "${name}"`)).rows[0].count),
    insert: (name, columns, values) =>
      client.query(
        columns.length === 0
          ? `insert into "${name}" default values`
          : `insert into "${name}" (${columns.join()}) values (${columns.map((_, at) => `$${at + 1}`).join()})`,
        values,
      ),
  })
  await client.end()
  const dump = execFileSync('pg_dump', ['--inserts', '--no-owner', '--no-privileges', url], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  // Commands of psql, which a driver cannot send.
  const statements = dump.replace(/^\\.*$/gm, '')
  writeFileSync(join(folder, 'postgres.sql.gz'), gzipSync(statements, { level: 9 }))
  console.log(`PostgreSQL: ${tables.length} tables; without a row: ${refused.join(', ') || 'none'}`)
}
writeFileSync(join(folder, 'known.json'), `${JSON.stringify(known, null, 2)}\n`)
rmSync(work, { recursive: true, force: true })

function groupByTable(rows) {
  const groups = new Map()
  for (const row of rows) groups.set(row.table, [...(groups.get(row.table) ?? []), row])
  return groups
}
