import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createS3Client } from '../src/platform/blobs/s3-client.js'
import { createAddressRules } from '../src/platform/outgoing/address-rules.js'
import { createOutgoing } from '../src/platform/outgoing/outgoing.js'

/** Bytes that servers of others send in place of a response. A fault in a listener would fail the run as an uncaught error. */
const hostile: Record<string, string> = {
  'another protocol':
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nxx',
  'no response': '\0\0\r\n\r\n\xff\xff',
  'no status': 'HTTP/1.1 abc OK\r\n\r\n',
  'a status of one digit': 'HTTP/1.1 0 OK\r\nContent-Length: 0\r\n\r\n',
  'interim responses without end':
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n'.repeat(500),
  'two lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 5\r\n\r\nabcde',
  'a negative length': 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nabc',
  'a length and chunks':
    'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'a chunk without size': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n',
  'a chunk that is longer':
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n0\r\n\r\n',
  'odd trailers':
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: __proto__\r\n\r\n1\r\na\r\n0\r\n__proto__: x\r\nconstructor\r\n\r\n',
  'too many headers': `HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(20_000)}\r\n`,
  'odd headers':
    'HTTP/1.1 200 OK\r\n__proto__: a\r\nconstructor: b\r\nretry-after: -1e9\r\ncontent-type: \xff\r\nContent-Length: 0\r\n\r\n',
  'a line without end': 'x'.repeat(1_000_000),
  'a second response':
    'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 500 X\r\nContent-Length: 1\r\n\r\nx',
  'a beginning': 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc',
}

const storeAt = (endpoint: string) =>
  createS3Client({
    endpoint,
    region: 'us-east-1',
    bucket: 'bucket',
    prefix: '',
    pathStyle: true,
    accessKeyId: 'id',
    secretAccessKey: 'secret',
    sessionToken: undefined,
  })

describe('servers of others', () => {
  const cleanups: (() => unknown)[] = []
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup()
  })

  /** Sends bytes to whoever writes something, and closes the connection. */
  async function listen(bytes: string): Promise<string> {
    const open = new Set<Socket>()
    const server = createServer((socket) => {
      open.add(socket)
      socket.on('error', () => {}).once('data', () => socket.end(bytes, 'latin1'))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanups.push(() => {
      for (const socket of open) socket.destroy()
      server.close()
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  it.each(Object.entries(hostile))(
    'a server that sends %s ends only the call',
    async (_, bytes) => {
      const outgoing = createOutgoing({
        rules: createAddressRules({ allowed: [], allowLoopback: true }),
      })
      cleanups.push(() => outgoing[Symbol.asyncDispose]())
      const url = await listen(bytes)
      const request = { headers: {}, body: '{}', timeoutMs: 20_000, maxResponseBytes: 1000 }
      for (const method of ['POST', 'GET'] as const) {
        const settled = await outgoing.send(url, { ...request, method }).then(
          ({ status }) => typeof status,
          ({ failure }) => failure,
        )
        expect(['number', 'connection']).toContain(settled)
      }
    },
  )

  it.each(Object.entries(hostile))(
    'an object store that sends %s ends only the call',
    async (_, bytes) => {
      const client = storeAt(await listen(bytes))
      const settled = await client.send({ method: 'GET', key: 'a', attempts: 1 }).then(
        ({ status }) => typeof status,
        (error) => error.name,
      )
      expect(['number', 'S3ConnectionError', 'S3BusyError', 'S3Error']).toContain(settled)
    },
  )

  it('an endless list of an object store is not read to its end', async () => {
    const url = await listen(
      `HTTP/1.1 200 OK\r\nContent-Length: ${2 ** 30}\r\n\r\n${'x'.repeat(17 * 2 ** 20)}`,
    )
    const client = storeAt(url)
    await expect(client.send({ method: 'GET', attempts: 1 })).rejects.toThrow(
      'its response has more than 16777216 bytes',
    )
  })
})
