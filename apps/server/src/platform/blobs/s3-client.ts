import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import { idleTimeoutOf, type S3Address } from './s3-address.js'
import { isPassing, S3BusyError, S3ConnectionError, S3Error, usualSetting } from './s3-responses.js'

/** Bytes to send. They are kept until the response, so that they can be sent again. */
export interface S3Body {
  chunks: readonly Uint8Array[]
  /** Bytes. */
  size: number
  /** SHA-256 in hex: it is signed, so that the store refuses what was damaged on the way. */
  sha256: string
}

interface S3Request {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** The object, without the prefix; undefined for the bucket. */
  key?: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: S3Body
  signal?: AbortSignal | undefined
  /** Tries altogether; default 5. */
  attempts?: number
}

interface S3Response {
  status: number
  headers: IncomingMessage['headers']
  body: string
}

export interface S3ClientOptions {
  /** Milliseconds without a byte after which a request has failed. */
  idleTimeout?: number
  /** Milliseconds before the second try; doubled for each further one. */
  firstPause?: number
}

/** The signed part of a presigned URL. */
interface Presigned {
  method: 'GET' | 'PUT'
  key: string
  /** Seconds, from 1 to 604,800. */
  lifetime: number
  query?: Record<string, string>
  /** Headers that the caller must send exactly so. */
  headers?: Record<string, string>
}

/** Sends signed requests to the object store. */
export interface S3Client {
  /** Sends a request and reads the response; failures that may be temporary are retried. */
  send(request: S3Request): Promise<S3Response>
  /** As `send`, but the body of the response is left to be read. Destroy it if it is not read to its end. */
  open(request: S3Request): Promise<IncomingMessage>
  presign(wanted: Presigned): Promise<string>
}

const emptySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
const maxPause = 5_000
const defaultAttempts = 5
/** Maximum size in bytes of a response that is no content. The largest is a list of 1,000 objects. */
const maxTextLength = 16 * 2 ** 20

/** Speaks S3 over HTTP: signs, sends, and tries again what may pass. Connections are kept and reused. */
export function createS3Client(address: S3Address, options: S3ClientOptions = {}): S3Client {
  const { idleTimeout = idleTimeoutOf(address), firstPause = 100 } = options
  const secure = address.endpoint.startsWith('https:')
  const agent = secure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })
  const signingKeys = new Map<string, ArrayBuffer>()

  function urlOf(key: string | undefined, query: Record<string, string> = {}): URL {
    const url = new URL(address.endpoint)
    if (!address.pathStyle) url.host = `${address.bucket}.${url.host}`
    const bucket = address.pathStyle ? `/${address.bucket}` : ''
    url.pathname = key === undefined ? bucket || '/' : `${bucket}/${address.prefix}${key}`
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    return url
  }

  const signer = (url: URL, request: Pick<S3Request, 'method' | 'headers'>) => ({
    url: url.href,
    method: request.method,
    ...(request.headers && { headers: request.headers }),
    accessKeyId: address.accessKeyId,
    secretAccessKey: address.secretAccessKey,
    ...(address.sessionToken !== undefined && { sessionToken: address.sessionToken }),
    service: 's3',
    region: address.region,
    cache: signingKeys,
  })

  /** One attempt: resolves with the headers. */
  async function attempt(request: S3Request): Promise<IncomingMessage> {
    const { method, body, signal } = request
    const signed = await new AwsV4Signer(
      signer(urlOf(request.key, request.query), {
        method,
        headers: { ...request.headers, 'x-amz-content-sha256': body?.sha256 ?? emptySha256 },
      }),
    ).sign()
    const headers = Object.fromEntries(signed.headers)
    if (method === 'PUT' || method === 'POST') headers['content-length'] = String(body?.size ?? 0)
    signal?.throwIfAborted()
    return await new Promise((resolve, reject) => {
      const send = secure ? requestHttps : requestHttp
      const outgoing = send(signed.url, { method, headers, agent, ...(signal && { signal }) })
      outgoing.setTimeout(idleTimeout, () => {
        outgoing.destroy(new Error(`No byte passed for ${idleTimeout} ms`))
      })
      outgoing.once('response', resolve)
      outgoing.on('error', (error) => reject(failureOf(error, signal, address)))
      // A store that switches to another protocol gets no response read, and causes no error.
      outgoing.once('close', () => reject(failureOf(new Error('no response'), signal, address)))
      for (const chunk of body?.chunks ?? []) outgoing.write(chunk)
      outgoing.end()
    })
  }

  async function read(response: IncomingMessage, signal: AbortSignal | undefined): Promise<string> {
    try {
      return await textOf(response)
    } catch (error) {
      throw failureOf(error, signal, address)
    }
  }

  async function repeated<T>(
    request: S3Request,
    work: (response: IncomingMessage) => Promise<T>,
  ): Promise<T> {
    const { attempts = defaultAttempts, signal } = request
    for (let tried = 1; ; tried++) {
      try {
        const response = await attempt(request)
        if (response.statusCode === undefined || response.statusCode < 300)
          return await work(response)
        const body = await read(response, signal)
        throw new S3Error(response.statusCode, body, regionOf(response))
      } catch (error) {
        if (!isPassing(error)) throw error
        if (tried >= attempts) throw error instanceof S3Error ? new S3BusyError(error) : error
        // A random part keeps those who were refused together from coming back together.
        const pause = Math.min(maxPause, firstPause * 2 ** (tried - 1))
        await sleep(pause * (0.5 + Math.random() / 2), undefined, signal && { signal })
      }
    }
  }

  return {
    send: (request) =>
      repeated(request, async (response) => {
        const { statusCode: status = 0, headers } = response
        const body = await read(response, request.signal)
        // Completing a large object returns 200 at once and reports a failure in the body.
        if (/^\s*(<\?xml[^>]*>\s*)?<Error[ >]/.test(body)) throw new S3Error(500, body)
        return { status, headers, body }
      }),

    open: (request) =>
      repeated(request, async (response) => {
        // From here on the reader may be slow; it watches the silence itself.
        response.socket.setTimeout(0)
        return response
      }),

    async presign({ method, key, lifetime, query, headers }) {
      const url = urlOf(key, { ...query, 'X-Amz-Expires': String(lifetime) })
      const signed = await new AwsV4Signer({
        ...signer(url, { method, ...(headers && { headers }) }),
        signQuery: true,
        allHeaders: true,
      }).sign()
      return signed.url.href
    },
  }
}

function failureOf(
  error: unknown,
  signal: AbortSignal | undefined,
  { calledBy = usualSetting }: S3Address,
): unknown {
  if (signal?.aborted) return signal.reason
  const reason = error instanceof Error ? error.message || error.name : String(error)
  return new S3ConnectionError(`The object store of ${calledBy} does not respond: ${reason}.`, {
    cause: error,
  })
}

async function textOf(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of response) {
    size += piece.length
    if (size > maxTextLength) throw new Error(`its response has more than ${maxTextLength} bytes`)
    pieces.push(piece)
  }
  return new TextDecoder().decode(Buffer.concat(pieces))
}

function regionOf({ headers }: IncomingMessage): string | undefined {
  const region = headers['x-amz-bucket-region']
  return typeof region === 'string' ? region : undefined
}
