import { ExtractionError } from '../document/extraction.js'
import { createDecoder, type Decoder } from './decode.js'
import { decodeAs, encodingNamed, latin1 } from './encodings.js'

/** Levels of nested parts; real messages have five or six. */
const maxDepth = 50
/** Parts of a message that are read. */
const maxParts = 2000
/** Bytes of the header lines of one part. */
const maxHeaderBytes = 2 * 1024 * 1024
/** Characters of a header line with parameters; more are no content type. */
const maxParameterLine = 20_000
/** Lines before the first header line that mail programs and archives write: a line of mbox, a banner, blank lines. */
const maxBannerLines = 20

const headerLine = /^[!-9;-~]{1,200}[ \t]{0,8}:/
/** A header line of nearly every message: a banner such as `CAUTION: …` looks like one of another name. */
const usualHeaderLine =
  /^(?:from|to|cc|bcc|subject|date|sender|reply-to|received|return-path|delivered-to|message-id|in-reply-to|references|mime-version|content-[a-z-]+|x-[\w-]+|arc-[a-z-]+|dkim-signature|authentication-results|list-[a-z-]+)[ \t]{0,8}:/i

/** A part of a message: a leaf with content, or a list of parts. */
export interface MimePart {
  /** The first header line of a name, unfolded and decoded; undefined if there is none. */
  header(name: string): string | undefined
  /** Media type in small letters, `text/plain` if there is none. */
  type: string
  /** Parameters of the media type by their name in small letters. */
  parameters: ReadonlyMap<string, string>
  disposition: string
  fileName?: string
  /** The content without its transfer encoding; empty if there are parts. */
  content: Uint8Array
  parts: MimePart[]
  /** Of a message: parts beyond the limit, which are not read. */
  unread: number
}

/**
 * Reads the structure of a message. Contents stay bytes, so that each is decoded by the reader of its type.
 *
 * @param decode decodes header lines
 * @throws Error if it has no header lines
 * @throws ExtractionError if its parts are nested too deeply
 */
export function readMime(bytes: Uint8Array, decode: Decoder = createDecoder()): MimePart {
  const budget: Budget = { parts: maxParts, unread: 0, decode }
  const start = startOf(bytes)
  if (start === undefined) throw new Error('it has no header lines')
  const message = readPart(bytes.subarray(start), 0, budget, 'text/plain')
  return { ...message, unread: budget.unread }
}

/**
 * The offset of the first header line, in the first group of lines that has a usual one, or in the first of all if none has;
 * undefined if there is none at the beginning.
 */
function startOf(bytes: Uint8Array): number | undefined {
  let at = latin1(bytes.subarray(0, 3)) === '\xef\xbb\xbf' ? 3 : 0
  let banners = 0
  let first: number | undefined
  let group: number | undefined
  while (at < bytes.length && banners <= maxBannerLines) {
    const end = lineEnd(bytes, at)
    const line = latin1(bytes.subarray(at, Math.min(end, at + 300))).trimEnd()
    const isHeader = headerLine.test(line)
    if (isHeader) {
      group ??= at
      first ??= at
      if (usualHeaderLine.test(line)) return group
    } else if (!/^[ \t]+\S/.test(line)) group = undefined
    if (line !== '' && (!isHeader || group !== first)) banners += 1
    at = end
  }
  return first
}

/** The offset after the line that begins at `from`. */
function lineEnd(bytes: Uint8Array, from: number): number {
  const end = bytes.indexOf(0x0a, from)
  return end === -1 ? bytes.length : end + 1
}

/** State that the parts of one message share. */
interface Budget {
  /** Number of parts that may still be read. */
  parts: number
  /** Number of parts beyond the maximum, which are not read. */
  unread: number
  decode: Decoder
}

function readPart(bytes: Uint8Array, depth: number, budget: Budget, usualType: string): MimePart {
  if (depth > maxDepth) {
    throw new ExtractionError(
      'too_deep',
      `The e-mail nests its parts more than ${maxDepth} levels deep. Save the inner parts as files and upload those.`,
    )
  }
  const { lines, body } = splitHeaders(bytes)
  const headers = new Map<string, Uint8Array>()
  for (const [name, value] of lines) if (!headers.has(name)) headers.set(name, value)
  // Decoded when they are needed: there may be thousands of others.
  const header = (name: string) => {
    const value = headers.get(name)
    if (value !== undefined && value.length > maxHeaderBytes) throw tooLongHeader(value)
    return value === undefined
      ? undefined
      : decodeHeader(value, budget.decode).replace(/\n/g, '').trim()
  }
  const contentType = parseParameters(header('content-type') ?? '')
  const disposition = parseParameters(header('content-disposition') ?? '')
  const type = /^[\w.+-]+\/[\w.+-]+$/.test(contentType.value) ? contentType.value : usualType
  const boundary = contentType.parameters.get('boundary') ?? ''
  const isMultipart = type.startsWith('multipart/') && boundary !== ''
  const inner = isMultipart ? splitParts(body, boundary, budget) : []
  const usual = type === 'multipart/digest' ? 'message/rfc822' : 'text/plain'
  const parts = inner.map((part) => readPart(part, depth + 1, budget, usual))
  const name = disposition.parameters.get('filename') ?? contentType.parameters.get('name')
  const fileName = name === undefined ? '' : decodeWords(name).trim()
  return {
    header,
    type: isMultipart && parts.length === 0 ? 'text/plain' : type,
    parameters: contentType.parameters,
    disposition: disposition.value,
    ...(fileName !== '' && { fileName }),
    content:
      parts.length > 0
        ? new Uint8Array()
        : decodeBody(body, header('content-transfer-encoding') ?? ''),
    parts,
    unread: 0,
  }
}

function splitHeaders(bytes: Uint8Array): {
  lines: [name: string, value: Uint8Array][]
  body: Uint8Array
} {
  const lines: Uint8Array[][] = []
  let at = 0
  while (at < bytes.length && at < maxHeaderBytes) {
    const end = lineEnd(bytes, at)
    const line = bytes.subarray(at, end)
    at = end
    if (line.every((byte) => byte === 0x0d || byte === 0x0a)) break
    const isContinued = line[0] === 0x20 || line[0] === 0x09
    if (isContinued) lines.at(-1)?.push(line)
    else lines.push([line])
  }
  return { lines: lines.flatMap(toHeader), body: bytes.subarray(at) }
}

function toHeader(lines: readonly Uint8Array[]): [name: string, value: Uint8Array][] {
  const raw = Buffer.concat(lines)
  const colon = raw.indexOf(0x3a)
  if (colon <= 0) return []
  return [[latin1(raw.subarray(0, colon)).trim().toLowerCase(), raw.subarray(colon + 1)]]
}

function tooLongHeader({ length }: Uint8Array): ExtractionError {
  return new ExtractionError(
    'too_large',
    `The e-mail has a header line of ${length} bytes; at most ${maxHeaderBytes.toLocaleString('en')} can be read. Shorten it and upload it again.`,
  )
}

/** Header lines of old programs are in the encoding of their country, although they must be ASCII. */
function decodeHeader(bytes: Uint8Array, decode: Decoder): string {
  try {
    return decode(bytes)
  } catch {
    return latin1(bytes)
  }
}

/** The contents between the lines of a boundary, as many as may still be read. */
function splitParts(body: Uint8Array, boundary: string, budget: Budget): Uint8Array[] {
  const mark = Buffer.from(`--${boundary}`, 'latin1')
  const content = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const parts: Uint8Array[] = []
  let from: number | undefined
  const add = (part: Uint8Array) => {
    if (budget.parts > 0) parts.push(part)
    else budget.unread += 1
    budget.parts = Math.max(0, budget.parts - 1)
  }
  for (let at = content.indexOf(mark); at !== -1; at = content.indexOf(mark, at + mark.length)) {
    if (at > 0 && content[at - 1] !== 0x0a) continue
    const end = lineEnd(content, at)
    const rest = latin1(
      content.subarray(at + mark.length, Math.min(end, at + mark.length + 80)),
    ).trim()
    if (rest !== '' && rest !== '--') continue
    if (from !== undefined) add(withoutLastLineEnd(content.subarray(from, at)))
    from = rest === '--' ? undefined : end
    if (from === undefined) break
  }
  if (from !== undefined) add(content.subarray(from))
  return parts
}

/** The line end before a boundary belongs to the boundary. */
function withoutLastLineEnd(part: Uint8Array): Uint8Array {
  if (part.at(-1) !== 0x0a) return part
  return part.subarray(0, part.at(-2) === 0x0d ? -2 : -1)
}

function decodeBody(body: Uint8Array, encoding: string): Uint8Array {
  switch (encoding.toLowerCase()) {
    case 'base64':
      return Buffer.from(latin1(body), 'base64')
    case 'quoted-printable':
      return decodeQuoted(latin1(body))
    default:
      return body
  }
}

function decodeQuoted(text: string): Uint8Array {
  const joined = text.replace(/=[ \t]{0,80}\r?\n/g, '')
  const bytes = Buffer.alloc(joined.length)
  let length = 0
  // Not by a pattern, which makes a text of each code.
  for (let at = 0; at < joined.length; at += 1) {
    const code = joined.charCodeAt(at) === 0x3d ? joined.slice(at + 1, at + 3) : ''
    const isCode = /^[0-9a-f]{2}$/i.test(code)
    bytes[length] = isCode ? Number.parseInt(code, 16) : joined.charCodeAt(at)
    if (isCode) at += 2
    length += 1
  }
  return bytes.subarray(0, length)
}

const encodedWord = /=\?([^?\s*]{1,60})(?:\*[^?\s]{0,20})?\?([bq])\?([^?]*)\?=/gi

/** Decodes the encoded words of a header, such as `=?UTF-8?Q?=C3=A4?=`. */
export function decodeWords(text: string): string {
  if (!text.includes('=?')) return text
  // A character may be divided between two words: adjacent ones of one charset are decoded together.
  const adjacent = text.replace(/(\?=)[ \t\r\n]{1,80}(?==\?)/g, '$1')
  let pending: { charset: string; bytes: Buffer[] } | undefined
  let result = ''
  let at = 0
  const flush = () => {
    if (pending !== undefined) result += decodeIn(pending.charset, Buffer.concat(pending.bytes))
    pending = undefined
  }
  for (const match of adjacent.matchAll(encodedWord)) {
    const [whole, charset = '', kind = '', content = ''] = match
    if (match.index > at || pending?.charset !== charset.toLowerCase()) {
      flush()
      result += adjacent.slice(at, match.index)
      pending = { charset: charset.toLowerCase(), bytes: [] }
    }
    pending.bytes.push(wordBytes(kind, content))
    at = match.index + whole.length
  }
  flush()
  return result + adjacent.slice(at)
}

function wordBytes(kind: string, content: string): Buffer {
  if (kind.toLowerCase() === 'b') return Buffer.from(content, 'base64')
  return Buffer.from(decodeQuoted(content.replaceAll('_', ' ')))
}

function decodeIn(charset: string, bytes: Uint8Array): string {
  return decodeAs(encodingNamed(charset) ?? 'utf-8', bytes)
}

interface Parameters {
  /** The text before the first parameter, in lower case. */
  value: string
  parameters: Map<string, string>
}

const parameterPattern = /;\s*([^\s=;"]{1,80})\s{0,8}=\s{0,8}("(?:[^"\\]|\\.)*"|[^;]*)/g

/** Reads a header line with parameters, also those that are divided or encoded as in RFC 2231. */
function parseParameters(line: string): Parameters {
  const text = line.slice(0, maxParameterLine)
  const value = (text.split(';', 1)[0] ?? '').trim().toLowerCase()
  const parameters = new Map<string, string>()
  const pieces = new Map<string, { encoded: boolean; text: string }[]>()
  for (const [, name = '', raw = ''] of text.matchAll(parameterPattern)) {
    const plain = raw.startsWith('"') ? raw.slice(1, -1).replace(/\\(.)/g, '$1') : raw.trim()
    const [, base, number, star] = /^([^*]+)(?:\*(\d{1,3}))?(\*)?$/.exec(name.toLowerCase()) ?? []
    if (base === undefined) continue
    if (number === undefined && star === undefined) parameters.set(base, plain)
    else {
      const list = pieces.get(base) ?? []
      list[Number(number ?? 0)] = { encoded: star !== undefined, text: plain }
      pieces.set(base, list)
    }
  }
  for (const [name, list] of pieces) parameters.set(name, joinPieces(list.filter(Boolean)))
  return { value, parameters }
}

function joinPieces(pieces: readonly { encoded: boolean; text: string }[]): string {
  const [first] = pieces
  const [, charset = 'utf-8', start] = /^([^']*)'[^']*'(.*)$/s.exec(first?.text ?? '') ?? []
  const bytes = pieces.map(({ encoded, text }, at) => {
    const content = at === 0 && encoded && start !== undefined ? start : text
    return encoded ? Buffer.from(decodeQuoted(content.replaceAll('%', '='))) : Buffer.from(content)
  })
  return decodeIn(charset, Buffer.concat(bytes))
}
