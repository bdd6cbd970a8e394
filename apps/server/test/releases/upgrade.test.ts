import { access, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { createClient } from '@botstead/contract'
import { DatabaseSync } from '@photostructure/sqlite'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { fail } from '../backups.js'
import { type CommandPlace, createCommandPlace } from '../command-place.js'
import { describeSlow } from '../engines.js'
import { startServerProcess } from '../processes.js'
import { untilIndexed } from '../tenant.js'

/** The contents of the databases of a release; scripts/release-database.mjs makes them. */
interface Known {
  secret: string
  token: string
  sqlite: KnownIds
  postgres: KnownIds
}

interface KnownIds {
  workspaceId: string
  botId: string
  userKey: string
  webhookId: string
  conversationId: string
}

const folder = fileURLToPath(new URL('./', import.meta.url))
const entries = await readdir(folder, { withFileTypes: true })
const releases = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)

/** Puts the database of a release into an empty place. */
async function unpack(release: string, { dataDir, options }: CommandPlace): Promise<void> {
  const { url } = options
  const name = url === undefined ? 'sqlite.db.gz' : 'postgres.sql.gz'
  const bytes = gunzipSync(await readFile(join(folder, release, name)))
  if (url === undefined) return await writeFile(join(dataDir, 'botstead.db'), bytes)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(bytes.toString('utf8'))
  await client.end()
}

/** Pretends that a later release has migrated the database. */
async function addFutureMigration({ dataDir, options: { url } }: CommandPlace): Promise<void> {
  const statement = "insert into migrations (name, applied_at) values ('9999-future', 'later')"
  if (url === undefined) {
    const database = new DatabaseSync(join(dataDir, 'botstead.db'))
    database.exec(statement)
    database.close()
    return
  }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(statement)
  await client.end()
}

describe.each(releases)('a database of release %s', (release) => {
  describeSlow('an upgrade', (engine) => {
    it('keeps everything that was in it', async () => {
      await using place = await createCommandPlace(engine, { isEmpty: true })
      await unpack(release, place)
      const text = await readFile(join(folder, release, 'known.json'), 'utf8')
      const known = JSON.parse(text) as Known
      const { secret, token } = known
      const { workspaceId, botId, userKey, webhookId, conversationId } = known[engine.name]
      const environment = { ...place.environment, BOTSTEAD_SECRET: secret }
      await using server = await startServerProcess(environment)
      if (engine.name === 'sqlite') {
        await access(join(place.dataDir, 'botstead.db.before-migration'))
        expect(server.output()).toContain('migrating the database')
      }
      const baseUrl = server.url
      const chat = createClient({ baseUrl, webhookId, userKey })
      const { messages } = await chat.chatListMessages({ conversationId })
      expect(messages.map(({ payload }) => payload)).toEqual(
        expect.arrayContaining([
          { type: 'text', text: 'Hello' },
          { type: 'text', text: 'What does the zebra eat?' },
        ]),
      )
      await chat.chatCreateMessage({ conversationId, payload: { type: 'text', text: 'Again' } })
      const runtime = createClient({ baseUrl, token, workspaceId, botId })
      const { passages } = await runtime.searchFiles({ query: 'zebra grass' })
      expect(passages[0]?.content).toContain('grass')
      const { file } = await runtime.getFile({ id: 'zebra.md' })
      expect(await (await fetch(rebase(file.url, baseUrl))).text()).toContain('# Zebras')
      // That release did not record what it could not read.
      const reportOf = async () => (await runtime.getFileIndexingReport({ id: file.id })).report
      expect(file).not.toHaveProperty('indexingOmissions')
      expect((await reportOf()).outcome).toBe('unknown')
      await runtime.reindexFile({ id: file.id })
      expect(await untilIndexed(runtime, file.id)).toMatchObject({ indexingOmissions: 0 })
      expect((await reportOf()).outcome).toBe('all_read')
      const { state } = await runtime.getState({
        type: 'conversation',
        id: conversationId,
        name: 'noted',
      })
      expect(state.payload).toEqual({ words: 'kept' })
      expect(await server.stop()).toBe(0)
    })

    it('is refused when a later release was there, with the way back', async () => {
      await using place = await createCommandPlace(engine, { isEmpty: true })
      await unpack(release, place)
      await addFutureMigration(place)
      const text = await fail(['start'], { ...place.environment, PORT: '0' })
      expect(text).toContain('newer release, which added 9999-future')
      expect(text).toContain('restore a backup from before the upgrade')
      if (engine.name === 'sqlite') expect(text).toContain('botstead.db.before-migration')
    })
  })
})

/** The address of a file at the server of the test, whose port is another one. */
function rebase(address: string, baseUrl: string): string {
  const { pathname, search } = new URL(address)
  return `${baseUrl}${pathname}${search}`
}
