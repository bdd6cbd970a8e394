import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { engines } from '../../../../test/engines.js'
import { fileQuotas, useFiles } from '../../../../test/files.js'
import { createTestClock } from '../../../../test/harness.js'
import { createAddresses } from '../../../domain/addresses.js'
import type { DirectAccess } from '../../../platform/blobs/blob-store.js'
import { createLocalBus } from '../../../platform/bus/local.js'
import { createPager } from '../../../platform/db/pager.js'
import { createSigner } from '../../../platform/security/signing.js'
import { createLog } from '../../../platform/telemetry/log.js'
import { createFileAddresses } from '../addresses.js'
import { createGenerations } from '../contents/index.js'
import { createFileEvents } from '../file-events.js'
import { directUploadJob } from '../jobs.js'
import { createDirectUploads, isStaged } from './direct.js'
import { createUploadGate } from './gate.js'

const [engine] = engines
if (engine === undefined) throw new Error('There is no engine to test on')
const minute = 60_000

describe('an upload that was sent to the store', () => {
  const bench = useFiles(engine)

  /** The job that checks for the content of a new file; the store returns addresses that are never used. */
  async function setUp(size: number) {
    const bot = bench().newBot()
    const { file } = await bot.as().upsertFile({ key: 'a.txt', size })
    const { blobs, database, queue } = bench()
    const clock = createTestClock()
    const direct: DirectAccess = {
      readAddress: async () => 'https://storage.example.com/read',
      writeAddress: async (key) => `https://storage.example.com/${key}`,
    }
    const token = new URL(file.uploadUrl).pathname.split('/').at(-1) ?? ''
    const { db, run } = database
    const log = await createLog({ level: 'silent' })
    const bus = createLocalBus(log)
    const events = createFileEvents({ db, clock, bus, pager: createPager(Buffer.alloc(32, 7)) })
    const generations = createGenerations({ ...bench(), events, quotas: fileQuotas })
    const addresses = createFileAddresses({
      addresses: createAddresses(() => bench().url),
      clock,
      signer: createSigner(Buffer.alloc(32, 7), clock),
    })
    const bots = { workspaceOf: async () => bot.workspaceId }
    const gate = createUploadGate({ db, run, clock, bots, generations, addresses })
    const store = { ...blobs, direct }
    const made = createDirectUploads({ db, run, clock, queue, blobs: store, generations, gate })
    const { handler } = made.jobs[directUploadJob]
    const payload = { botId: bot.id, fileId: file.id, generation: 1, since: clock.now() }
    const look = () =>
      clock.hold(async () => {
        const job = { id: 'job', kind: directUploadJob, key: 'key', attempt: 1, maxAttempts: 5 }
        const signal = new AbortController().signal
        const context = { signal, heartbeat: async () => undefined }
        const next = await handler({ ...job, payload }, context)
        return next === undefined ? undefined : Math.round((next - clock.now()) / 1000)
      })
    const stage = (text: string) =>
      blobs.put(`direct_${file.id}_1`, Readable.from([Buffer.from(text)]))
    const staged = async () => {
      for await (const { key } of blobs.list()) if (isStaged(key)) return key
      return undefined
    }
    const read = async () => (await bot.as().getFile({ id: file.id })).file
    return { bot, clock, token, look, stage, staged, read, address: made.addressFor }
  }

  it('is checked for with growing pauses, for a day', async () => {
    const { look, clock, read } = await setUp(3)
    await clock.hold(async () => {
      expect(await look()).toBe(1)
      clock.advance(minute)
      expect(await look()).toBe(15)
      clock.advance(60 * minute)
      expect(await look()).toBe(60)
      clock.advance(24 * 60 * minute)
      expect(await look()).toBeUndefined()
    })
    expect((await read()).status).toBe('upload_pending')
  })

  it('is completed once it arrives, and the staged blob is removed', async () => {
    const { look, stage, staged, read } = await setUp(3)
    await stage('abc')
    expect(await look()).toBeUndefined()
    const file = await read()
    expect(file).toMatchObject({ status: 'upload_completed', size: 3 })
    expect(await (await fetch(file.url)).text()).toBe('abc')
    expect(await staged()).toBeUndefined()
    // A late repetition, for example after a crash, changes nothing.
    await stage('xyz')
    expect(await look()).toBeUndefined()
    expect(await staged()).toBeUndefined()
    expect(await (await fetch((await read()).url)).text()).toBe('abc')
  })

  it('of another size fails, and the file contains the reason', async () => {
    const { look, stage, staged, read } = await setUp(3)
    await stage('ab')
    expect(await look()).toBeUndefined()
    expect(await read()).toMatchObject({
      status: 'upload_failed',
      failedStatusReason: 'The content is smaller than declared: received 2 of 3 bytes.',
    })
    expect(await staged()).toBeUndefined()
  })

  it('is dropped when the file was upserted again', async () => {
    const { bot, look, stage, staged, read } = await setUp(3)
    await bot.as().upsertFile({ key: 'a.txt', size: 4 })
    await bot.as().deleteFile({ id: 'a.txt' })
    await stage('abc')
    expect(await look()).toBeUndefined()
    expect(await staged()).toBeUndefined()
    await expect(read()).rejects.toMatchObject({ type: 'ResourceNotFound' })
  })

  it('goes through this server when it is empty, or tagged to be public at once', async () => {
    const empty = await setUp(0)
    expect(await empty.address(empty.token, undefined)).toBeUndefined()
    const usual = await setUp(3)
    expect(await usual.address(usual.token, 'public=true')).toBeUndefined()
    expect(await usual.address(usual.token, undefined)).toMatch(/\/direct_file_\w+_1$/)
  })
})
