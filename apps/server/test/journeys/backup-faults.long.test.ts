import { execFileSync, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { parseBackupLocation } from '../../src/config/backup-settings.js'
import { openTarget } from '../../src/features/operations/backup/index.js'
import {
  type BackupBench,
  createBackupBench,
  environmentOf,
  fail,
  fileCalls,
  succeed,
} from '../backups.js'
import { describeEachEngine, engines, sqliteEngine, type TestEngine } from '../engines.js'
import { startTestServer, type TestServer } from '../harness.js'
import { runCommand, startServerProcess } from '../processes.js'
import { settle, type Tenant } from '../tenant.js'

/** Numbers from 0 to 1, the same in every run. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

/**
 * Runs a command and kills it after some milliseconds; returns whether it had ended before.
 * @param from file whose appearance begins that time; otherwise the start does
 */
async function killAfter(
  milliseconds: number,
  words: readonly string[],
  environment: Record<string, string>,
  from?: string,
): Promise<boolean> {
  const child = spawn(process.execPath, [inject('command'), ...words], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  while (from !== undefined && !existsSync(from) && child.exitCode === null) await sleep(2)
  const timer = setTimeout(() => child.kill('SIGKILL'), milliseconds)
  const [status] = await ended
  clearTimeout(timer)
  return status === 0
}

/** Other bytes, whatever they were: contents are random. */
function damage(bytes: Buffer): Buffer {
  const last = bytes.at(-1) ?? 0
  return Buffer.concat([bytes.subarray(0, -1), Buffer.of(last ^ 1)])
}

/** Files of different sizes, of one piece each. */
const files = 6

async function fill(server: TestServer, tenant: Tenant): Promise<void> {
  const client = server.client({ token: tenant.botKey, botId: tenant.botId })
  for (let number = 0; number < files; number++) {
    const content = randomBytes(20_000 + number * 600_000)
    const { file } = await client.upsertFile({ key: `file ${number}`, size: content.length })
    const { ok } = await fetch(file.uploadUrl, { method: 'PUT', body: content })
    expect(ok).toBe(true)
  }
}

/** Backups and restores on an engine that are killed at so many moments. */
const killed = (moments: number) => (engine: TestEngine) => {
  let bench: BackupBench
  let server: TestServer
  let encrypted: string[]
  beforeAll(async () => {
    bench = await createBackupBench()
    server = await startTestServer(engine, { BOTSTEAD_DATA_DIR: join(bench.folder, 'data') })
    await fill(server, await settle(server, server))
    encrypted = ['--passphrase-file', bench.passphraseFile]
  })
  afterAll(async () => {
    await server.close()
    await bench[Symbol.asyncDispose]()
  })

  it('at any moment of a backup leaves a target that the next backup can use', async () => {
    const environment = environmentOf(server)
    const begun = performance.now()
    await succeed(['backup', join(bench.folder, 'measured'), ...encrypted], environment)
    const duration = performance.now() - begun
    const random = createRandom(1)
    const target = join(bench.folder, 'killed')
    let complete = 0
    for (let moment = 0; moment < moments; moment++) {
      const delay = duration * (0.3 + 0.7 * random())
      if (await killAfter(delay, ['backup', target, ...encrypted], environment)) complete += 1
    }
    await succeed(['backup', target, ...encrypted], environment)
    const { stdout } = await succeed(['backup', 'list', target, ...encrypted], environment)
    // A backup whose manifest was stored just before the end is complete too.
    expect(stdout.trim().split('\n').length).toBeGreaterThan(complete)
    expect(stdout).not.toContain('damaged')
    for (const line of stdout.trim().split('\n').slice(-3)) {
      const [id = ''] = line.split(' ')
      await succeed(['backup', 'verify', target, '--backup', id, ...encrypted], environment)
    }
  })

  it('at any moment of a restore leaves a place that no server starts on until it is restored', async () => {
    const target = join(bench.folder, 'to-restore')
    await succeed(['backup', target, ...encrypted], environmentOf(server))
    const measured = await bench.createPlace(engine)
    const begun = performance.now()
    await succeed(['restore', target, ...encrypted], measured.environment)
    const duration = performance.now() - begun
    const random = createRandom(2)
    let place = await bench.createPlace(engine)
    let interrupted = 0
    for (let moment = 0; moment < moments; moment++) {
      // The first one certainly ends in the middle; what follows begins with what it left.
      const isFirst = moment === 0
      const delay = isFirst ? 0 : duration * (0.3 + 0.6 * random())
      const words = ['restore', target, ...encrypted]
      const marker = join(place.dataDir, 'restoring')
      if (await killAfter(delay, words, place.environment, isFirst ? marker : undefined)) {
        // It was faster than the one that was measured: the others interrupt another one.
        place = await bench.createPlace(engine)
        continue
      }
      const names = await readdir(place.dataDir)
      if (!names.includes('restoring')) continue
      interrupted += 1
      if (interrupted > 2) continue
      expect(await fail(['start'], { ...place.environment, PORT: '0' })).toMatch(
        /The restore of the backup \S+ to \S+ has not ended: run "botstead restore/,
      )
    }
    expect(interrupted).toBeGreaterThan(0)
    const again = await runCommand(['restore', target, ...encrypted], place.environment)
    // The last one that was killed may have ended all but its process.
    if (again.status !== 0) expect(again.stderr).toContain('restore to an empty folder')
    await using restored = await startServerProcess(place.environment)
    expect(await restored.stop()).toBe(0)
    await succeed(['check', '--contents'], place.environment)
  })
}

describeEachEngine('kill -9', killed(6))
// Both engines have the same order of steps, and connections of PostgreSQL take longer.
describe('kill -9 on sqlite', () => killed(20)(sqliteEngine))

describe('a backup that was tampered with', () => {
  let bench: BackupBench
  let server: TestServer
  let target: string
  /** Targets with one backup each, which tests copy. */
  let plain: string
  let sealed: string
  /** More than one piece, and nothing that a program would compress. */
  const content = randomBytes(5_000_000)
  const open = ['--no-encryption']
  const encrypted = () => ['--passphrase-file', bench.passphraseFile]
  beforeAll(async () => {
    bench = await createBackupBench()
    server = await startTestServer(sqliteEngine, { BOTSTEAD_DATA_DIR: join(bench.folder, 'data') })
    const tenant = await settle(server, server)
    await fill(server, tenant)
    await fileCalls(() => ({ ...tenant, url: server.url })).upload('large', content)
    target = join(bench.folder, 'target')
    plain = join(bench.folder, 'plain')
    sealed = join(bench.folder, 'sealed')
    await succeed(['backup', plain, ...open], environmentOf(server))
    await succeed(['backup', sealed, ...encrypted()], environmentOf(server))
  })
  afterAll(async () => {
    await server.close()
    await bench[Symbol.asyncDispose]()
  })
  /** Puts a copy of a target with one backup in the place of what a test left. */
  async function placeBackup(from: string): Promise<void> {
    await rm(target, { recursive: true, force: true })
    await cp(from, target, { recursive: true })
  }
  /** Places a backup and changes its manifest. */
  async function forge(change: (manifest: Record<string, unknown>) => unknown): Promise<void> {
    await placeBackup(plain)
    const location = parseBackupLocation(target, {}, 'target')
    if (typeof location === 'string') throw new Error(location)
    const opened = await openTarget(location, { passphrase: undefined })
    const [id = ''] = await opened.listIds()
    const manifest = await opened.readManifest(id)
    // As somebody writes it who can write there: the program refuses what it could not read.
    const text = JSON.stringify({ ...manifest, ...(change({ ...manifest }) as object) })
    const names = await readdir(join(target, 'backups'), { recursive: true })
    const path = join(target, 'backups', names.find((name) => name.endsWith(id)) ?? '')
    const sha256 = createHash('sha256').update(text).digest('hex')
    // The first byte says that it is neither compressed nor encrypted.
    await writeFile(path, `\0${sha256}\n${text}`)
  }
  async function refusal(words: string[] = []): Promise<string> {
    const place = await bench.createPlace(sqliteEngine)
    const text = await fail(['restore', target, ...words], place.environment)
    // The destination of a refused restore is not taken for a server's data.
    expect(await readdir(place.dataDir)).not.toContain('botstead.db')
    return text
  }

  it.each([
    [
      'a path as the name of a part',
      ({ database }: { database: { parts: object[] } }) => ({
        database: { ...database, parts: [{ ...database.parts[0], name: '../../etc/passwd' }] },
      }),
    ],
    [
      'a path as the name of a piece',
      ({ contents }: { contents: object }) => ({
        contents: { ...contents, index: ['../../../etc/passwd'] },
      }),
    ],
    [
      'a size that no list of pieces has',
      ({ database }: { database: { parts: object[] } }) => ({
        database: { ...database, parts: [{ ...database.parts[0], bytes: 2 ** 52 }] },
      }),
    ],
    [
      'a count that is no number',
      ({ contents }: { contents: object }) => ({ contents: { ...contents, count: 1e300 } }),
    ],
  ])('is refused with %s', async (_, change) => {
    await forge(change as never)
    expect(await refusal()).toMatch(/The manifest \S+ of the backup is damaged/)
  })

  it('is refused where an encrypted one is expected, and encryption was taken away', async () => {
    await placeBackup(sealed)
    const expected = encrypted()
    // An attacker who can write to the target but lacks the passphrase replaces all of it.
    await forge(() => ({}))
    expect(await refusal(expected)).toMatch(/^The backups in \S+ are not encrypted, although there/)
    const verify = ['backup', 'verify', target, ...expected]
    expect(await fail(verify, environmentOf(server))).toContain('are not encrypted, although')
    await succeed([...verify, '--no-encryption'], environmentOf(server))
    const place = await bench.createPlace(sqliteEngine)
    await succeed(['restore', target, ...expected, '--no-encryption'], place.environment)
  })

  it.each([
    ['takes 4 GiB of memory', { N: 2 ** 20, r: 32 }],
    ['is repeated for hours', { N: 2 ** 20, r: 1, p: 16 }],
    ['is none', { r: 0 }],
  ])('is refused with a key whose derivation %s', async (_, change) => {
    await placeBackup(sealed)
    const names = await readdir(join(target, 'backups'), { recursive: true })
    const name = names.find((each) => each.endsWith('botstead-backups')) ?? ''
    const path = join(target, 'backups', name)
    const header = JSON.parse(await readFile(path, 'utf8'))
    const encryption = { ...header.encryption, ...change }
    await writeFile(path, JSON.stringify({ ...header, encryption }))
    expect(await refusal(encrypted())).toMatch(/^The header of the backups is damaged/)
  })

  it('is refused with texts that a terminal takes for commands', async () => {
    await forge(() => ({ version: '1.0\u001b[2J\u001b]0;owned\u0007' }))
    const { status, stdout } = await runCommand(['backup', 'list', target], environmentOf(server))
    expect(status).toBe(1)
    expect(stdout).toMatch(/The manifest \S+ of the backup is damaged/)
    expect(stdout).not.toContain('\u001b')
  })

  it('is refused with more values than memory has room for', async () => {
    // Lists of nothing, 25 MB of them: as objects they take several hundred.
    await forge(() => ({ lost: Array.from({ length: 8_000_000 }, () => []) }))
    const environment = { ...environmentOf(server), NODE_OPTIONS: '--max-old-space-size=200' }
    const { status, stdout } = await runCommand(['backup', 'list', target], environment)
    expect(stdout).toMatch(/The manifest \S+ of the backup is damaged/)
    expect(status).toBe(1)
  })

  it('is read with a manifest of several megabytes', async () => {
    const lostKeys = Array.from({ length: 5000 }, (_, at) => `${at} ${'x'.repeat(1000)}`)
    await forge(({ contents }) => ({ contents: { ...(contents as object), lostKeys } }))
    const { stdout } = await succeed(['backup', 'list', target], environmentOf(server))
    expect(stdout).toContain(`${files + 1} contents`)
    await succeed(['backup', 'verify', target], environmentOf(server))
  })

  it('is refused with a pipe in place of an object, which has no end and no content', async () => {
    await forge(() => ({}))
    const names = await readdir(join(target, 'backups'), { recursive: true })
    const path = join(target, 'backups', names.find((name) => /-[0-9a-f]{8}$/.test(name)) ?? '')
    await rm(path)
    execFileSync('mkfifo', [path])
    const { status, stdout } = await runCommand(['backup', 'list', target], environmentOf(server))
    expect(stdout).toMatch(/The manifest \S+ of the backup is damaged|The object \S+ of the backup/)
    expect(status).toBe(1)
  })

  it('is refused with counts that are not those of the database', async () => {
    await forge(({ contents }) => ({ contents: { ...(contents as object), count: 2 ** 50 } }))
    expect(await refusal()).toMatch(`The backup lists ${files + 1} contents of`)
  })

  it('is refused when it is of a newer release, or of another format', async () => {
    await forge(({ schema }) => ({ schema: [...(schema as string[]), '9999-future'] }))
    expect(await refusal()).toContain('which has a newer database: use that version')
    await forge(() => ({ form: { toString: 1 } }))
    expect(await refusal()).toContain('The backup has format {"toString":1}, and')
    await forge(() => ({ form: 2 }))
    expect(await refusal()).toContain('The backup has format 2')
  })

  it('is found by its verification when a piece is damaged or missing', async () => {
    await forge(() => ({}))
    const folder = join(target, 'contents')
    const pieces = (await readdir(folder, { recursive: true })).filter((name) =>
      /[0-9a-f]{64}$/.test(name),
    )
    const [first = ''] = pieces
    const bytes = await readFile(join(folder, first))
    const verify = () => fail(['backup', 'verify', target], environmentOf(server))
    await writeFile(join(folder, first), damage(bytes))
    expect(await verify()).toMatch(/The piece [0-9a-f]{64} of the backup is damaged/)
    await writeFile(join(folder, first), Buffer.concat([bytes, Buffer.alloc(5_000_000)]))
    expect(await verify()).toContain('larger than it may be')
    await rm(join(folder, first))
    expect(await verify()).toMatch(/The piece [0-9a-f]{64} of the backup is missing/)
    expect(await refusal()).toContain('is missing')
    await writeFile(join(folder, first), bytes)
    await succeed(['backup', 'verify', target], environmentOf(server))
  })

  it('is mended by the next one once a damaged piece was deleted', async () => {
    await rm(target, { recursive: true, force: true })
    const id = (await succeed(['backup', target, ...open], environmentOf(server))).stdout.trim()
    const folder = join(target, 'contents')
    // A piece of the content: those of the database are not the same in the next backup.
    const pieces = (await readdir(folder, { recursive: true }))
      .filter((name) => /[0-9a-f]{64}$/.test(name))
      .map((name) => join(folder, name))
    const isOfContent = async (path: string) =>
      content.includes((await readFile(path)).subarray(-64))
    const found = await Promise.all(pieces.map(isOfContent))
    const path = pieces[found.indexOf(true)] ?? ''
    const bytes = await readFile(path)
    await writeFile(path, damage(bytes))
    const verify = ['backup', 'verify', target, '--backup', id]
    await succeed(['backup', target, ...open], environmentOf(server))
    expect(await fail(verify, environmentOf(server))).toContain(`Delete that file in ${target}`)
    await rm(path)
    await succeed(['backup', target, ...open], environmentOf(server))
    await succeed(verify, environmentOf(server))
  })

  it('is refused for an engine that it is not of', async () => {
    await forge(() => ({}))
    const postgres = engines.find(({ name }) => name === 'postgres')
    if (postgres === undefined) return
    const place = await bench.createPlace(postgres)
    expect(await fail(['restore', target], place.environment)).toContain('without DATABASE_URL')
  })
})

/** Mounts a small disk at a folder; only the superuser of Linux can create one. */
function mountSmallDisk(folder: string, size: string): boolean {
  mkdirSync(folder, { recursive: true })
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], {
      stdio: 'ignore',
    })
    return true
  } catch {
    return false
  }
}

describe('a full disk', () => {
  it('ends a backup or a restore with a clear error, and the next one succeeds', async ({
    skip,
  }) => {
    await using bench = await createBackupBench()
    const [target, dataDir] = [join(bench.folder, 'small'), join(bench.folder, 'small-data')]
    if (!mountSmallDisk(target, '300k')) return skip()
    mountSmallDisk(dataDir, '1m')
    const server = await startTestServer(sqliteEngine, {
      BOTSTEAD_DATA_DIR: join(bench.folder, 'data'),
    })
    try {
      await fill(server, await settle(server, server))
      const words = [target, '--passphrase-file', bench.passphraseFile]
      expect(await fail(['backup', ...words], environmentOf(server))).toMatch(
        /The disk of \S+ is full: make room there/,
      )
      const list = () => succeed(['backup', 'list', ...words], environmentOf(server))
      expect((await list()).stdout).toBe('')
      execFileSync('mount', ['-o', 'remount,size=50m', target])
      await succeed(['backup', ...words], environmentOf(server))

      const place = { BOTSTEAD_DATA_DIR: dataDir, BOTSTEAD_DISK_RESERVE_BYTES: '0' }
      expect(await fail(['restore', ...words], place)).toMatch(/is full: make room there/)
      expect(await fail(['start'], { ...place, PORT: '0' })).toContain('has not ended')
      execFileSync('mount', ['-o', 'remount,size=100m', dataDir])
      await succeed(['restore', ...words], place)
      await using restored = await startServerProcess(place)
      expect(await restored.stop()).toBe(0)
    } finally {
      await server.close()
      for (const folder of [target, dataDir]) execFileSync('umount', ['-l', folder])
    }
  })
})
