import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** The signed parts of a request, as it was sent. */
export interface SignedRequest {
  method: string
  /** Path and query, still encoded. */
  url: string
  headers: IncomingHttpHeaders
}

/** The error code of S3, or undefined for a valid signature. */
export function refusalOf(
  request: SignedRequest,
  keys: Readonly<Record<string, string>>,
  now = Date.now(),
): string | undefined {
  const { searchParams } = new URL(request.url, 'http://store')
  const presigned = searchParams.has('X-Amz-Signature')
  const given = presigned ? fromQuery(searchParams) : fromHeader(request.headers)
  if (given === undefined) return 'AccessDenied'
  const [accessKeyId = '', ...scope] = given.credential.split('/')
  const secret = keys[accessKeyId]
  if (secret === undefined) return 'InvalidAccessKeyId'
  const begin = timeOf(given.date)
  if (presigned && now > begin + given.lifetime * 1000) return 'AccessDenied'
  if (!presigned && Math.abs(now - begin) > 15 * 60_000) return 'RequestTimeTooSkewed'
  const signed = given.signedHeaders.split(';')
  const unsigned = Object.keys(request.headers).find(
    (name) => name.startsWith('x-amz-') && !signed.includes(name),
  )
  if (unsigned !== undefined) return 'AccessDenied'
  const expected = signatureOf(request, { ...given, secret, scope, presigned })
  return expected.length === given.signature.length &&
    timingSafeEqual(Buffer.from(expected), Buffer.from(given.signature))
    ? undefined
    : 'SignatureDoesNotMatch'
}

interface Signing {
  secret: string
  /** Day, region, service and the closing word. */
  scope: readonly string[]
  date: string
  signedHeaders: string
  presigned: boolean
}

/** Signature version 4, implemented from its specification alone. */
export function signatureOf(request: SignedRequest, signing: Signing): string {
  const [path = '', query = ''] = request.url.split('?')
  const canonicalQuery = [...new URLSearchParams(query)]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&')
  const headers = signing.signedHeaders
    .split(';')
    .map((name) => `${name}:${String(request.headers[name] ?? '').trim()}\n`)
    .join('')
  const canonical = [
    request.method,
    path
      .split('/')
      .map((part) => encode(decodeURIComponent(part)))
      .join('/'),
    canonicalQuery,
    headers,
    signing.signedHeaders,
    signing.presigned ? 'UNSIGNED-PAYLOAD' : request.headers['x-amz-content-sha256'],
  ].join('\n')
  const text = [
    'AWS4-HMAC-SHA256',
    signing.date,
    signing.scope.join('/'),
    createHash('sha256').update(canonical).digest('hex'),
  ].join('\n')
  let key: string | Buffer = `AWS4${signing.secret}`
  for (const part of signing.scope) key = createHmac('sha256', key).update(part).digest()
  return createHmac('sha256', key).update(text).digest('hex')
}

function fromQuery(query: URLSearchParams) {
  return {
    credential: query.get('X-Amz-Credential') ?? '',
    date: query.get('X-Amz-Date') ?? '',
    lifetime: Number(query.get('X-Amz-Expires')),
    signedHeaders: query.get('X-Amz-SignedHeaders') ?? '',
    signature: query.get('X-Amz-Signature') ?? '',
  }
}

function fromHeader(headers: IncomingHttpHeaders) {
  const [, credential = '', signedHeaders = '', signature = ''] =
    /^AWS4-HMAC-SHA256 Credential=(\S+), SignedHeaders=(\S+), Signature=(\S+)$/.exec(
      headers.authorization ?? '',
    ) ?? []
  if (signature === '') return undefined
  const date = String(headers['x-amz-date'])
  return { credential, date, lifetime: 0, signedHeaders, signature }
}

/** Milliseconds of a time such as `20130524T000000Z`. */
function timeOf(date: string): number {
  return Date.parse(date.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'))
}

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
