import { BlobStoreAwayError } from './blob-store.js'
import type { S3Address } from './s3-address.js'

/** The object store refused a request. */
export class S3Error extends Error {
  override name = 'S3Error'
  readonly status: number
  /** As the store names it, such as `NoSuchBucket`; empty when the response had no body. */
  readonly code: string
  /** Region of the bucket, when the request was for another region. */
  readonly region: string | undefined

  constructor(status: number, body: string, region?: string) {
    const code = textOf(body, 'Code') ?? ''
    const words = textOf(body, 'Message') ?? ''
    super(`The object store answered ${[status, code, words].filter(Boolean).join(' ')}.`)
    this.status = status
    this.code = code
    this.region = region ?? textOf(body, 'Region')
  }
}

/** The object store did not respond, or stopped in the middle. */
export class S3ConnectionError extends BlobStoreAwayError {
  override name = 'S3ConnectionError'
}

/** The object store responded, and could not do now what was requested. */
export class S3BusyError extends BlobStoreAwayError {
  override name = 'S3BusyError'
  readonly refusal: S3Error
  readonly status: number
  readonly code: string

  constructor(refusal: S3Error) {
    super(refusal.message, { cause: refusal })
    this.refusal = refusal
    this.status = refusal.status
    this.code = refusal.code
  }
}

/** The object store cannot be used as it is configured; the message says what the operator has to do. */
export class S3SetupError extends Error {
  override name = 'S3SetupError'
}

/** Default of `calledBy` of an address. */
export const usualSetting = 'BOTSTEAD_BLOBS_URL'

const throttled = [
  'SlowDown',
  'ServiceUnavailable',
  'RequestTimeout',
  'Throttling',
  'InternalError',
]

/** Whether the same request may succeed a moment later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof S3ConnectionError) return true
  if (!(error instanceof S3Error)) return false
  return error.status >= 500 || error.status === 429 || throttled.includes(error.code)
}

/** The error for the operator when the store cannot be used: one line with what to do. */
export function explain(error: unknown, address: S3Address): unknown {
  const { bucket, endpoint, region, calledBy = usualSetting } = address
  if (error instanceof S3ConnectionError) {
    const { cause } = error
    const reason = (cause instanceof Error && cause.message) || error.message
    return new S3SetupError(
      `The object store at ${endpoint} cannot be reached: ${reason}. Check ${calledBy}.`,
      { cause: error },
    )
  }
  if (error instanceof S3BusyError) return explain(error.refusal, address)
  if (!(error instanceof S3Error)) return error
  const setupError = (text: string) => new S3SetupError(text, { cause: error })
  switch (error.code) {
    case 'NoSuchBucket':
      return setupError(
        `There is no bucket ${bucket} at ${endpoint}: create it, or correct ${calledBy}.`,
      )
    case 'InvalidAccessKeyId':
    case 'SignatureDoesNotMatch':
    case 'InvalidToken':
    case 'ExpiredToken':
      return setupError(
        `The object store at ${endpoint} refuses the credentials (${error.code}): check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or user and password in ${calledBy}.`,
      )
    case 'AccessDenied':
      return setupError(
        `The credentials may not use the bucket ${bucket} at ${endpoint} (AccessDenied): allow them to list, read, write and delete there.`,
      )
    case 'RequestTimeTooSkewed':
      return setupError(`The clock of this machine differs from that of ${endpoint}: set it right.`)
    case 'PermanentRedirect':
    case 'TemporaryRedirect':
    case 'AuthorizationHeaderMalformed':
      return setupError(
        `The bucket ${bucket} is not in the region ${region}: set region=${error.region ?? '...'} in ${calledBy}.`,
      )
    default:
      return setupError(`The bucket ${bucket} at ${endpoint} cannot be used: ${error.message}`)
  }
}

/**
 * The responses of object stores are small and flat, and every value that is read here is a key of
 * ours, a number, a time or a token: reading by element name suffices, and nothing is nested in itself.
 */

/** The text of the first element of a name, undefined when there is none, or it has other elements in it. */
export function textOf(xml: string, element: string): string | undefined {
  const content = findElement(xml, element, 0)?.content
  return content === undefined || content.includes('<') ? undefined : unescapeXml(content)
}

/** The contents of the elements of a name. */
export function elementsOf(xml: string, element: string): string[] {
  const found: string[] = []
  let next = findElement(xml, element, 0)
  while (next !== undefined && found.length < maxElements) {
    found.push(next.content)
    next = findElement(xml, element, next.end)
  }
  return found
}

/** Elements that are read of one response; stores list 1,000 objects, uploads or parts in one. */
const maxElements = 10_000

/**
 * The first element of a name from a position on. Each character is read a few times at most: a pattern for this would
 * search to the end of the text again from every tag, which takes hours for a text that a store makes for it.
 */
function findElement(
  xml: string,
  element: string,
  from: number,
): { content: string; end: number } | undefined {
  const begin = `<${element}`
  const close = `</${element}>`
  for (let at = xml.indexOf(begin, from); at >= 0; at = xml.indexOf(begin, at)) {
    at += begin.length
    const isWhole = xml[at] === '>' || xml[at] === ' '
    if (!isWhole) continue
    const start = xml.indexOf('>', at)
    if (start < 0) return undefined
    at = start
    if (xml[start - 1] === '/') continue
    const end = xml.indexOf(close, start)
    if (end < 0) return undefined
    return { content: xml.slice(start + 1, end), end: end + close.length }
  }
  return undefined
}

/** Text as it stands between tags. */
export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

const named: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }

function unescapeXml(text: string): string {
  return text.replaceAll(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return named[name] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}
