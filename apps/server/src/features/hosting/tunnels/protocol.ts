import type { OutgoingRequest, OutgoingResponse } from '../../../platform/outgoing/outgoing.js'

// The protocol of the tunnel that existing development tools speak: texts of JSON over one WebSocket. The
// server sends requests, the tool at the developer's machine responses; both may say hello.

/** Codes of this protocol with which the server closes the WebSocket of a tunnel. */
export const tunnelCodes = {
  /** Nothing uses the id. */
  invalidId: 4000,
  /** Another connection has the id now. */
  idConflict: 4001,
  /** The tool sent something other than a response. */
  invalidResponse: 4002,
} as const

/** Random UUIDs (version 4). */
const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
/** Different digits that practically every random UUID has; those that people make up have fewer. */
const minDigits = 8

/** The id in the form in which it is stored; undefined unless it is random, so that nobody can guess it. */
export function tunnelIdOf(text: string): string | undefined {
  const id = text.toLowerCase()
  if (!idPattern.test(id) || new Set(id).size <= minDigits) return undefined
  return id
}

/** An address that may be one of a tunnel. */
export interface TunnelAddress {
  id: string
  /** The path behind the id, with its leading slash. */
  path: string
  /** Without the question mark. */
  query: string
}

/**
 * The parts of an address that may be one of a tunnel. Tools replace the path of the address of the tunnel server by the
 * id; people may also write it behind that path.
 */
export function tunnelAddressOf(url: string): TunnelAddress | undefined {
  // Most addresses are those of servers; they cost one search.
  if (!/[/][0-9a-f]{8}-/i.test(url) || !URL.canParse(url)) return undefined
  const { pathname, search } = new URL(url)
  const segments = pathname.split('/')
  const place = segments.findIndex((segment) => tunnelIdOf(segment) !== undefined)
  const id = tunnelIdOf(segments[place] ?? '')
  if (id === undefined) return undefined
  // Webhooks and chats of this server have random ids as well.
  const isBehindPath = segments.slice(Math.max(0, place - 2), place).includes('tunnel')
  if (place !== 1 && !isBehindPath) return undefined
  return { id, path: `/${segments.slice(place + 1).join('/')}`, query: search.slice(1) }
}

/** A call through a tunnel. */
export interface TunnelRequest extends Pick<OutgoingRequest, 'method' | 'headers'> {
  path: string
  query: string
  body: string
}

/** The response of the program at the developer's machine. */
export type TunnelResponse = Pick<OutgoingResponse, 'status' | 'headers'> & { body: string }

export function requestFrame(id: string, request: TunnelRequest): string {
  const { method, path, query, headers, body } = request
  return JSON.stringify({
    type: 'request',
    id,
    method,
    path,
    ...(query !== '' && { query }),
    headers,
    body,
  })
}

export const helloFrame = JSON.stringify({ type: 'hello' })

export interface ResponseFrame {
  type: 'response'
  requestId: string
  response: TunnelResponse
  /** Of names and values, as the caller would get them. */
  headerBytes: number
}

export type IncomingFrame = { type: 'hello' } | ResponseFrame

/** Reads a frame of a tool; undefined for one that it may not send. */
export function readFrame(text: string): IncomingFrame | undefined {
  const frame = parse(text)
  if (frame === undefined) return undefined
  if (frame.type === 'hello') return { type: 'hello' }
  // Old tools leave the type of responses out.
  if (frame.type !== undefined && frame.type !== 'response') return undefined
  const { requestId, status, headers = {}, body = '' } = frame
  if (typeof requestId !== 'string' || typeof body !== 'string') return undefined
  if (!isStatus(status) || !isRecord(headers)) return undefined
  const valid = headersOf(headers)
  return {
    type: 'response',
    requestId,
    response: { status, headers: valid, body },
    headerBytes: bytesOf(valid),
  }
}

function bytesOf(headers: OutgoingResponse['headers']): number {
  let bytes = 0
  for (const [name, values = []] of Object.entries(headers)) {
    for (const value of [values].flat()) bytes += name.length + value.length
  }
  return bytes
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isStatus(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 200 && value <= 599
}

/** The tool decodes and joins the body, and describes its own connection: none of that holds for ours. */
const ofConnection = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'keep-alive',
  'transfer-encoding',
])

function headersOf(given: Record<string, unknown>): OutgoingResponse['headers'] {
  const headers = new Map<string, string | string[]>()
  for (const [name, value] of Object.entries(given)) {
    const key = name.toLowerCase()
    if (ofConnection.has(key) || !isToken(key)) continue
    const values = (Array.isArray(value) ? value : [value]).filter(isHeaderValue).map(String)
    const [first, ...more] = values
    if (first !== undefined) headers.set(key, more.length === 0 ? first : values)
  }
  // Not by assignment, which takes one name for the prototype.
  return Object.fromEntries(headers)
}

function isToken(name: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9a-z-]{1,256}$/.test(name)
}

/** Others would make the response to a webhook fail. */
function isHeaderValue(value: unknown): value is string | number {
  return (
    typeof value === 'number' ||
    (typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value))
  )
}
