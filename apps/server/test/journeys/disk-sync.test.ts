import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@botstead/contract'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startServer } from '../../src/app/container.js'
import { type SyncedFile, syncedFile } from '../../src/platform/db/log-sync.js'
import { openDatabase } from '../../src/platform/db/open.js'
import { createLog } from '../../src/platform/telemetry/log.js'
import { engines } from '../engines.js'
import { blockedUntil, foundFile } from '../fixtures/blocked-find-words.js'
import { startTestServer } from '../harness.js'
import { programEntry } from '../programs.js'
import { untilIndexed, uploadText } from '../tenant.js'

const findEntry = programEntry('blocked-find-worker')

/** A disk that stores the log of a database when a test lets it. */
function createDisk() {
  let held: Promise<void> | undefined
  let failure: Error | undefined
  return {
    syncLog(path: string): SyncedFile {
      const log = syncedFile(path)
      return {
        async sync() {
          await held
          if (failure !== undefined) throw failure
          await log.sync()
        },
        close: log.close,
      }
    },
    /** Holds up all syncs until the returned function is called. */
    hold(): () => void {
      let release = () => {}
      held = new Promise((resolve) => {
        release = resolve
      })
      return release
    },
    fail(): void {
      failure = new Error('EIO: i/o error, fdatasync')
    },
  }
}

async function startOn({ syncLog }: ReturnType<typeof createDisk>) {
  const engine = engines.find(({ name }) => name === 'sqlite')
  if (engine === undefined) throw new Error('SQLite is always there')
  const logged: { level: string; msg: string; reason?: string; err?: { message: string } }[] = []
  const destination = { write: (line: string) => void logged.push(JSON.parse(line)) }
  const log = await createLog({ level: 'info', destination })
  const server = await startTestServer(engine, {}, log, { findEntry, syncLog })
  return { server, log, logged }
}

describe('a change that is committed and not on the disk yet', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'botstead-sync-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('is neither reported, read nor seen by a search', async () => {
    const disk = createDisk()
    const { server } = await startOn(disk)
    const file = join(server.server.config.dataDir, 'botstead.db')
    const beside = await openDatabase({ file })
    try {
      const { bot } = await server.client().createBot({})
      const inBot = server.client({ botId: bot.id })
      const go = join(folder, 'go')
      await writeFile(go, '')
      const query = `${blockedUntil}${go}`
      const { id } = await uploadText(inBot, 'a.md', query, true)
      await untilIndexed(inBot, id)
      const search = () => inBot.searchFiles({ query })
      expect((await search()).passages).toHaveLength(1)
      await rm(foundFile(go))

      // The caller stays cached: a look at the database would wait too.
      await server.clock.hold(async () => {
        await inBot.listFiles({})
        const ended: string[] = []
        const noted = async <T>(name: string, call: Promise<T>) => {
          const result = await call
          ended.push(name)
          return result
        }
        const release = disk.hold()
        const deleting = noted('deletion', inBot.deleteFile({ id }))
        await vi.waitUntil(async () => {
          const rows = await beside.db.selectFrom('files').select('id').execute()
          return rows.length === 0
        })
        const listing = noted('list', inBot.listFiles({}))
        const searching = noted('search', search())
        await vi.waitUntil(() => existsSync(foundFile(go)))
        for (let calls = 0; calls < 5; calls += 1) await server.fetch('/healthz')
        expect(ended).toEqual([])

        release()
        await deleting
        expect((await listing).files).toEqual([])
        expect((await searching).passages).toEqual([])
      })
    } finally {
      await beside.close()
      await server.close()
    }
  })
})

describe('a disk that fails to store the log of the database', () => {
  it('ends what needs the database until a restart, which finds all that was acknowledged', async () => {
    const disk = createDisk()
    const { server, log, logged } = await startOn(disk)
    const { token, workspaceId } = server
    const headers = {
      authorization: `Bearer ${token}`,
      'x-workspace-id': workspaceId,
      'content-type': 'application/json',
    }
    const post = (name: string) =>
      server.fetch('/v1/admin/bots', { method: 'POST', headers, body: JSON.stringify({ name }) })
    const ready = () => server.fetch('/readyz')
    let again: Awaited<ReturnType<typeof startServer>> | undefined
    try {
      const { bot } = await server.client().createBot({ name: 'before' })
      expect((await ready()).status).toBe(200)

      disk.fail()
      const unavailable = {
        id: expect.stringMatching(/^req_/),
        code: 503,
        type: 'Internal',
        message: expect.stringContaining('The database does not respond'),
        metadata: { retryAfterSeconds: 5 },
      }
      for (const response of [await post('lost'), await post('refused')]) {
        expect(response.status).toBe(503)
        expect(response.headers.get('retry-after')).toBe('5')
        expect(await response.json()).toEqual(unavailable)
      }
      const read = await server.fetch('/v1/admin/bots', { headers })
      expect([read.status, await read.json()]).toEqual([503, unavailable])
      // The result of a probe is reused for a moment.
      const notReady = await vi.waitFor(async () => {
        const response = await ready()
        expect(response.status).toBe(503)
        return response
      })
      expect(await notReady.json()).toMatchObject({
        message: expect.stringContaining('The server is not ready: "database" does not work'),
      })
      expect((await server.fetch('/healthz')).status).toBe(200)

      const advice =
        'The disk failed to store the log of the database: check the disk, then restart the server.'
      expect(logged).toContainEqual(
        expect.objectContaining({
          level: 'error',
          msg: 'the disk failed to store the log of the database: nothing more is stored',
          err: expect.objectContaining({ message: 'EIO: i/o error, fdatasync' }),
        }),
      )
      const requests = logged.filter(({ msg }) => msg === 'request failed')
      expect(requests.filter(({ reason }) => reason === advice).length).toBeGreaterThanOrEqual(4)

      await server.server.stop(5000)
      expect(logged.map(({ msg }) => msg)).not.toContain('a part did not end cleanly')
      again = await startServer({ config: server.server.config, log })
      expect((await fetch(`${again.address}/readyz`)).status).toBe(200)
      const client = createClient({ baseUrl: again.address, token, workspaceId })
      const names = (await client.listBots({})).bots.map(({ name }) => name)
      expect(names).toContain(bot.name)
      expect((await client.createBot({ name: 'after' })).bot.name).toBe('after')
    } finally {
      await again?.stop(5000)
      await server.close()
    }
  })
})
