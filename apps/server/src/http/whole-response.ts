import type { FastifyReply } from 'fastify'
import { LRUCache } from 'lru-cache'
import { Response } from './connections/index.js'

const jsonType = 'application/json; charset=utf-8'
const jsonTypeLine = `content-type: ${jsonType}\r\n`

/** Headers that do not change how a response is sent. With others, the framework sends it. */
const plainHeaders = new Set([
  'accept-ranges',
  'access-control-allow-credentials',
  'access-control-allow-origin',
  'access-control-expose-headers',
  'cache-control',
  'content-disposition',
  'content-range',
  'content-security-policy',
  'content-type',
  'cross-origin-resource-policy',
  'etag',
  'idempotent-replayed',
  'repr-digest',
  'vary',
  'x-content-type-options',
  'x-search-degraded',
])
const printable = /^[\x20-\x7e]*$/

/** Sends a JSON response. */
export function sendJson(reply: FastifyReply, status: number, response: unknown): void {
  const lines = response === undefined ? undefined : plainLines(reply)
  if (lines === undefined) reply.code(status).send(response)
  else sendLines(reply, status, lines + jsonTypeLine, JSON.stringify(response))
}

/** Sends a JSON response that has been serialized before. */
export function sendJsonText(reply: FastifyReply, status: number, text: string): void {
  const lines = plainLines(reply)
  if (lines === undefined) reply.code(status).type(jsonType).send(text)
  else sendLines(reply, status, lines + jsonTypeLine, text)
}

/** Headers of a response, by their names in lower case. */
type Headers = Readonly<Record<string, string | string[] | number | undefined>>

/** Sends bytes with their headers. */
export function sendBytes(
  reply: FastifyReply,
  status: number,
  headers: Headers,
  bytes: Buffer,
): void {
  const { 'content-length': length, ...others } = headers
  const isWhole = Number(length) === bytes.length && bytes.length > 0
  const lines = isWhole ? plainLines(reply) : undefined
  const ownLines = lines === undefined ? undefined : linesOf(others)
  if (lines === undefined || ownLines === undefined) {
    reply.code(status).headers(headers).send(bytes)
  } else sendLines(reply, status, lines + ownLines, bytes)
}

function sendLines(
  { raw }: FastifyReply,
  status: number,
  lines: string,
  body: string | Buffer,
): void {
  if (raw instanceof Response) raw.sendWhole(status, lines, body)
}

/**
 * The lines of the headers that were set before, if the response can be sent past the framework, whose serializing,
 * checking and writing of headers are a good part of its own work for an empty request. Undefined if it cannot.
 */
function plainLines(reply: FastifyReply): string | undefined {
  const { raw } = reply
  return raw instanceof Response && raw.canSendWhole ? linesOf(reply.getHeaders()) : undefined
}

/** Undefined if the framework must send one of the headers. */
function linesOf(headers: Headers): string | undefined {
  let lines = ''
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined) continue
    if (!plainHeaders.has(name) || typeof value !== 'string' || !printable.test(value)) {
      return undefined
    }
    lines += `${name}: ${value}\r\n`
  }
  return lines
}

/** Caches the texts of responses at the newest revision. */
interface ResponseCache {
  find(revision: string, url: string): string | undefined
  keep(revision: string, url: string, response: string): void
}

const maxCharacters = 8 * 1024 * 1024

interface CachedResponse {
  revision: string
  response: string
}

/** Polled lists are not read and serialized again while nothing has changed. */
export function createResponseCache(): ResponseCache {
  const responses = new LRUCache<string, CachedResponse>({
    maxSize: maxCharacters,
    sizeCalculation: ({ response }, url) => response.length + url.length,
  })
  return {
    find: (revision, url) => {
      const cached = responses.get(url)
      return cached?.revision === revision ? cached.response : undefined
    },
    keep: (revision, url, response) => {
      responses.set(url, { revision, response })
    },
  }
}
