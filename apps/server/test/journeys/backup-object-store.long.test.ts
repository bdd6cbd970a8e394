import { randomBytes, randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { putBytes } from '../../src/features/operations/backup/target.js'
import { openS3BlobStore } from '../../src/platform/blobs/s3.js'
import { parseS3Address } from '../../src/platform/blobs/s3-address.js'
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
import { describeEachEngine } from '../engines.js'
import type { TestServer } from '../harness.js'
import { startServerProcess } from '../processes.js'
import { useTestS3 } from '../s3/server.js'
import type { Tenant } from '../tenant.js'

describeEachEngine('a backup in an object store', (engine) => {
  const s3 = useTestS3()
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
