import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '@botstead/contract'
import { expect, it, vi } from 'vitest'
import { openDatabase } from '../../src/platform/db/open.js'
import { describeEachEngine, type TestEngine } from '../engines.js'
import { type ServerProcess, startServerProcess } from '../processes.js'

const token = 'a-token-for-tests-only'
const passagesPerFile = 240
/** Passages that are there when the server is killed: while documents are read, written, published. */
const rounds = [
  { name: 'ant', written: 0 },
  { name: 'bee', written: 1 },
  { name: 'cow', written: passagesPerFile },
]
const small = {
  configuration: { parsing: { minimumParagraphLength: 0 }, chunking: { maximumChunkLength: 64 } },
}

/** A document of many small passages, so that a kill finds it half written. */
function document(name: string): string {
  const parts = Array.from(
    { length: passagesPerFile },
    (_, at) => `## Part ${at}\n\nThe ${name} number ${at}.`,
  )
  return `# ${name}\n\n${parts.join('\n\n')}`
}

describeEachEngine('indexing under kill -9', (engine) => {
  it('ends for every file in whatever step it was, and for none twice', async () => {
    await using place = await createPlace(engine)
    let server = await startServerProcess(place.environment)
    const botId = await createBot(server)
    const expected = new Map<string, number>()
    let before = 0
    // The steps are the same on both engines; one of them proves what only the other could spoil.
    for (const { name, written } of engine.name === 'sqlite' ? rounds : rounds.slice(1, 2)) {
      const running = createClient({ baseUrl: server.url, token, botId })
      await upload(running, `${name}-1.md`, document(name))
      // Broken beyond repair, between the good ones.
      await upload(running, `${name}.pdf`, '%PDF-1.7 broken')
      await upload(running, `${name}-2.md`, document(name))
      await place.untilWritten(before + written)
      await server.kill()

      server = await startServerProcess(place.environment)
      const client = createClient({ baseUrl: server.url, token, botId })
      expect(await settled(client, `${name}.pdf`)).toMatchObject({
        status: 'indexing_failed',
        failedStatusReason: expect.stringContaining('PDF'),
      })
      for (const key of [`${name}-1.md`, `${name}-2.md`]) {
        const file = await settled(client, key)
        expect(file.status).toBe('indexing_completed')
        expected.set(file.id, passagesPerFile)
      }
      const { passages } = await client.searchFiles({ query: `${name} number 7`, limit: 1 })
      expect(passages[0]?.file.key).toMatch(new RegExp(`^${name}-[12].md$`))
      before = expected.size * passagesPerFile
    }
    await server.stop()
    // Each passage once: what was written half and begun anew left nothing behind.
    expect(await place.countPassages()).toEqual(expected)
  }, 120_000)
})

async function createBot(server: ServerProcess): Promise<string> {
  const baseUrl = server.url
  const { workspaces } = await createClient({ baseUrl, token }).listWorkspaces()
  const admin = createClient({ baseUrl, token, workspaceId: workspaces[0]?.id ?? '' })
  return (await admin.createBot({})).bot.id
}

async function upload(client: Client, key: string, content: string): Promise<void> {
  const size = Buffer.byteLength(content)
  const { file } = await client.upsertFile({ key, size, index: true, indexing: small })
  const response = await fetch(file.uploadUrl, { method: 'PUT', body: content })
  expect(response.ok).toBe(true)
}

/** The file once its indexing has ended; with PostgreSQL the leases of a killed server run out first. */
async function settled(client: Client, idOrKey: string) {
  for (;;) {
    const { file } = await client.getFile({ id: idOrKey, waitFor: 'indexing_completed' })
    if (file.status !== 'indexing_pending') return file
  }
}

async function createPlace(engine: TestEngine) {
  const dataDir = await mkdtemp(join(tmpdir(), 'botstead-indexing-'))
  const place = await engine.createPlace()
  const url = place.options.url
  const options = url === undefined ? { file: join(dataDir, 'botstead.db') } : { url }

  async function countPassages(): Promise<Map<string | undefined, number>> {
    await using database = await openDatabase(options)
    const rows = await database.db
      .selectFrom('passages')
      .select((eb) => ['file_id', eb.fn.countAll<number>().as('count')])
      .groupBy('file_id')
      .execute()
    return new Map(rows.map(({ file_id, count }) => [file_id, Number(count)]))
  }

  return {
    environment: {
      BOTSTEAD_DATA_DIR: dataDir,
      BOTSTEAD_ADMIN_TOKEN: token,
      LOG_LEVEL: 'error',
      // With SQLite a start takes up at once what the last process left, whatever the lease.
      ...(url !== undefined && { DATABASE_URL: url, BOTSTEAD_JOB_LEASE_MS: '1s' }),
    },
    countPassages,
    untilWritten: (least: number) =>
      vi.waitFor(
        async () => {
          const counts = [...(await countPassages()).values()]
          const total = counts.reduce((sum, count) => sum + count, 0)
          expect(total).toBeGreaterThanOrEqual(least)
        },
        { timeout: 60_000, interval: 5 },
      ),
    [Symbol.asyncDispose]: async () => {
      await place.remove()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
