import { connect, type Socket } from 'node:net'

/** Headers by which a request offers to speak something else on its connection. */
export const offers = {
  webSocket: [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ],
  http2: ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'],
  unknown: ['Connection: Upgrade', 'Upgrade: TLS/1.0'],
}

/** The bytes of a request, for example `request('GET /healthz')`. */
export function request(line: string, headers: readonly string[] = [], body = ''): string {
  const length = body === '' ? [] : [`Content-Length: ${body.length}`]
  return [`${line} HTTP/1.1`, 'Host: localhost', ...headers, ...length, '', body].join('\r\n')
}

/** A response as received. */
export interface RawResponse {
  status: number
  headers: Headers
  body: string
}

/**
 * Waits until a connection is closed, in whatever way: a reset, or a write that comes too late, is
 * an error to `once` of `node:events`, and whether there is one depends on the moment.
 */
export async function untilClosed(socket: Socket): Promise<void> {
  socket.on('error', () => undefined)
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve))
}

/**
 * Collects the text that comes over a connection; call the returned function for all of it so far.
 * A response may arrive in several pieces. No end of the connection is an error.
 */
export function receivedBy(socket: Socket): () => string {
  const chunks: Buffer[] = []
  socket.on('error', () => undefined).on('data', (chunk) => chunks.push(chunk))
  return () => Buffer.concat(chunks).toString('utf8')
}

/** Sends bytes that no HTTP client would send and reads until the server closes the connection. */
export async function exchange(
  url: string,
  chunks: Iterable<string | Buffer>,
): Promise<RawResponse> {
  return parse(await readUntilClosed(url, chunks))
}

/** Several responses on one connection, each with its length, until the server closes it. */
export async function exchangeMany(
  url: string,
  chunks: Iterable<string | Buffer>,
): Promise<RawResponse[]> {
  const responses: RawResponse[] = []
  let rest = await readUntilClosed(url, chunks)
  while (rest !== '') {
    const response = parse(rest)
    const bytes = Buffer.from(response.body)
    const length = Number(response.headers.get('content-length') ?? 0)
    responses.push({ ...response, body: bytes.subarray(0, length).toString() })
    rest = bytes.subarray(length).toString()
  }
  return responses
}

async function readUntilClosed(url: string, chunks: Iterable<string | Buffer>): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  // The server may close while this side still sends; its responses count.
  const received = receivedBy(socket)
  const closed = untilClosed(socket)
  for (const chunk of chunks) {
    if (socket.destroyed) break
    if (!socket.write(chunk))
      await new Promise((resolve) => socket.once('drain', resolve).once('close', resolve))
  }
  await closed
  return received()
}

function parse(text: string): RawResponse {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = new Headers()
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  return { status: Number(statusLine.split(' ')[1]), headers, body: rest.join('\r\n\r\n') }
}
