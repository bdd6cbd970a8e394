import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import negotiate from '@fastify/accept-negotiator'
import type { FastifyReply, FastifyRequest } from 'fastify'

const brotli = promisify(brotliCompress)
const encodings = ['br', 'gzip'] as const
type Encoding = (typeof encodings)[number]

const cacheControls = {
  immutable: 'public, max-age=31536000, immutable',
  minutes: 'public, max-age=300',
  revalidate: 'no-cache',
} as const

interface Form {
  bytes: Buffer
  etag: string
}

export interface ReadyContentOptions {
  contentType: string
  /** Creates the content at the first request; after a failure the next one tries again. */
  make(): Promise<string | Buffer>
  /** The content as the build has compressed it with brotli, if it has, at a level that takes too long for a request. */
  makeBrotli?(): Promise<Buffer | undefined>
  /**
   * Time for which caches may use it without revalidation. By default they revalidate: another version of the
   * server has other content. `immutable` is for addresses that change with the content.
   */
  caching?: keyof typeof cacheControls
  /** Additional headers of every response. */
  headers?: Readonly<Record<string, string>>
}

/** Serves content that is the same for every caller: created once and compressed once. */
export function readyContent(options: ReadyContentOptions) {
  const { contentType, make, makeBrotli, caching = 'revalidate', headers = {} } = options
  const plain = once(async () => toForm(Buffer.from(await make())))
  const compressed: Record<Encoding, () => Promise<Form>> = {
    // Nearly as small as the highest level, at half the work.
    br: once(async () => {
      const { bytes, etag } = await plain()
      const params = { [constants.BROTLI_PARAM_QUALITY]: 5 }
      const compressed = (await makeBrotli?.()) ?? (await brotli(bytes, { params }))
      return { bytes: compressed, etag: withSuffix(etag, 'br') }
    }),
    gzip: once(async () => {
      const { bytes, etag } = await plain()
      return { bytes: await promisify(gzip)(bytes), etag: withSuffix(etag, 'gzip') }
    }),
  }

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const encoding = negotiate(String(request.headers['accept-encoding'] ?? ''), [...encodings])
    const form = await (encoding === null ? plain() : compressed[encoding]())
    addToVary(reply, 'accept-encoding')
    reply.headers({
      ...headers,
      'cache-control': cacheControls[caching],
      'x-content-type-options': 'nosniff',
      etag: form.etag,
    })
    if (matchesTag(request.headers['if-none-match'], form.etag)) return reply.code(304).send()
    if (encoding !== null) reply.header('content-encoding', encoding)
    return reply.type(contentType).send(form.bytes)
  }
}

function toForm(bytes: Buffer): Form {
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` }
}

function withSuffix(etag: string, suffix: string): string {
  return `${etag.slice(0, -1)}-${suffix}"`
}

function matchesTag(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}

/** Declares that a response depends on a request header, in addition to earlier declarations. */
export function addToVary(reply: FastifyReply, name: string): void {
  const before = reply.getHeader('vary')
  reply.header('vary', before === undefined ? name : `${before}, ${name}`)
}

/** Creates a value at its first use; after a failure the next use tries again. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make().catch((error) => {
      made = undefined
      throw error
    })
    return made
  }
}
