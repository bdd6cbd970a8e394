import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createClient } from '@botstead/contract'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import {
  type BackupBench,
  createBackupBench,
  environmentOf,
  fail,
  fileCalls,
  large,
  startBackedUpServer,
  succeed,
} from '../backups.js'
import { describeSlow } from '../engines.js'
import type { TestServer } from '../harness.js'
import { startServerProcess } from '../processes.js'
import type { Tenant } from '../tenant.js'

describeSlow('a backup', (engine) => {
  let bench: BackupBench
  let server: TestServer
  let tenant: Tenant
  let target: string
  let encrypted: string[]
  const { runtimeOf, upload, download } = fileCalls(() => ({ ...tenant, url: server.url }))
  beforeAll(async () => {
    bench = await createBackupBench()
    ;({ server, tenant, target, encrypted } = await startBackedUpServer(engine, bench))
  })
  afterAll(async () => {
    await server.close()
    await bench[Symbol.asyncDispose]()
  })

  it('is made while the server runs, and restored to a server on which everything works', async () => {
    await succeed(['backup', target, ...encrypted], environmentOf(server))
    const place = await bench.createPlace(engine)
    await succeed(['restore', target, ...encrypted], place.environment)

    await using restored = await startServerProcess(place.environment)
    expect((await download(restored.url, 'large')).equals(large)).toBe(true)
    expect((await download(restored.url, 'medium')).equals(large.subarray(0, 50_000))).toBe(true)
    expect((await download(restored.url, 'small')).equals(large.subarray(0, 500))).toBe(true)
    const { passages } = await runtimeOf(restored.url).searchFiles({ query: 'zebra grass' })
    expect(passages[0]?.content).toContain('zebra')
    // The key of a chat user is signed by the secret of the server.
    const { webhookId, userKey, conversationId: id } = tenant
    const chat = createClient({ baseUrl: restored.url, webhookId, userKey })
    const { messages } = await chat.chatListMessages({ conversationId: id })
    expect(messages.map((message) => message.id)).toEqual([tenant.messageId])
    await chat.chatCreateMessage({ conversationId: id, payload: { type: 'text', text: 'Again' } })
    const admin = createClient({
      baseUrl: restored.url,
      token: tenant.personalToken,
      workspaceId: tenant.workspaceId,
    })
    expect((await admin.getBot({ id: tenant.botId })).bot.id).toBe(tenant.botId)
    expect(await restored.stop()).toBe(0)
    await succeed(['check', '--contents'], place.environment)
  })

  it('copies only contents that the target does not have', async () => {
    const contents = async () => {
      const names = await readdir(join(target, 'contents'), { recursive: true })
      return new Set(names.filter((name) => /[0-9a-f]{64}$/.test(name)))
    }
    const before = await contents()
    const content = randomBytes(300_000)
    await upload('another', content)
    await succeed(['backup', target, ...encrypted], environmentOf(server))
    const added = [...(await contents())].filter((name) => !before.has(name))
    // The content and what changed of the database; the large content is not among them.
    expect(added.length).toBeGreaterThan(0)
    const { stdout } = await succeed(
      ['backup', 'list', target, ...encrypted],
      environmentOf(server),
    )
    expect(stdout.trim().split('\n').length).toBeGreaterThanOrEqual(2)
    const place = await bench.createPlace(engine)
    await succeed(['restore', target, ...encrypted], place.environment)
  })

  it('is verified by restoring it to a temporary place', async () => {
    const { stderr } = await succeed(
      ['backup', 'verify', target, ...encrypted],
      environmentOf(server),
    )
    expect(stderr).toMatch(/is complete: \d+ rows in \d+ tables, \d+ contents/)
  })

  it.runIf(engine.name === 'postgres')(
    'is verified from a machine without the database',
    async () => {
      const { environment } = await bench.createPlace(engine)
      const verify = ['backup', 'verify', target, ...encrypted]
      expect(await fail(verify, {})).toMatch(
        /is of a PostgreSQL database: name an empty one with --/,
      )
      const { DATABASE_URL: occupied = '' } = environmentOf(server)
      expect(await fail([...verify, '--database', occupied], {})).toMatch(
        /^The PostgreSQL database has/m,
      )
      await succeed([...verify, '--database', environment.DATABASE_URL ?? ''], {})
    },
  )

  it('needs its passphrase', async () => {
    const other = join(bench.folder, 'other-passphrase')
    await writeFile(other, 'another long passphrase\n')
    const place = await bench.createPlace(engine)
    expect(
      await fail(['restore', target, '--passphrase-file', other], place.environment),
    ).toContain('The passphrase does not open these backups')
    expect(await fail(['restore', target], place.environment)).toContain('--passphrase-file')
    const absent = ['--passphrase-file', join(bench.folder, 'absent')]
    expect(await fail(['restore', target, ...absent], place.environment)).toMatch(
      /^The file \S+ with the passphrase cannot be read: it is not there/,
    )
    expect(await readdir(place.dataDir)).toEqual([])
  })

  it('is restored to empty places only', async () => {
    const place = await bench.createPlace(engine)
    await succeed(['restore', target, ...encrypted], place.environment)
    for (const name of await readdir(place.dataDir)) {
      const { mode } = await stat(join(place.dataDir, name))
      expect([name, mode & 0o077]).toEqual([name, 0])
    }
    expect(await fail(['restore', target, ...encrypted], place.environment)).toContain(
      'restore to an empty folder',
    )
    const { DATABASE_URL: occupied } = place.environment
    if (occupied === undefined) return
    const another = await bench.createPlace(engine)
    expect(
      await fail(['restore', target, ...encrypted], {
        ...another.environment,
        DATABASE_URL: occupied,
      }),
    ).toContain('restore to an empty database')
    expect(await readdir(another.dataDir)).not.toContain('restoring')
  })

  it('refuses a target of another server, and a place inside of the data folder', async () => {
    await using stranger = await startServerProcess((await bench.createPlace(engine)).environment)
    const foreign = { BOTSTEAD_DATA_DIR: join(bench.folder, 'nowhere') }
    // Readiness may be seen before what was written is read.
    await vi.waitFor(() => expect(stranger.output()).toContain('listening'))
    expect(await fail(['backup', target, ...encrypted], foreign)).toContain('There is no')
    const inside = join(server.server.config.dataDir, 'backups')
    expect(await fail(['backup', inside, ...encrypted], environmentOf(server))).toContain(
      'inside of the data folder',
    )
  })

  it('refuses a folder that has something else, and writes nothing there', async () => {
    const photos = join(bench.folder, 'photos')
    await mkdir(join(photos, 'summer'), { recursive: true })
    await writeFile(join(photos, 'summer', 'sea.jpg'), 'sea')
    const words = (folder: string) => ['backup', folder, ...encrypted]
    expect(await fail(words(photos), environmentOf(server))).toMatch(
      /photos contains data other than backups of this server \(summer\): choose an empty folder/,
    )
    expect(await readdir(photos)).toEqual(['summer'])
    // Folders of the same names as those of backups do not make it one.
    const similar = join(bench.folder, 'similar')
    await mkdir(join(similar, 'backups'), { recursive: true })
    await writeFile(join(similar, 'backups', 'monday.tar'), 'archive')
    expect(await fail(words(similar), environmentOf(server))).toContain('(backups/monday.tar)')
    expect(await readdir(join(similar, 'backups'))).toEqual(['monday.tar'])
    expect(
      await fail(['restore', photos, ...encrypted], (await bench.createPlace(engine)).environment),
    ).toContain('There are no backups in')
    // The remains of an interrupted preparation are no reason to refuse.
    const begun = join(bench.folder, 'begun')
    await mkdir(join(begun, 'backups', 'tmp'), { recursive: true })
    await mkdir(join(begun, 'lost+found'))
    await writeFile(join(begun, 'backups', 'tmp', 'draft'), 'half')
    await succeed(words(begun), environmentOf(server))
    // Once it has backups, notes of an operator may be beside them; without its header it is no place for more.
    await writeFile(join(begun, 'README'), 'backups of the bots')
    await succeed(words(begun), environmentOf(server))
    const files = await readdir(join(begun, 'backups'), { recursive: true })
    const header = files.find((name) => name.endsWith('botstead-backups')) ?? ''
    await rm(join(begun, 'backups', header))
    expect(await fail(words(begun), environmentOf(server))).toContain('choose an empty folder')
  })

  it('is not restored to a folder that has anything', async () => {
    for (const name of ['notes.txt', 'botstead.db-wal', 'blobs/ab/file']) {
      const place = await bench.createPlace(engine)
      const path = join(place.dataDir, name)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, 'mine')
      expect(await fail(['restore', target, ...encrypted], place.environment)).toContain(
        `has data of a server or of something else (${name}): restore to an empty folder`,
      )
      expect((await readdir(place.dataDir)).sort()).toEqual([name.split('/')[0], 'server.lock'])
      expect(await readFile(path, 'utf8')).toBe('mine')
    }
  })
})
