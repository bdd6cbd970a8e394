import { execFileSync } from 'node:child_process'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@botstead/contract'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createLog } from '../../src/platform/telemetry/log.js'
import { engines } from '../engines.js'
import { startTestServer, type TestServer } from '../harness.js'
import { startServerProcess } from '../processes.js'
import { settle, untilIndexed, uploadText } from '../tenant.js'

const megabyte = 1024 * 1024
const dataDir = mkdtempSync(join(tmpdir(), 'botstead-full-'))
const blobs = join(dataDir, 'blobs')
const allOfIt = mkdtempSync(join(tmpdir(), 'botstead-all-full-'))
const tus = { 'tus-resumable': '1.0.0', 'content-type': 'application/offset+octet-stream' }

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

const toDelete = mkdtempSync(join(tmpdir(), 'botstead-delete-full-'))
const toStart = mkdtempSync(join(tmpdir(), 'botstead-start-full-'))
const isMounted =
  mountSmallDisk(blobs, '3m') &&
  mountSmallDisk(allOfIt, '24m') &&
  mountSmallDisk(toDelete, '32m') &&
  mountSmallDisk(toStart, '32m')

describe.skipIf(!isMounted)('a full disk', () => {
  let server: TestServer
  let logged: Logged[]
  beforeAll(async () => {
    const [engine] = engines
    if (engine === undefined) throw new Error('There is no engine to test on')
    const recorded = await recordLog()
    logged = recorded.logged
    server = await startTestServer(engine, { BOTSTEAD_DATA_DIR: dataDir }, recorded.log)
  })
  afterAll(async () => {
    await server.close()
    execFileSync('umount', [blobs])
    rmSync(dataDir, { recursive: true, force: true })
  })

  it.each([
    ['whole', 'PUT', {}],
    [
      'in parts',
      'PATCH',
      {
        ...tus,
        'upload-offset': '0',
      },
    ],
  ])(
    'refuses a content sent %s, keeps nothing of it and takes it later',
    async (_, method, headers) => {
      const client = server.client(await settle(server, server))
      const { file: large } = await client.upsertFile({ key: 'large', size: 6 * megabyte })
      const response = await fetch(large.uploadUrl, {
        method,
        headers,
        body: Buffer.alloc(6 * megabyte, 1),
      })
      expect(response.status).toBe(507)
      expect(await response.json()).toMatchObject({
        code: 507,
        type: 'Internal',
        message: expect.stringContaining('no room left'),
      })
      expect((await client.getFile({ id: large.id })).file.status).toBe('upload_pending')

      const { file: small } = await client.upsertFile({ key: 'small', size: 2 * megabyte })
      const content = Buffer.alloc(2 * megabyte, method)
      const accepted = await fetch(small.uploadUrl, { method, headers, body: content })
      expect(accepted.ok).toBe(true)
      const { url } = (await client.getFile({ id: small.id })).file
      expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(content)).toBe(true)
      await client.deleteFile({ id: small.id })
      await vi.waitFor(async () => expect(await freeMegabytes()).toBeGreaterThan(2.5))
    },
  )

  it('keeps parts until there is room to assemble them, and holds none of them open', async () => {
    const client = server.client(await settle(server, server))
    const { file } = await client.upsertFile({ key: 'parts', size: 2 * megabyte })
    const content = Buffer.alloc(2 * megabyte, 'part')
    for (const start of [0, megabyte]) {
      const headers = { ...tus, 'upload-offset': String(start) }
      const body = content.subarray(start, start + megabyte)
      const { status } = await fetch(file.uploadUrl, { method: 'PATCH', headers, body })
      expect(status).toBe(204)
    }
    const full = `The disk of ${blobs} is full: make room there.`
    const failed = () =>
      logged.filter(({ kind, err }) => kind === 'files.assemble' && err?.message === full)
    await vi.waitFor(() => expect(failed().length).toBeGreaterThan(0))
    expect((await client.getFile({ id: file.id })).file.status).toBe('upload_pending')
    await vi.waitFor(async () => expect(await openBelow(blobs)).toEqual([]))

    execFileSync('mount', ['-o', 'remount,size=9m', blobs])
    await server.pass(600_000)
    await vi.waitFor(async () =>
      expect((await client.getFile({ id: file.id })).file.status).toBe('upload_completed'),
    )
    const { url } = (await client.getFile({ id: file.id })).file
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(content)).toBe(true)
  })
})

describe.skipIf(!isMounted)('a full disk of the database', () => {
  it('refuses what cannot be stored, reports it at the probe and in the log, and recovers later', async () => {
    const [engine] = engines
    if (engine === undefined) throw new Error('There is no engine to test on')
    const { log, logged } = await recordLog()
    const server = await startTestServer(engine, { BOTSTEAD_DATA_DIR: allOfIt }, log)
    const filler = join(allOfIt, 'filler')
    try {
      const client = server.client(await settle(server, server))
      const upsert = (key: string) => client.upsertFile({ key, size: 10 })
      const { file } = await upsert('before')
      const ready = async () => (await server.fetch('/readyz')).status
      expect(await ready()).toBe(200)

      expect(() => writeFileSync(filler, Buffer.alloc(24 * megabyte))).toThrow('ENOSPC')
      // The result of a probe is reused for a moment.
      await vi.waitFor(async () => expect(await ready()).toBe(503))
      // Rows are still stored as long as the log of the database has room.
      const failure = await fillUp(async (round) => void (await upsert(`file-${round}`)))
      expect(failure).toMatchObject({
        status: 507,
        message: expect.stringContaining('no room left, so nothing of this was stored'),
      })
      expect(logged.find(({ msg, status }) => msg === 'request failed' && status === 507)).toEqual(
        expect.objectContaining({
          level: 'error',
          reason: 'The disk of the data folder is full: make room there.',
        }),
      )
      expect((await client.getFile({ id: file.id })).file.key).toBe('before')
      const metrics = await (await server.fetch('/metrics')).text()
      const [, free] = /^botstead_disk_free_bytes\{of="database"\} (\d+)$/m.exec(metrics) ?? []
      expect(Number(free)).toBeLessThan(megabyte)

      rmSync(filler)
      expect((await upsert('after')).file.status).toBe('upload_pending')
      await vi.waitFor(async () => expect(await ready()).toBe(200))
    } finally {
      await server.close()
      // The database library closes its files when its memory is collected.
      execFileSync('umount', ['-l', allOfIt])
      rmSync(allOfIt, { recursive: true, force: true })
    }
  })
})

describe.skipIf(!isMounted)('a full disk of the database and of the contents', () => {
  it('allows everything to be deleted, which makes room', async () => {
    const [engine] = engines
    if (engine === undefined) throw new Error('There is no engine to test on')
    const server = await startTestServer(engine, {
      BOTSTEAD_DATA_DIR: toDelete,
      BOTSTEAD_DISK_RESERVE_BYTES: '4MiB',
    })
    const filler = join(toDelete, 'filler')
    try {
      const tenant = await settle(server, server)
      const admin = server.client()
      const client = server.client(tenant)
      const chat = server.client({ webhookId: tenant.webhookId, userKey: tenant.userKey })
      const large = await uploadText(client, 'large.bin', 'x'.repeat(2 * megabyte))
      const text = Array.from({ length: 60 }, (_, at) => `## Part ${at}\n\nPassage ${at}.`)
      const passages = await uploadText(client, 'passages.md', text.join('\n\n'), true)
      await untilIndexed(client, passages.id)
      const { conversation } = await chat.chatCreateConversation({})
      const { bot: other } = await admin.createBot({ name: 'other' })
      const workspace = await admin.createWorkspace({ name: 'other' })

      const statePlace = { type: 'bot' as const, id: tenant.botId, name: 'kept' }
      await client.setState({ ...statePlace, payload: { a: 1 } })
      await admin.updateBot({
        id: tenant.botId,
        recurringEvents: { tick: { type: 'tick', payload: {}, schedule: { cron: '0 * * * *' } } },
      })
      const { user: guest } = await client.createUser({ tags: {} })
      const member = { id: tenant.conversationId, userId: guest.id }
      await client.addParticipant(member)
      const soon = { type: 'soon', payload: {}, schedule: { delay: 3_600_000 } }
      const { event } = await client.createEvent(soon)

      expect(() => writeFileSync(filler, Buffer.alloc(32 * megabyte))).toThrow('ENOSPC')
      const upsert = (round: number) => client.upsertFile({ key: `file-${round}`, size: 10 })
      expect(await fillUp(async (round) => void (await upsert(round)))).toMatchObject({
        status: 507,
      })
      // Each of them writes, and only the reserved room is left.
      const deletions: Record<string, () => Promise<unknown>> = {
        state: () => client.setState({ ...statePlace, payload: null }),
        'recurring event': () =>
          admin.updateBot({ id: tenant.botId, recurringEvents: { tick: null } }),
        'scheduled event': () => client.cancelScheduledEvent({ id: event.id }),
        participant: () => client.removeParticipant(member),
        'keys of a user': () => client.revokeUserKeys({ id: guest.id }),
        'ban of a user': () => client.banUser({ id: guest.id }),
        'end of a ban': () => client.unbanUser({ id: guest.id }),
        'pause of deliveries': () => admin.pauseDeliveries({ id: tenant.botId }),
        'end of that pause': () => admin.resumeDeliveries({ id: tenant.botId }),
        'former signing secret': () => admin.rotateBotSigningSecrets({ id: tenant.botId }),
        'tags of a file': () => client.updateFileMetadata({ id: large.id, tags: { a: null } }),
        'course of a workflow': () =>
          client.updateWorkflow({ id: tenant.workflowId, status: 'cancelled' }),
        message: () => chat.chatDeleteMessage({ id: tenant.messageId }),
        conversation: () => client.deleteConversation({ id: tenant.conversationId }),
        'conversation of the chat': () => chat.chatDeleteConversation({ id: conversation.id }),
        workflow: () => client.deleteWorkflow({ id: tenant.workflowId }),
        'knowledge base': () => client.deleteKnowledgeBase({ id: tenant.knowledgeBaseId }),
        'bot key': () => admin.deleteBotApiKey({ id: tenant.botKeyId }),
        'personal token': () => admin.deletePersonalAccessToken({ id: tenant.personalTokenId }),
        'integration key': () => admin.deleteIntegrationApiKey({ id: tenant.integrationKeyId }),
        integration: () => admin.deleteIntegration({ id: tenant.integrationId }),
        user: () => client.deleteUser({ id: tenant.userId }),
        'file with passages': () => client.deleteFile({ id: passages.id }),
        bot: () => admin.deleteBot({ id: other.id }),
        workspace: () => admin.deleteWorkspace({ id: workspace.id }),
      }
      for (const [what, remove] of Object.entries(deletions)) {
        // Room that was freed in the meantime is filled again.
        await fillUp(async (round) => void (await upsert(10_000 + round)))
        await expect(remove(), what).resolves.toBeDefined()
      }
      // The content is deleted in the background, which makes room again.
      const free = () => freeMegabytes(toDelete)
      await client.deleteFile({ id: large.id })
      await vi.waitUntil(() => free() + reserved(toDelete) > 5)
      await vi.waitFor(() => upsert(1_000_000))
    } finally {
      await server.close()
      execFileSync('umount', ['-l', toDelete])
      rmSync(toDelete, { recursive: true, force: true })
    }
  })
})

describe.skipIf(!isMounted)('a disk that is full before the server starts', () => {
  it.each(['was stopped', 'was killed'])('lets a server that %s start and delete', async (end) => {
    const settings = { BOTSTEAD_DATA_DIR: toStart, BOTSTEAD_DISK_RESERVE_BYTES: '4MiB' }
    const filler = join(toStart, 'filler')
    let server = await startServerProcess(settings)
    try {
      const token = readFileSync(join(toStart, 'admin-token'), 'utf8')
      const admin = async () => {
        const client = createClient({ baseUrl: server.url, token })
        const [workspace] = (await client.listWorkspaces()).workspaces
        return createClient({ baseUrl: server.url, token, workspaceId: workspace?.id ?? '' })
      }
      const { bot } = await (await admin()).createBot({})
      const client = () => createClient({ baseUrl: server.url, token, botId: bot.id })
      const { file } = await client().upsertFile({ key: 'a', size: 10 })
      await (end === 'was killed' ? server.kill() : server.stop())
      // The last bytes are filled too: what the end of the server freed.
      const taken = openSync(filler, 'w')
      expect(() => {
        for (;;) writeSync(taken, Buffer.alloc(4096, 1))
      }).toThrow('ENOSPC')
      closeSync(taken)

      server = await startServerProcess(settings, '/openapi.json')
      // The start may have used the reserve, which is filled again at once.
      const probe = async () => (await fetch(`${server.url}/readyz`)).status
      await vi.waitFor(async () => expect(await probe()).toBe(503))
      const upsert = (round: number) => client().upsertFile({ key: `file-${round}`, size: 10 })
      expect(await fillUp(async (round) => void (await upsert(round)))).toMatchObject({
        status: 507,
      })
      await expect(client().deleteFile({ id: file.id })).resolves.toBeDefined()
      await expect((await admin()).deleteBot({ id: bot.id })).resolves.toBeDefined()
    } finally {
      await server.kill()
      rmSync(filler, { force: true })
    }
  })

  afterAll(() => {
    execFileSync('umount', ['-l', toStart])
    rmSync(toStart, { recursive: true, force: true })
  })
})

/** Megabytes that a server reserves for deletions. */
function reserved(folder: string): number {
  return statSync(join(folder, 'botstead.db-reserve')).size / megabyte
}

/** Repeats a call until it fails; returns the failure. */
async function fillUp(call: (round: number) => Promise<void>): Promise<unknown> {
  for (let round = 0; round < 5000; round++) {
    const failure = await call(round).then(
      () => undefined,
      (error: unknown) => error,
    )
    if (failure !== undefined) return failure
  }
  return undefined
}

interface Logged {
  level: string
  msg: string
  kind?: string
  status?: number
  reason?: string
  err?: { message: string }
}

async function recordLog() {
  const logged: Logged[] = []
  const destination = { write: (line: string) => void logged.push(JSON.parse(line)) }
  return { logged, log: await createLog({ level: 'info', destination }) }
}

/** Files below a folder that this process has open. */
function openBelow(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((number) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${number}`)
      return path.startsWith(folder) ? [path] : []
    } catch {
      return []
    }
  })
}

function freeMegabytes(folder = blobs): number {
  const [, line = ''] = execFileSync('df', ['-k', folder], { encoding: 'utf8' }).split('\n')
  return Number(line.split(/\s+/)[3]) / 1024
}
