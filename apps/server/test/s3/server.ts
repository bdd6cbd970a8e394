import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll } from 'vitest'
import { createObjects, refused, type StoreResponse } from './objects.js'
import { refusalOf } from './signature.js'

const bucket = 'contents'
const keys = { BOTSTEAD: 'the-secret-of-the-bucket/+=' }

/** A request as faults see it. */
interface SeenRequest {
  method: string
  /** Object key, empty for the bucket. */
  key: string
  query: URLSearchParams
}

/**
 * A fault of a request, which may take its time: it sends the response itself, the response breaks off in the
 * middle, or the request is performed and its response lost. Undefined lets it pass.
 */
export type Fault = (seen: SeenRequest, response: ServerResponse) => Outcome | Promise<Outcome>

type Outcome = 'handled' | 'cut-response' | 'lost-response' | undefined

/** An object store on this machine that speaks S3, checks signatures, and fails on demand. */
export interface TestS3 {
  /** For `BOTSTEAD_BLOBS_URL`; each call has a prefix of its own unless one is given. */
  url(options?: {
    bucket?: string
    prefix?: string
    secret?: string
    user?: string
    /** Seconds. */
    timeout?: number
  }): string
  endpoint: string
  accessKeyId: string
  secretAccessKey: string
  /** Called for every request. */
  fault: Fault | undefined
  /** The requests so far. */
  readonly seen: SeenRequest[]
  openUploads(): string[]
  /** Moves the start of multipart uploads back by some milliseconds; their parts are unchanged. */
  backdateUploads(milliseconds: number): void
  /** Keys of all objects, with their prefixes. */
  keys(): string[]
  close(): Promise<void>
}

export async function startTestS3(): Promise<TestS3> {
  const objects = createObjects()
  const seen: SeenRequest[] = []

  function respond(incoming: IncomingMessage, body: Buffer): StoreResponse {
    const { method = '', url = '', headers } = incoming
    const refusal = refusalOf({ method, url, headers }, keys)
    if (refusal !== undefined) return refused(403, refusal)
    const claimed = headers['x-amz-content-sha256'] ?? 'UNSIGNED-PAYLOAD'
    const actual = createHash('sha256').update(body).digest('hex')
    if (claimed !== 'UNSIGNED-PAYLOAD' && claimed !== actual) {
      return refused(400, 'XAmzContentSHA256Mismatch')
    }
    const { pathname, searchParams: query } = new URL(url, 'http://store')
    const [, bucketName, ...key] = pathname.split('/')
    if (bucketName !== bucket) return refused(404, 'NoSuchBucket')
    return objects.handle({ method, key: key.join('/'), query, headers, body })
  }

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(incoming.url ?? '/', 'http://store')
    const what = {
      method: incoming.method ?? '',
      key: pathname.split('/').slice(2).join('/'),
      query,
    }
    seen.push(what)
    const fault = await test.fault?.(what, outgoing)
    if (fault === 'handled') return
    // A body that breaks off rejects here and stores nothing.
    const { status, headers, body = '' } = respond(incoming, await buffer(incoming))
    if (fault === 'lost-response') return void outgoing.destroy()
    const content = Buffer.from(body)
    outgoing.writeHead(status, {
      ...headers,
      ...(status !== 204 && { 'content-length': content.length }),
    })
    if (fault === undefined) return void outgoing.end(content)
    outgoing.write(content.subarray(0, Math.ceil(content.length / 2)), () => outgoing.destroy())
  }

  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const test: TestS3 = {
    endpoint,
    accessKeyId: 'BOTSTEAD',
    secretAccessKey: keys.BOTSTEAD,
    fault: undefined,
    seen,
    openUploads: objects.openUploads,
    backdateUploads: objects.backdateUploads,
    keys: objects.keys,
    url: (options = {}) => {
      const { prefix = randomUUID(), user = 'BOTSTEAD', secret = keys.BOTSTEAD } = options
      const query = new URLSearchParams({ endpoint, region: 'us-east-1' })
      if (options.timeout !== undefined) query.set('timeout', String(options.timeout))
      return `s3://${user}:${encodeURIComponent(secret)}@${options.bucket ?? bucket}/${prefix}?${query}`
    },
    close: async () => {
      server.closeAllConnections()
      await promisify(server.close.bind(server))()
    },
  }
  return test
}

/** The store for the tests of the surrounding `describe`; call the returned function inside a test. */
export function useTestS3(): () => TestS3 {
  let running: TestS3 | undefined
  beforeAll(async () => {
    running = await startTestS3()
  })
  afterAll(async () => {
    await running?.close()
  })
  return () => {
    if (running === undefined) throw new Error('The store is there only while a test runs')
    return running
  }
}
