import { createHash, randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, createClient } from '@botstead/contract'
import { Upload } from 'tus-js-client'
import { expect, it, vi } from 'vitest'
import { openDatabase } from '../../src/platform/db/open.js'
import { type CommandPlace, createCommandPlace } from '../command-place.js'
import { describeSlow } from '../engines.js'
import { freePort } from '../ports.js'
import { type ServerProcess, startServerProcess } from '../processes.js'

const token = 'a-token-for-tests-only'
const settings = { BOTSTEAD_ADMIN_TOKEN: token, LOG_LEVEL: 'error' }
const rounds = 2
const senders = 12
const keys = Array.from({ length: 100 }, (_, number) => `file-${number}`)
const megabyte = 1024 * 1024

/**
 * A content that identifies its file and shows whether it is complete. In each round half of the contents are
 * small enough for the database.
 */
function contentOf(key: string, round: number): string {
  const seal = createHash('sha256').update(`${key} ${round}`).digest('hex')
  const isSmall = (Number(key.split('-')[1]) + round) % 2 === 0
  return `${key} ${round} ${seal} `.repeat(isSmall ? 100 : 1000)
}

describeSlow('files under kill -9', (engine) => {
  it('have their old or their new content, complete, and leave nothing behind', async () => {
    await using place = await createCommandPlace(engine)
    const environment = { ...place.environment, ...settings }
    let server = await startServerProcess(environment)
    const client = await openBot(server)
    /** The last acknowledged version of each file. */
    const acknowledged = new Map<string, number>()
    for (let round = 1; round <= rounds; round++) {
      let done = 0
      const left = keys.values()
      const send = async () => {
        for (const key of left) {
          try {
            await upload(client(server), key, contentOf(key, round))
          } catch {
            return
          }
          acknowledged.set(key, round)
          done += 1
        }
      }
      const sending = Array.from({ length: senders }, send)
      while (done < 30) await sleep(1)
      await server.kill()
      await Promise.all(sending)
      server = await startServerProcess(environment)
      const restarted = client(server)
      const check = async (key: string) => {
        const found = await read(restarted, key)
        const least = acknowledged.get(key) ?? 0
        if (found === undefined) return expect(least).toBe(0)
        const [, number] = found.split(' ', 2)
        expect(Number(number)).toBeGreaterThanOrEqual(least)
        expect(found).toBe(contentOf(key, Number(number)))
        acknowledged.set(key, Number(number))
      }
      await Promise.all(keys.map(check))
    }
    expect(acknowledged.size).toBeGreaterThanOrEqual(30)
    await expectNothingLost(place)
    await server.stop()
  })

  it('continue an upload in parts after the restart', async () => {
    await using place = await createCommandPlace(engine)
    const environment = { ...place.environment, ...settings, PORT: String(await freePort()) }
    let server = await startServerProcess(environment)
    const client = await openBot(server)
    const content = Buffer.alloc(8 * megabyte, 'The pump stands in the cellar. ')
    const { file } = await client(server).upsertFile({ key: 'large', size: content.length })
    const starts: number[] = []
    let killed: Promise<void> | undefined
    await new Promise<void>((resolve, reject) => {
      new Upload(content, {
        uploadUrl: file.uploadUrl,
        chunkSize: megabyte,
        retryDelays: Array.from({ length: 600 }, () => 200),
        onBeforeRequest: (request) => {
          if (request.getMethod() === 'PATCH') {
            starts.push(Number(request.getHeader('Upload-Offset')))
          }
        },
        onChunkComplete: (_size, sent) => {
          if (sent < 3 * megabyte || killed !== undefined) return
          killed = server.kill().then(async () => {
            server = await startServerProcess(environment)
          })
        },
        onSuccess: () => resolve(),
        onError: reject,
      }).start()
    })
    await killed
    expect(killed).toBeDefined()
    // Only the first request began at the start, before the crash and after it.
    expect(starts.filter((start) => start === 0)).toHaveLength(1)
    await vi.waitFor(
      async () => {
        const { file: now } = await client(server).getFile({ id: file.id })
        expect(now.status).toBe('upload_completed')
      },
      { timeout: 10_000, interval: 50 },
    )
    const { file: complete } = await client(server).getFile({ id: file.id })
    const answer = Buffer.from(await (await fetch(complete.url)).arrayBuffer())
    expect(answer.equals(content)).toBe(true)
    await expectNothingLost(place)
    await server.stop()
  })

  it('keep what came of one long request', async () => {
    await using place = await createCommandPlace(engine)
    const environment = { ...place.environment, ...settings, PORT: String(await freePort()) }
    let server = await startServerProcess(environment)
    const client = await openBot(server)
    const content = randomBytes(8 * megabyte)
    const { file } = await client(server).upsertFile({ key: 'large', size: content.length })
    const version = { 'tus-resumable': '1.0.0' }
    const append = (offset: number, body: Uint8Array<ArrayBuffer> | ReadableStream) =>
      fetch(file.uploadUrl, {
        method: 'PATCH',
        headers: {
          ...version,
          'upload-offset': String(offset),
          'content-type': 'application/offset+octet-stream',
        },
        body,
        duplex: 'half',
      })
    const received = 6 * megabyte
    const stalled = new ReadableStream({
      start: (controller) => controller.enqueue(content.subarray(0, received)),
    })
    const sending = append(0, stalled).catch(() => undefined)
    await using database = await openDatabase(place.options)
    await vi.waitFor(
      async () => {
        const parts = await database.db.selectFrom('content_parts').select('size').execute()
        expect(parts.reduce((sum, { size }) => sum + size, 0)).toBe(received)
      },
      { timeout: 10_000, interval: 50 },
    )
    await server.kill()
    await sending
    server = await startServerProcess(environment)
    const state = await fetch(file.uploadUrl, { method: 'HEAD', headers: version })
    expect(state.headers.get('upload-offset')).toBe(String(received))
    expect((await append(received, content.subarray(received))).status).toBe(204)
    const { file: complete } = await vi.waitFor(
      async () => {
        const found = await client(server).getFile({ id: file.id })
        expect(found.file.status).toBe('upload_completed')
        return found
      },
      { timeout: 10_000, interval: 50 },
    )
    const answer = Buffer.from(await (await fetch(complete.url)).arrayBuffer())
    expect(answer.equals(content)).toBe(true)
    await server.stop()
  })
})

/** Creates a bot; returns a function that returns its client for the current process. */
async function openBot(server: ServerProcess): Promise<(server: ServerProcess) => Client> {
  const baseUrl = server.url
  const { workspaces } = await createClient({ baseUrl, token }).listWorkspaces()
  const admin = createClient({ baseUrl, token, workspaceId: workspaces[0]?.id ?? '' })
  const { bot } = await admin.createBot({})
  return ({ url }) => createClient({ baseUrl: url, token, botId: bot.id })
}

async function upload(client: Client, key: string, content: string): Promise<void> {
  const { file } = await client.upsertFile({ key, size: content.length })
  const response = await fetch(file.uploadUrl, { method: 'PUT', body: content })
  if (!response.ok) throw new Error(await response.text())
}

/** The content of a file, undefined if it never had one. */
async function read(client: Client, key: string): Promise<string | undefined> {
  const found = await client.getFile({ id: key }).catch(() => undefined)
  if (found === undefined) return undefined
  const response = await fetch(found.file.url)
  return response.ok ? await response.text() : undefined
}

/**
 * Every blob in the store is accounted for: it is in use, or on the list for the sweeper. The
 * rest are blobs whose row was not written, at most one for each sender; they are swept as orphans.
 */
async function expectNothingLost({ dataDir, options }: CommandPlace): Promise<void> {
  await using database = await openDatabase(options)
  const { db } = database
  const keysOf = async (table: 'file_contents' | 'content_parts' | 'discarded_blobs') => {
    const rows = await db.selectFrom(table).select('blob_key').execute()
    return rows.flatMap(({ blob_key }) => blob_key ?? [])
  }
  const used = new Set(await keysOf('file_contents'))
  const doomed = new Set([...(await keysOf('content_parts')), ...(await keysOf('discarded_blobs'))])
  const folder = join(dataDir, 'blobs')
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  const small = await db.selectFrom('small_blobs').select('key').execute()
  const names = new Set([...files, ...small.map(({ key }) => key)])
  expect([...used].filter((key) => !names.has(key))).toEqual([])
  const unknown = [...names].filter((name) => !used.has(name) && !doomed.has(name))
  expect(unknown.length).toBeLessThanOrEqual(senders * rounds)
}
