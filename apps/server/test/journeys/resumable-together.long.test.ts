import { connect } from 'node:net'
import { createClient } from '@botstead/contract'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createCommandPlace } from '../command-place.js'
import { engines } from '../engines.js'
import { type ServerProcess, startServerProcess } from '../processes.js'
import { startTestS3, type TestS3 } from '../s3/server.js'

const token = 'a-token-for-tests-only'
const megabyte = 1024 * 1024
const tus = { 'tus-resumable': '1.0.0', 'content-type': 'application/offset+octet-stream' }

const postgres = engines.find(({ name }) => name === 'postgres')

describe.skipIf(!postgres)('an upload in parts to two processes on PostgreSQL', () => {
  let store: TestS3
  beforeAll(async () => {
    store = await startTestS3()
  })
  afterAll(() => store.close())

  it.each([
    ['a folder that both reach', false],
    ['an object store', true],
  ])('with %s continues at the other process when one is killed', async (_, isRemote) => {
    await using place = await createCommandPlace(postgres)
    const s3 = isRemote ? store : undefined
    const settings = {
      ...place.environment,
      ...(s3 && { BOTSTEAD_BLOBS_URL: s3.url({ prefix: 'shared' }) }),
      BOTSTEAD_ADMIN_TOKEN: token,
      LOG_LEVEL: 'error',
    }
    // One after the other, so that the first creates what both share.
    await using here = await startServerProcess(settings)
    await using there = await startServerProcess(settings)
    const client = await openBot(there)
    const content = Buffer.alloc(5 * megabyte, 'The pump stands in the cellar. ')
    const { file } = await client.upsertFile({ key: 'large', size: content.length })
    const { pathname } = new URL(file.uploadUrl)
    const append = async ({ url }: ServerProcess, start: number, bytes: Uint8Array) => {
      const headers = { ...tus, 'upload-offset': String(start) }
      return (await fetch(url + pathname, { method: 'PATCH', headers, body: bytes })).status
    }
    const offsetAt = async ({ url }: ServerProcess) => {
      const headers = { 'tus-resumable': '1.0.0' }
      return (await fetch(url + pathname, { method: 'HEAD', headers })).headers.get('upload-offset')
    }
    const part = (index: number) => content.subarray(index * megabyte, (index + 1) * megabyte)

    // Each process continues where the other stopped.
    expect(await append(here, 0, part(0))).toBe(204)
    expect(await offsetAt(there)).toBe(String(megabyte))
    expect(await append(there, megabyte, part(1))).toBe(204)

    // Of two concurrent requests one continues, and no bytes of the other are mixed in.
    const both = [append(here, 2 * megabyte, part(2)), append(there, 2 * megabyte, part(2))]
    expect((await Promise.all(both)).sort()).toEqual([204, 409])
    expect(await offsetAt(here)).toBe(String(3 * megabyte))

    // One process is killed in the middle of a part that was not acknowledged.
    const { hostname, port, host } = new URL(here.url)
    const socket = connect(Number(port), hostname).on('error', () => undefined)
    const lines = Object.entries({
      host,
      ...tus,
      'upload-offset': 3 * megabyte,
      'content-length': megabyte,
    }).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`PATCH ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n`)
    const wrong = Buffer.alloc(megabyte / 2, 'x')
    await new Promise((written) => socket.write(wrong, written))
    const closed = new Promise((resolve) => socket.once('close', resolve))
    await here.kill()
    await closed
    expect(await offsetAt(there)).toBe(String(3 * megabyte))
    expect(await append(there, 3 * megabyte, part(3))).toBe(204)
    expect(await append(there, 4 * megabyte, part(4))).toBe(204)

    const complete = await vi.waitFor(
      async () => {
        const now = (await client.getFile({ id: file.id })).file
        expect(now.status).toBe('upload_completed')
        return now
      },
      { interval: 50 },
    )
    const response = await fetch(
      there.url + new URL(complete.url).pathname + new URL(complete.url).search,
    )
    expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true)
    if (s3 === undefined) return
    // The parts are removed, and only the content is left, besides the owner file of the installation.
    const kept = () => s3.keys().filter((key) => !key.endsWith('botstead.owner'))
    await vi.waitFor(() => expect(kept()).toHaveLength(1), { interval: 50 })
    expect(s3.openUploads()).toEqual([])
  })
})

async function openBot({ url: baseUrl }: ServerProcess) {
  const { workspaces } = await createClient({ baseUrl, token }).listWorkspaces()
  const admin = createClient({ baseUrl, token, workspaceId: workspaces[0]?.id ?? '' })
  const { bot } = await admin.createBot({})
  return createClient({ baseUrl, token, botId: bot.id })
}
