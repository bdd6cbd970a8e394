import { randomBytes, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@botstead/contract'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { putBytes } from '../../src/features/operations/backup/target.js'
import { openS3BlobStore } from '../../src/platform/blobs/s3.js'
import { parseS3Address } from '../../src/platform/blobs/s3-address.js'
import {
  type BackupBench,
  createBackupBench,
  environmentOf,
  fail,
  fileCalls,
  succeed,
} from '../backups.js'
import { describeSlow } from '../engines.js'
import { startTestServer, type TestServer } from '../harness.js'
import { startServerProcess } from '../processes.js'
import { useTestS3 } from '../s3/server.js'
import { settle, type Tenant, untilIndexed, uploadText } from '../tenant.js'

/** More than one piece. */
const large = randomBytes(5_000_000)

describeSlow('a backup', (engine) => {
  let bench: BackupBench
  let server: TestServer
  let tenant: Tenant
  let target: string
  let encrypted: string[]
  const { runtimeOf, upload, download } = fileCalls(() => ({ ...tenant, url: server.url }))
  beforeAll(async () => {
    bench = await createBackupBench()
    server = await startTestServer(engine, { BOTSTEAD_DATA_DIR: join(bench.folder, 'data') })
    tenant = await settle(server, server)
    target = join(bench.folder, 'target')
    encrypted = ['--passphrase-file', bench.passphraseFile]
    const sizes = { large: large.length, medium: 50_000, small: 500 }
    for (const [key, size] of Object.entries(sizes)) await upload(key, large.subarray(0, size))
    await uploadText(runtimeOf(), 'guide.md', '# Zebras\n\nThe zebra eats grass.', true)
    await untilIndexed(runtimeOf(), 'guide.md')
    // Most tests need a backup of the server, whichever.
    await succeed(['backup', target, ...encrypted], environmentOf(server))
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
    expect(stranger.output()).toContain('listening')
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

  describe('in an object store', () => {
    const s3 = useTestS3()

    it('refuses a prefix that has something else, and writes nothing there', async () => {
      const prefix = randomUUID()
      const signed = await openS3BlobStore(
        parseS3Address(s3().url({ prefix: `${prefix}/photos` }), {}),
      )
      await putBytes(signed, 'somebody-elses', Buffer.from('sea'))
      const before = s3().keys()
      const url = s3().url({ prefix })
      expect(await fail(['backup', url, ...encrypted], environmentOf(server))).toMatch(
        /contains data other than backups of this server \(photos\/somebody-elses\): choose an empty prefix/,
      )
      expect(s3().keys()).toEqual(before)

      const place = await bench.createPlace(engine)
      const environment = { ...place.environment, BOTSTEAD_BLOBS_URL: url }
      expect(await fail(['restore', target, ...encrypted], environment)).toMatch(
        /There are objects \(photos\/somebody-elses\) where contents .* empty prefix or bucket/,
      )
      // It does not belong to the server of the backup either.
      expect(s3().keys()).toEqual(before)
      expect(await readdir(place.dataDir)).not.toContain('restoring')
    })

    it('keeps contents that are deleted while it is made', async () => {
      const url = s3().url()
      const content = randomBytes(100_000)
      const fileId = await upload('deleted', content)
      let arrived = () => {}
      let release = () => {}
      const isWriting = new Promise<void>((resolve) => {
        arrived = resolve
      })
      const isReleased = new Promise<void>((resolve) => {
        release = resolve
      })
      s3().fault = ({ method, key }, response) => {
        if (method !== 'PUT' || !key.includes('/contents/')) return undefined
        // The first pieces are of the database, so that the snapshot has been taken.
        arrived()
        void isReleased.then(() => {
          s3().fault = undefined
          response.writeHead(503).end()
        })
        return 'handled'
      }
      const made = succeed(['backup', url, ...encrypted], environmentOf(server))
      await isWriting
      expect(await fail(['backup', target, ...encrypted], environmentOf(server))).toMatch(
        /A backup to s3:\S+ has been running since/,
      )
      await runtimeOf().deleteFile({ id: fileId })
      await upload('uploaded meanwhile', randomBytes(20_000))
      // The sweep has run, and waits for the end of the backup.
      const sweep = async () => {
        const { jobs } = await server.client().listJobs({ kind: 'files.sweep' })
        return jobs.map(({ state, nextRunAt }) => state === 'waiting' && nextRunAt !== undefined)
      }
      await vi.waitFor(async () => expect(await sweep()).toEqual([true]))
      release()
      await made
      const place = await bench.createPlace(engine)
      await succeed(['restore', url, ...encrypted], place.environment)
      await using restored = await startServerProcess(place.environment)
      expect((await download(restored.url, 'deleted')).equals(content)).toBe(true)
    })

    it('goes on, and says how far it is, when the store is slow and refuses requests now and then', async () => {
      const url = s3().url()
      let puts = 0
      s3().fault = async ({ method, key }, response) => {
        if (method !== 'PUT' || !key.includes('/contents/')) return undefined
        puts += 1
        if (puts % 3 === 0) {
          response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>')
          return 'handled'
        }
        // Longer than the time between two lines of progress.
        if (puts === 1) await sleep(1200)
        return undefined
      }
      const { stderr } = await succeed(['backup', url, ...encrypted], environmentOf(server))
      s3().fault = undefined
      expect(puts).toBeGreaterThan(4)
      expect(stderr).toMatch(/^(database: \d|contents: \d+ of \d)/m)
      await succeed(['backup', 'verify', url, ...encrypted], environmentOf(server))
    })

    it('ends when the store does not answer, and the server does not wait for it', async () => {
      const prefix = randomUUID()
      const url = s3().url({ prefix, timeout: 1 })
      let arrived = () => {}
      const isStalled = new Promise<void>((resolve) => {
        arrived = resolve
      })
      s3().fault = ({ method, key }) => {
        if (method !== 'PUT' || !key.includes('/contents/')) return undefined
        arrived()
        return 'handled'
      }
      let hasEnded = false
      const failing = fail(['backup', url, ...encrypted], environmentOf(server)).finally(() => {
        hasEnded = true
      })
      await isStalled
      await upload('beside a backup that stalls', randomBytes(20_000))
      expect(hasEnded).toBe(false)
      expect(await failing).toContain('does not respond: No byte passed for 1000 ms')

      // Its pieces stall in the middle when they are read.
      const begun = new Set<string>()
      s3().fault = undefined
      await succeed(['backup', url, ...encrypted], environmentOf(server))
      s3().fault = ({ method, key }, response) => {
        if (method !== 'GET' || !key.includes('/contents/')) return undefined
        response.writeHead(200, { 'content-length': 1000 })
        // The remaining bytes are requested again, and never come.
        if (begun.has(key)) response.flushHeaders()
        else response.write('x'.repeat(10))
        begun.add(key)
        return 'handled'
      }
      const place = await bench.createPlace(engine)
      expect(await fail(['restore', url, ...encrypted], place.environment)).toMatch(
        /No bytes? (?:were received|passed) for 1000 ms/,
      )
      s3().fault = undefined
      await succeed(['restore', url, ...encrypted], place.environment)
    })

    it('that fails half way leaves no backup, and the next one succeeds', async () => {
      const url = s3().url()
      let puts = 0
      s3().fault = ({ method, key }, response) => {
        if (method !== 'PUT' || !key.includes('/contents/')) return undefined
        puts += 1
        if (puts === 1) return undefined
        response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>')
        return 'handled'
      }
      expect(await fail(['backup', url, ...encrypted], environmentOf(server))).toContain(
        'AccessDenied',
      )
      s3().fault = undefined
      const list = ['backup', 'list', url, ...encrypted]
      expect((await succeed(list, environmentOf(server))).stdout).toBe('')
      expect(await fail(['restore', url, ...encrypted], environmentOf(server))).toContain(
        'There are no backups',
      )
      await succeed(['backup', url, ...encrypted], environmentOf(server))
      await succeed(['backup', 'verify', url, ...encrypted], environmentOf(server))
    })

    it('is restored from a data folder to an object store, and back', async () => {
      const from = s3().url()
      await succeed(['backup', from, ...encrypted], environmentOf(server))
      const place = await bench.createPlace(engine)
      const environment = { ...place.environment, BOTSTEAD_BLOBS_URL: s3().url() }
      await succeed(['restore', from, ...encrypted], environment)
      const back = join(bench.folder, 'back')
      {
        await using restored = await startServerProcess(environment)
        expect((await download(restored.url, 'large')).equals(large)).toBe(true)
        expect((await download(restored.url, 'small')).equals(large.subarray(0, 500))).toBe(true)
        await succeed(['backup', back, ...encrypted], environment)
      }
      const folder = await bench.createPlace(engine)
      await succeed(['restore', back, ...encrypted], folder.environment)
      await using restored = await startServerProcess(folder.environment)
      expect((await download(restored.url, 'small')).equals(large.subarray(0, 500))).toBe(true)
    })
  })
})
