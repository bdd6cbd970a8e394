import fc from 'fast-check'
import { offers, request } from '../raw-http.js'

/** The ways in which a hostile client disconnects. */
type Leaving = 'end' | 'destroy' | 'reset' | 'stay'

/** The pieces that one connection sends, and how it ends. */
export interface Attack {
  pieces: readonly Buffer[]
  /** Milliseconds between two pieces. */
  pause: number
  leaving: Leaving
  /** Whether the client reads responses. */
  reads: boolean
}

/** Valid addresses and credentials for the attacks. */
export interface Targets {
  listen: string
  userKey: string
  users: string
  content: string
  upload: string
}

const { webSocket, http2 } = offers

/** Sequences that once crashed a server, or exhausted its memory or descriptors. */
export function knownAttacks({ content, users }: Targets): Record<string, Attack> {
  const attack = (pieces: readonly string[], more: Partial<Attack> = {}): Attack => ({
    pause: 2,
    leaving: 'end',
    reads: true,
    pieces: pieces.map((piece) => Buffer.from(piece)),
    ...more,
  })
  const unread = { leaving: 'reset', reads: false } as const
  const probe = request('GET /readyz')
  return {
    'WebSocket in a pipeline': attack([probe + request('GET /healthz', webSocket)]),
    'HTTP/2 in a pipeline': attack([probe + request('GET /healthz', http2), probe]),
    'many documents, unread': attack([request('GET /openapi.json').repeat(3000)], unread),
    'many pages, unread': attack([request('GET /docs/static/index.html').repeat(3000)], unread),
    'many contents, unread': attack([request(`GET ${content}`).repeat(3000)], unread),
    'a body that arrives too slowly': attack(
      [
        request(`POST ${users}`, ['Content-Type: application/json', 'Content-Length: 100']),
        '{',
        '"',
      ],
      { pause: 20, leaving: 'destroy' },
    ),
    'a reset at once': attack([probe], { pause: 0, leaving: 'reset' }),
  }
}

/** Valid and invalid requests. */
function templates({ listen, userKey, users, content, upload }: Targets): string[] {
  const key = `x-user-key: ${userKey}`
  const json = 'Content-Type: application/json'
  const body = '{"name":"Ada"}'
  const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  const listenByKey = `${listen}?x-user-key=${userKey}`
  return [
    ...[
      '/healthz',
      '/readyz',
      '/openapi.json',
      '/nothing',
      '/%zz',
      '/docs',
      '/metrics',
      content,
    ].map((path) => request(`GET ${path}`)),
    ...[webSocket, http2].flatMap((offer) => [
      request('GET /healthz', offer),
      request(`GET ${listenByKey}`, offer),
      request(`GET ${listen}`, [...offer, key]),
      request(`GET ${listen}`, offer),
      request(`POST ${users}`, [...offer, json], body),
      request(`PUT ${upload}`, offer, 'x'.repeat(100)),
    ]),
    `${request(`GET ${listenByKey}`, webSocket)}\x81\x85\x01\x02\x03\x04hello\x88\x80\x01\x02\x03\x04`,
    request(`GET ${listenByKey}`, [...webSocket, 'Sec-WebSocket-Protocol: (,']),
    request(`GET ${listen}`, [key]),
    request(`POST ${users}`, [json], body),
    request(`POST ${users}`, [json], '{"name":'),
    request(`POST ${users}`, [json, 'Expect: 100-continue'], body),
    request(`POST ${users}`, [json, 'Expect: something']),
    `${request(`POST ${users}`, [json, 'Transfer-Encoding: chunked'])}${chunked}`,
    `${request(`POST ${users}`, [json, 'Transfer-Encoding: chunked', 'Trailer: a'])}zz\r\n`,
    request(`POST ${users}`, [json, 'Transfer-Encoding: chunked', 'Content-Length: 3'], body),
    request(`PUT ${upload}`, ['Expect: 100-continue'], 'x'.repeat(100)),
    request(`PUT ${upload}`, ['Content-Length: 1000000'], 'x'.repeat(100)),
    request(`HEAD ${content}`),
    request(`GET ${content}`, ['Range: bytes=10-20']),
    request('OPTIONS /v1/files', ['Origin: http://x', 'Access-Control-Request-Method: PUT']),
    request('CONNECT example.org:443'),
    request('PROPFIND /v1/files'),
    request('GET /healthz', ['Connection: close']),
    request('GET http://localhost/healthz'),
    request('GET /healthz', [`x: ${'y'.repeat(20_000)}`]),
    request(`GET /${'z'.repeat(5000)}`),
    'GET /healthz HTTP/1.0\r\n\r\n',
    'GET /healthz HTTP/1.1\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    '\r\n\r\n',
    '\0\0\0\0',
  ]
}

/** Ways to corrupt the bytes of some requests, controlled by numbers from 0 to 1. */
const spoiling: readonly ((bytes: Buffer, at: number, value: number) => Buffer)[] = [
  (bytes) => bytes,
  (bytes) => bytes,
  (bytes, at) => bytes.subarray(0, Math.floor(at * bytes.length)),
  (bytes, at) => bytes.subarray(Math.floor(at * bytes.length)),
  (bytes, at, value) => {
    const spoilt = Buffer.from(bytes)
    if (spoilt.length > 0) spoilt[Math.floor(at * spoilt.length)] = Math.floor(value * 256)
    return spoilt
  },
  (bytes, at, value) => {
    const place = Math.floor(at * bytes.length)
    const between = Buffer.alloc(1 + Math.floor(value * 40), Math.floor(value * 256))
    return Buffer.concat([bytes.subarray(0, place), between, bytes.subarray(place)])
  },
  (bytes, at) => Buffer.concat([bytes, bytes.subarray(Math.floor(at * bytes.length)), bytes]),
]

/** Random attacks, the same for the same seed. */
export function randomAttacks(targets: Targets, count: number): Attack[] {
  const part = fc.double({ min: 0, max: 0.999, noNaN: true })
  const attack = fc
    .record({
      requests: fc.array(fc.constantFrom(...templates(targets)), { minLength: 1, maxLength: 6 }),
      spoil: fc.constantFrom(...spoiling),
      at: part,
      value: part,
      cuts: fc.array(part, { maxLength: 4 }),
      pause: fc.constantFrom(0, 0, 0, 1, 5),
      leaving: fc.constantFrom<Leaving>('end', 'destroy', 'reset', 'stay'),
      reads: fc.boolean(),
    })
    .map(({ requests, spoil, at, value, cuts, pause, leaving, reads }): Attack => {
      const bytes = spoil(Buffer.from(requests.join(''), 'latin1'), at, value)
      const places = cuts.map((cut) => Math.floor(cut * bytes.length)).sort((a, b) => a - b)
      const pieces = [...places, bytes.length].map((end, i) =>
        bytes.subarray(places[i - 1] ?? 0, end),
      )
      return { pieces, pause, leaving, reads }
    })
  return fc.sample(attack, count)
}
