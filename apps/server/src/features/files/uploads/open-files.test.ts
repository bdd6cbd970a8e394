import { once } from 'node:events'
import { existsSync, readdirSync, readlinkSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { engines } from '../../../../test/engines.js'
import { send, useFiles } from '../../../../test/files.js'
import { receivedBy, untilClosed } from '../../../../test/raw-http.js'

const [engine] = engines
if (engine === undefined) throw new Error('There is no engine to test on')
const descriptors = '/proc/self/fd'
const part = {
  'tus-resumable': '1.0.0',
  'content-type': 'application/offset+octet-stream',
}
const size = 8_000_000

describe.skipIf(!existsSync(descriptors))('the store of contents has no file open', () => {
  const bench = useFiles(engine)

  /** Content files that this process has open; their folders are open while they are synced. */
  function openFiles(): string[] {
    const folder = dirname(dirname(bench().blobs.localPath?.('a-blob-key', 0) ?? ''))
    return readdirSync(descriptors).flatMap((number) => {
      try {
        const descriptor = `${descriptors}/${number}`
        const path = readlinkSync(descriptor)
        return path.startsWith(folder) && statSync(descriptor).isFile() ? [path] : []
      } catch {
        return []
      }
    })
  }

  const expectNoneOpen = () => vi.waitFor(() => expect(openFiles()).toEqual([]))
  const expectOneOpen = (butNot?: string) =>
    vi.waitFor(() => {
      const open = openFiles()
      expect([open.length, open[0] === butNot]).toEqual([1, false])
      return open
    })

  /** A connection on which a request and a part of its body are sent, and nothing else. */
  async function open(method: string, address: string, body = '', headers: object = {}) {
    const { host, hostname, port, pathname, search } = new URL(address)
    const socket = connect(Number(port), hostname).on('error', () => undefined)
    const lines = Object.entries({ host, ...headers }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    )
    socket.write(`${method} ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
    await once(socket, 'connect')
    return socket
  }

  const announce = async (declared = size) =>
    (await bench().newBot().as().upsertFile({ key: 'a.bin', size: declared })).file

  it.each([
    ['whole', 'PUT', false],
    ['in parts', 'PATCH', true],
  ])('after uploads %s that break off, are superseded or stall', async (_, method, keeps) => {
    const { uploadUrl } = await announce()
    // The received bytes of a part are kept, and the next one continues from there.
    let offset = 0
    const headers = () => (keeps ? { ...part, 'upload-offset': String(offset) } : {})
    const begin = async () => {
      const length = { 'content-length': size - offset }
      const socket = await open(method, uploadUrl, 'a'.repeat(1000), { ...headers(), ...length })
      if (keeps) offset += 1000
      return socket
    }

    const broken = await begin()
    await expectOneOpen()
    broken.destroy()
    await expectNoneOpen()

    const older = await begin()
    const [ofOlder] = await expectOneOpen()
    const refused = receivedBy(older)
    const newer = await begin()
    await vi.waitFor(() => expect(refused()).toContain('ResourceLockedConflict'))
    // A sender that continues after a refusal is cut off.
    older.write(Buffer.alloc(size - offset))
    await untilClosed(older)
    const [ofNewer] = await expectOneOpen(ofOlder)
    const ended = receivedBy(newer)
    bench().timers.advance(60_000)
    await vi.waitFor(() => expect(ended()).toMatch(/^HTTP\/1\.1 408 /))
    newer.destroy()
    await expectNoneOpen()
    expect(ofNewer).not.toBe(ofOlder)

    const rest = { method, headers: headers(), body: 'a'.repeat(size - offset) }
    expect((await fetch(uploadUrl, rest)).ok).toBe(true)
    await expectNoneOpen()
  })

  it('after uploads that are refused', async () => {
    const digest = { 'content-digest': `sha-256=:${Buffer.alloc(32).toString('base64')}:` }
    const chunked = (uploadUrl: string, content: string) => {
      const init: RequestInit & { duplex: string } = {
        method: 'PUT',
        body: new Blob([content]).stream(),
        duplex: 'half',
      }
      return fetch(uploadUrl, init)
    }
    const statuses = [
      await send((await announce(3)).uploadUrl, 'abcd'),
      await send((await announce(3)).uploadUrl, 'abc', digest),
      await chunked((await announce(3)).uploadUrl, 'a'.repeat(size)),
      await chunked((await announce(3)).uploadUrl, 'a'),
    ].map(({ status }) => status)
    expect(statuses).toEqual([413, 400, 413, 400])
    await expectNoneOpen()
  })

  it('after downloads of every kind, also incomplete ones', async () => {
    const { url } = await bench().newBot().upload({ key: 'a.bin' }, Buffer.alloc(8_000_000))
    const etag = (await fetch(url, { method: 'HEAD' })).headers.get('etag') ?? ''
    const statuses = []
    for (const headers of [
      {},
      { range: 'bytes=5-10' },
      { 'if-none-match': etag },
      { 'if-match': '"x"' },
      { range: 'bytes=9000000-' },
    ] as Record<string, string>[]) {
      for (const method of ['GET', 'HEAD']) {
        const response = await fetch(url, { method, headers })
        await response.arrayBuffer()
        statuses.push(response.status)
      }
    }
    expect(statuses).toEqual([200, 200, 206, 206, 304, 304, 412, 412, 416, 416])
    await expectNoneOpen()

    for (const range of [{}, { range: 'bytes=5-7999999' }]) {
      const reader = await open('GET', url, '', range)
      await once(reader, 'readable')
      await expectOneOpen()
      reader.destroy()
      await expectNoneOpen()
    }
    // Closed before there is a response, each a little later than the previous one.
    for (let wait = 0; wait < 20; wait++) {
      const reader = await open('GET', url)
      await new Promise((resolve) => setTimeout(resolve, wait / 2))
      reader.destroy()
    }
    await expectNoneOpen()
  })
})
