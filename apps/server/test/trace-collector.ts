import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'

/** A span as a collector receives it. */
export interface ReceivedSpan {
  traceId: string
  spanId: string
  /** Empty for the first of a trace. */
  parentSpanId: string
  name: string
  kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer'
  attributes: Record<string, string | number | boolean>
  links: { traceId: string; spanId: string }[]
  isError: boolean
  milliseconds: number
  resource: Record<string, string | number | boolean>
}

/** A collector of OpenTelemetry (OTLP over HTTP, protobuf). */
export interface TraceCollector extends AsyncDisposable {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  url: string
  readonly spans: ReceivedSpan[]
  /** Headers of the requests so far. */
  readonly requests: IncomingMessage['headers'][]
  /** All bytes as text, in which nothing secret may stand. */
  text(): string
}

/** @param respond what it does with a batch besides reading it; by default it accepts it */
export async function startTraceCollector(
  respond: (response: ServerResponse) => void = (response) => void response.end(),
): Promise<TraceCollector> {
  const spans: ReceivedSpan[] = []
  const requests: IncomingMessage['headers'][] = []
  const bodies: Buffer[] = []
  const server = createServer(async (request, response) => {
    const sent = await buffer(request)
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent
    requests.push({ ...request.headers, ':path': request.url })
    bodies.push(body)
    spans.push(...readSpans(body))
    respond(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    text: () => Buffer.concat(bodies).toString('latin1'),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

type Field = { number: number; bytes: Buffer; value: bigint }

/** The fields of a protobuf message: numbers and fixed widths as `value`, the rest as `bytes`. */
function* fieldsOf(message: Buffer): Generator<Field> {
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++] ?? 0
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  while (at < message.length) {
    const key = Number(varint())
    const number = key >> 3
    const none = Buffer.alloc(0)
    switch (key & 7) {
      case 0:
        yield { number, bytes: none, value: varint() }
        break
      case 1:
        yield { number, bytes: message.subarray(at, at + 8), value: message.readBigUInt64LE(at) }
        at += 8
        break
      case 2: {
        const length = Number(varint())
        yield { number, bytes: message.subarray(at, at + length), value: 0n }
        at += length
        break
      }
      case 5:
        yield {
          number,
          bytes: message.subarray(at, at + 4),
          value: BigInt(message.readUInt32LE(at)),
        }
        at += 4
        break
      default:
        throw new Error(`No protobuf: wire type ${key & 7}`)
    }
  }
}

const all = (message: Buffer, number: number) =>
  [...fieldsOf(message)].filter((field) => field.number === number)
const bytesOf = (message: Buffer, number: number) =>
  all(message, number)[0]?.bytes ?? Buffer.alloc(0)
const numberOf = (message: Buffer, number: number) => all(message, number)[0]?.value ?? 0n

const kinds = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const

function readSpans(request: Buffer): ReceivedSpan[] {
  return all(request, 1).flatMap(({ bytes: ofResource }) => {
    const resource = attributesOf(bytesOf(ofResource, 1), 1)
    const scopes = all(ofResource, 2)
    return scopes.flatMap(({ bytes: scope }) =>
      all(scope, 2).map(
        ({ bytes: span }): ReceivedSpan => ({
          traceId: bytesOf(span, 1).toString('hex'),
          spanId: bytesOf(span, 2).toString('hex'),
          parentSpanId: bytesOf(span, 4).toString('hex'),
          name: bytesOf(span, 5).toString(),
          kind: kinds[Number(numberOf(span, 6))] ?? 'internal',
          attributes: attributesOf(span, 9),
          links: all(span, 13).map(({ bytes }) => ({
            traceId: bytesOf(bytes, 1).toString('hex'),
            spanId: bytesOf(bytes, 2).toString('hex'),
          })),
          isError: numberOf(bytesOf(span, 15), 3) === 2n,
          milliseconds: Number(numberOf(span, 8) - numberOf(span, 7)) / 1e6,
          resource,
        }),
      ),
    )
  })
}

function attributesOf(message: Buffer, number: number): ReceivedSpan['attributes'] {
  return Object.fromEntries(
    all(message, number).map(({ bytes }) => {
      const [field] = fieldsOf(bytesOf(bytes, 2))
      return [bytesOf(bytes, 1).toString(), field === undefined ? '' : valueIn(field)]
    }),
  )
}

function valueIn({ number, bytes, value }: Field): string | number | boolean {
  if (number === 1) return bytes.toString()
  if (number === 2) return value === 1n
  return number === 4 ? bytes.readDoubleLE() : Number(value)
}
