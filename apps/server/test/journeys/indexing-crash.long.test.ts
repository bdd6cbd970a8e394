import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { constants, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { type FileHandle, mkdtemp, open, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Client, createClient } from '@botstead/contract'
import { describe, expect, it, vi } from 'vitest'
import { smallBlobBytes } from '../../src/platform/blobs/small-blob-store.js'
import { type Database, openDatabase } from '../../src/platform/db/open.js'
import { describeEachEngine, engines, type TestEngine } from '../engines.js'
import { type ServerProcess, startServerProcess } from '../processes.js'
import { untilIndexed } from '../tenant.js'
import { createTrap, type Trap } from '../traps.js'

const token = 'a-token-for-tests-only'
const key = 'manual.md'
const small = { parsing: { minimumParagraphLength: 0 }, chunking: { maximumChunkLength: 64 } }
/** More than are written in one transaction. */
const passagesPerFile = 150

/** A document of many small passages. */
function document(name: string): string {
  const parts = Array.from({ length: passagesPerFile }, (_, at) => `## Part ${at}\n\nThe ${name}.`)
  return `# ${name}\n\n${parts.join('\n\n')}`
}

/** The same as a content that is too large for the database, and so is a file that tests can replace. */
function documentInFile(name: string): string {
  return document(name) + '\n'.repeat(smallBlobBytes)
}

/** A document that takes more than the half second after which progress is stored to be read and cut, but has few passages. */
function slowDocument(name: string): string {
  const part = `The ${name} *is* here, and \`x\` [l](y) ended. `
  return `# ${name}\n\n${Array.from({ length: 6000 }, () => part.repeat(12)).join('\n\n')}`
}

describeEachEngine('indexing under kill -9', (engine) => {
  it('completes once from any step, and serves the old passages until then', async () => {
    await using place = await createPlace(engine)
    await place.start()
    await place.createBot()
    const { client, trap } = place
    await upload(client(), document('ant'), small)
    const { id } = await untilIndexed(client(), key)

    /** Kills the server at the blocked step, and lets the next one complete the work. */
    async function killAndEnd(old: string, now: string): Promise<void> {
      // A blocked statement makes a server with SQLite unresponsive.
      if (engine.name === 'postgres') await expectFound(client(), old, now)
      await place.kill()
      await trap().disarm()
      await place.start()
      const file = await untilIndexed(client(), key)
      expect([file.status, file.id]).toEqual(['indexing_completed', id])
      await expectFound(client(), now, old)
    }

    // These steps leave nothing in the database, so one engine is enough.
    if (engine.name === 'sqlite') {
      // Extract: a worker reads a content that never ends.
      await upload(client(), documentInFile('eel'), small, 'other.md')
      const other = (await untilIndexed(client(), 'other.md')).id
      const pipe = await replaceByPipe(await place.blobOf(other))
      await client().reindexFile({ id: other })
      await pipe.untilRead()
      // Chunk: if it ends before the kill, nothing is written.
      await trap().hangOnInsert('passages', 'position', 0)
      await upload(client(), slowDocument('bee'), { chunking: { maximumChunkLength: 20_000 } })
      await place.untilStep(id, 'chunk')
      await place.kill()
      await pipe.putBack()
      await killAndEnd('ant', 'bee')
      expect((await untilIndexed(client(), other)).status).toBe('indexing_completed')
      await expectFound(client(), 'eel', 'ant')
      await place.untilPassages(other, passagesPerFile)
    }
    const old = engine.name === 'sqlite' ? 'bee' : 'ant'

    // Embed: some passages are written. A broken file is being indexed too.
    const before = await place.countPassages(id)
    await upload(client(), '%PDF-1.7 broken', {}, 'broken.pdf')
    await trap().hangOnInsert('passages', 'position', 120)
    await upload(client(), document('cow'), small)
    await place.untilPassages(id, before + 100)
    await killAndEnd(old, 'cow')
    expect(await untilIndexed(client(), 'broken.pdf')).toMatchObject({
      status: 'indexing_failed',
      failedStatusReason: expect.stringContaining('PDF'),
    })

    // Publish: all passages are written but not visible.
    await place.untilPassages(id, passagesPerFile)
    await trap().hangOnUpdate('files', 'passages_generation')
    await upload(client(), document('dog'), small)
    await place.untilPassages(id, 2 * passagesPerFile)
    await killAndEnd('cow', 'dog')
    // Neither the partial nor the previous passages left anything behind.
    await place.untilPassages(id, passagesPerFile)
  })
})

describe('an interrupted indexing', () => {
  it.skipIf(process.platform !== 'linux')(
    'indexing does not fail because the server crashes, but because the reader of the file does',
    async () => {
      const [engine] = engines
      if (engine === undefined) throw new Error('There is no engine to test on')
      await using place = await createPlace(engine)
      await place.start()
      await place.createBot()
      const { client } = place
      await upload(client(), documentInFile('fox'), small)
      const { id } = await untilIndexed(client(), key)
      const pipe = await replaceByPipe(await place.blobOf(id))
      await client().reindexFile({ id })
      await pipe.untilRead()
      for (const interruptions of [1, 2]) {
        await place.kill()
        await place.start()
        const state = interruptions === 1 ? 'running' : 'waiting'
        await vi.waitFor(async () =>
          expect(await place.jobOf(id)).toMatchObject({ state, interruptions }),
        )
      }
      // It is retried with growing pauses, and never given up because of that.
      expect((await client().getFile({ id })).file.status).toBe('indexing_pending')
      await pipe.putBack()
      await client().reindexFile({ id })
      await place.endPauseOf(id)
      expect((await untilIndexed(client(), id)).status).toBe('indexing_completed')

      const other = await replaceByPipe(await place.blobOf(id))
      await client().reindexFile({ id })
      await other.untilRead()
      const readers = new Set<number>()
      while (readers.size < 3) {
        const reader = await vi.waitUntil(() => place.readerOf(other.path, readers))
        process.kill(reader, 'SIGKILL')
        readers.add(reader)
      }
      expect(await untilIndexed(client(), id)).toMatchObject({
        status: 'indexing_failed',
        failedStatusReason: expect.stringContaining('could not index the file, 3 times'),
      })
      await other.putBack()
    },
  )
})

async function upload(
  client: Client,
  content: string,
  configuration: object,
  name = key,
): Promise<void> {
  const { file } = await client.upsertFile({
    key: name,
    size: Buffer.byteLength(content),
    index: true,
    indexing: { configuration },
  })
  const response = await fetch(file.uploadUrl, { method: 'PUT', body: content })
  expect(response.ok).toBe(true)
}

/** Expects that only the text of one version of the manual is found. */
async function expectFound(client: Client, word: string, other: string): Promise<void> {
  const answers = [word, other].map((query) => client.searchFiles({ query, limit: 5 }))
  const [found, absent] = (await Promise.all(answers)).map(({ passages }) => passages)
  expect(found?.map(({ content }) => content.includes(word))).toContain(true)
  expect(absent?.map(({ content }) => content.includes(other))).not.toContain(true)
}

/** Replaces a file by a pipe without a writer: its reader blocks. */
async function replaceByPipe(path: string) {
  await rename(path, `${path}.kept`)
  await promisify(execFile)('mkfifo', [path])
  let writer: FileHandle | undefined
  return {
    path,
    /** Waits until a reader opens the pipe, which then blocks as long as the pipe is held open. */
    async untilRead(): Promise<void> {
      writer = await vi.waitFor(
        // Fails as long as the pipe has no reader.
        () => open(path, constants.O_WRONLY | constants.O_NONBLOCK),
        { timeout: 10_000, interval: 5 },
      )
    },
    async putBack(): Promise<void> {
      await rename(`${path}.kept`, path)
      await writer?.close()
    },
  }
}

/** Whether a process has a file open; a process that has just ended has none. */
function hasOpen(pid: number, path: string): boolean {
  try {
    const folder = `/proc/${pid}/fd`
    return readdirSync(folder).some((number) => readlinkSync(join(folder, number)) === path)
  } catch {
    return false
  }
}

/** Expires the leases of a killed process, instead of waiting for that. */
async function expireLeases({ run }: Database): Promise<void> {
  const now = new Date().toISOString()
  await run(async (tx) => {
    await tx.updateTable('jobs').set({ due_at: now }).where('state', '=', 'running').execute()
  })
}

async function createPlace(engine: TestEngine) {
  const dataDir = await mkdtemp(join(tmpdir(), 'botstead-indexing-'))
  const place = await engine.createPlace(true)
  const url = place.options.url
  const environment = {
    BOTSTEAD_DATA_DIR: dataDir,
    BOTSTEAD_ADMIN_TOKEN: token,
    LOG_LEVEL: 'error',
    BOTSTEAD_INDEXING_WORKERS: '2',
    ...(url !== undefined && { DATABASE_URL: url }),
  }
  let server: ServerProcess | undefined
  let opened: { database: Database; trap: Trap } | undefined
  let botId = ''

  function there<T>(value: T | undefined): T {
    if (value === undefined) throw new Error('The server has not been started')
    return value
  }
  const database = () => there(opened).database.db
  const baseUrl = () => there(server).url

  async function countPassages(fileId: string): Promise<number> {
    const { count } = await database()
      .selectFrom('passages')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('file_id', '=', fileId)
      .executeTakeFirstOrThrow()
    return Number(count)
  }

  return {
    async start(): Promise<void> {
      // With SQLite a start takes over unfinished work at once, whatever the lease.
      if (opened !== undefined && url !== undefined) await expireLeases(opened.database)
      server = await startServerProcess(environment)
      if (opened !== undefined) return
      const options = url === undefined ? { file: join(dataDir, 'botstead.db') } : { url }
      const made = await openDatabase(options)
      opened = { database: made, trap: createTrap(made) }
    },
    kill: () => there(server).kill(),
    async createBot(): Promise<void> {
      const account = { baseUrl: baseUrl(), token }
      const { workspaces } = await createClient(account).listWorkspaces()
      const admin = createClient({ ...account, workspaceId: workspaces[0]?.id ?? '' })
      botId = (await admin.createBot({})).bot.id
    },
    client: () => createClient({ baseUrl: baseUrl(), token, botId }),
    trap: () => there(opened).trap,
    countPassages,
    untilPassages: (fileId: string, count: number) =>
      vi.waitFor(async () => expect(await countPassages(fileId)).toBe(count), {
        timeout: 10_000,
        interval: 5,
      }),
    untilStep: (fileId: string, step: string) =>
      vi.waitFor(
        async () => {
          const files = database().selectFrom('files').select('progress').where('id', '=', fileId)
          const { progress } = await files.executeTakeFirstOrThrow()
          expect(progress === null ? undefined : JSON.parse(progress).step).toBe(step)
        },
        { timeout: 10_000, interval: 5 },
      ),
    /** Makes the deferred indexing of a file due. */
    endPauseOf: (fileId: string) =>
      there(opened).database.run(async (tx) => {
        const now = new Date().toISOString()
        const jobs = tx.updateTable('jobs').set({ due_at: now })
        await jobs.where('kind', '=', 'search.index').where('key', '=', fileId).execute()
      }),
    jobOf: (fileId: string) =>
      database()
        .selectFrom('jobs')
        .select(['state', 'interruptions'])
        .where('kind', '=', 'search.index')
        .where('key', '=', fileId)
        .executeTakeFirst(),
    /** A process of the server that reads a file, except known ones. */
    readerOf(path: string, known: ReadonlySet<number>): number | undefined {
      const { pid } = there(server).child
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
      return children
        .split(/\s+/)
        .map(Number)
        .find((child) => !known.has(child) && hasOpen(child, path))
    },
    /** The path of the newest content of a file. */
    async blobOf(fileId: string): Promise<string> {
      const { blob_key } = await database()
        .selectFrom('file_contents')
        .select('blob_key')
        .where('file_id', '=', fileId)
        .orderBy('generation', 'desc')
        .executeTakeFirstOrThrow()
      const name = blob_key ?? ''
      const folder = createHash('sha256').update(name).digest('hex').slice(0, 2)
      return join(dataDir, 'blobs', folder, name)
    },
    [Symbol.asyncDispose]: async () => {
      await server?.kill()
      await opened?.trap.disarm()
      await opened?.database.close()
      await place.remove()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
