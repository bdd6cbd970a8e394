import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type SyncedFile, syncedFile } from '../../src/platform/db/log-sync.js'
import { openDatabase } from '../../src/platform/db/open.js'
import { engines } from '../engines.js'
import { blockedUntil, foundFile } from '../fixtures/blocked-find-words.js'
import { startTestServer } from '../harness.js'
import { untilIndexed, uploadText } from '../tenant.js'

const findEntry = new URL('../fixtures/blocked-find-worker.js', import.meta.url)

/** A disk that stores the log of a database when a test lets it. */
function createDisk() {
  let held: Promise<void> | undefined
  return {
    syncLog(path: string): SyncedFile {
      const log = syncedFile(path)
      return {
        async sync() {
          await held
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
  }
}

async function startOn({ syncLog }: ReturnType<typeof createDisk>) {
  const engine = engines.find(({ name }) => name === 'sqlite')
  if (engine === undefined) throw new Error('SQLite is always there')
  return await startTestServer(engine, {}, undefined, { findEntry, syncLog })
}

describe('a change that is committed and not on the disk yet', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'botstead-sync-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('is neither reported, read nor seen by a search', async () => {
    const disk = createDisk()
    const server = await startOn(disk)
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

      // Who calls stays known: a look at the database would wait too.
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
