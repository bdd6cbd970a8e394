import { beforeAll, describe, expect, it } from 'vitest'
import { useServer } from '../harness.js'
import { exchange } from '../raw-http.js'
import { expectRefusal, type Refusal } from '../request.js'
import { settle, type Tenant } from '../tenant.js'
import { bodyCalls, type MainCall } from './calls.js'

const limit = 16 * 1024

describe('bodies', () => {
  const server = useServer(undefined, { BOTSTEAD_MAX_BODY_BYTES: String(limit) })
  let own: Tenant
  beforeAll(async () => {
    own = await settle(server(), server())
  })

  const invalid = { status: 400, type: 'InvalidPayload' }
  const notJson: Refusal = { ...invalid, message: /^The body is not valid JSON: .+\.$/ }
  const notObject: Refusal = { ...invalid, message: 'The body must be an object.' }
  const tooDeep: Refusal = {
    ...invalid,
    message: 'The body must not nest deeper than 500 levels.',
  }
  const tooLarge: Refusal = {
    status: 413,
    type: 'PayloadTooLarge',
    message: `The body must have at most ${limit} bytes here. The operator of the server can raise BOTSTEAD_MAX_BODY_BYTES.`,
  }
  const notUtf8: Refusal = {
    status: 415,
    type: 'UnsupportedMediaType',
    message: 'The body must be in UTF-8, as JSON is, not in latin1.',
  }
  const notText: Refusal = {
    ...invalid,
    message: 'The body is not valid JSON: it has bytes that are not UTF-8.',
  }
  const compressed: Refusal = {
    status: 415,
    type: 'UnsupportedMediaType',
    message: /^The header Content-Encoding must be left out: .+gzip/,
  }
  const wrongType: Refusal = {
    status: 415,
    type: 'UnsupportedMediaType',
    message: 'The header Content-Type must be application/json.',
  }

  describe.each(bodyCalls)('of %s', (_, call) => {
    const headers = (type: string | undefined): Record<string, string> => ({
      ...call.example(own).headers,
      ...(type !== undefined && { 'content-type': type }),
    })
    const path = () => pathOf(call, own)
    const post = (body: string | Uint8Array | undefined, type: string | undefined) =>
      server().fetch(path(), {
        method: call.operation.method,
        headers: headers(type),
        ...(body !== undefined && { body }),
      })
    const good = () => JSON.stringify(call.example(own).body)

    const bodies: [string, () => string | Uint8Array | undefined, Refusal][] = [
      ['that is cut off', () => good().slice(0, -1), notJson],
      ['with something behind', () => `${good()}x`, notJson],
      ['that is text', () => 'hello', notJson],
      ['that is empty', () => '', notObject],
      ['that is missing', () => undefined, notObject],
      ['that is null', () => 'null', notObject],
      ['that is a list', () => `[${good()}]`, notObject],
      ['that is a string', () => JSON.stringify(good()), notObject],
      ['that reaches for the prototype', () => `{"__proto__":{"a":1}}`, notJson],
      ['that reaches for the constructor', () => `{"constructor":{"prototype":{"a":1}}}`, notJson],
      ['that is compressed', () => new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]), notJson],
      ['with a member in Latin-1', () => inLatin1(`{"name":"Zoë",${good().slice(1)}`), notText],
      ['that nests without end', () => `{"a":${'['.repeat(8000)}${']'.repeat(8000)}}`, tooDeep],
      ['a byte above the limit', () => padded(good(), limit + 1), tooLarge],
    ]
    it.each(bodies)('a body %s is refused', async (_name, body, refusal) => {
      const before = await call.stored(server(), own)
      await expectRefusal(await post(body(), 'application/json'), refusal)
      expect(await call.stored(server(), own)).toEqual(before)
    })

    it.each([
      'text/plain',
      'text/json',
      'application/xml',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'nonsense',
      '',
      undefined,
    ])('a body of type %s is refused', async (type) => {
      const before = await call.stored(server(), own)
      const bytes = new TextEncoder().encode(good())
      await expectRefusal(await post(bytes, type), wrongType)
      expect(await call.stored(server(), own)).toEqual(before)
    })

    it('a body in another charset, or declared as compressed, is refused', async () => {
      const before = await call.stored(server(), own)
      const refused = async (more: Record<string, string>) =>
        await server().fetch(path(), {
          method: call.operation.method,
          headers: { ...headers('application/json'), ...more },
          body: good(),
        })
      const latin = { 'content-type': 'application/json; charset=latin1' }
      await expectRefusal(await refused(latin), notUtf8)
      await expectRefusal(await refused({ 'content-encoding': 'gzip' }), compressed)
      expect(await call.stored(server(), own)).toEqual(before)
    })

    it('a stream without end is cut off', async () => {
      const before = await call.stored(server(), own)
      const head = [
        `${call.operation.method} ${path()} HTTP/1.1`,
        'Host: localhost',
        'Transfer-Encoding: chunked',
        ...Object.entries(headers('application/json')).map(([name, value]) => `${name}: ${value}`),
      ].join('\r\n')
      const {
        status,
        headers: answered,
        body,
      } = await exchange(server().url, endless(`${head}\r\n\r\n`))
      await expectRefusal(new Response(body, { status, headers: answered }), tooLarge)
      expect(answered.get('connection')).toBe('close')
      expect(await call.stored(server(), own)).toEqual(before)
    })

    it('a body as long as the limit, with unknown members, is accepted', async () => {
      const response = await post(padded(good(), limit), 'application/json; charset=utf-8')
      expect(response.ok).toBe(true)
    })
  })
})

const inLatin1 = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'))

function pathOf({ operation, example }: MainCall, tenant: Tenant): string {
  const { params = {} } = example(tenant)
  return operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '')
}

/** The same object with an additional member, padded to a number of bytes. */
function padded(json: string, length: number): string {
  const start = `${json.slice(0, -1)},"more":"`
  return `${start}${'x'.repeat(length - start.length - 2)}"}`
}

/** A request with an endless body. */
function* endless(head: string): Generator<string> {
  yield head
  yield '8\r\n{"more":\r\n1\r\n"\r\n'
  const kilobyte = 'x'.repeat(1024)
  for (let sent = 0; sent < 64 * 1024; sent++) yield `400\r\n${kilobyte}\r\n`
}

describe('bodies of the admin interface, which carry code', () => {
  const server = useServer()
  const send = (body: string) =>
    server().fetch('/v1/admin/bots', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${server().token}`,
        'x-workspace-id': server().workspaceId,
      },
      body,
    })
  const refusalOf = async (body: string) => {
    const response = await send(body)
    return { ...Object(await response.json()), status: response.status }
  }

  it.each([
    ['objects', '{}', 600_000, '524288 objects, lists and texts'],
    ['lists', '[]', 600_000, '524288 objects, lists and texts'],
    ['texts', '""', 600_000, '524288 objects, lists and texts'],
    ['numbers', '1', 8_500_000, '8388608 values'],
  ])('are refused with more %s than memory has room for', async (_, value, times, most) => {
    const many = `[${`${value},`.repeat(times)}${value}]`
    expect(await refusalOf(`{"tags":${many}}`)).toMatchObject({
      status: 400,
      type: 'InvalidPayload',
      message: `The body must not have more than ${most}.`,
    })
  })

  it('are taken with code of several megabytes, whatever is in it', async () => {
    const code = `module.exports = ${'[{"a":1},'.repeat(600_000)}`
    const response = await refusalOf(JSON.stringify({ name: 7, code }))
    // The code is read: it is the name that is refused.
    expect(response).toMatchObject({ status: 400, message: expect.stringContaining('body.name') })
  })

  it('that are no JSON are refused without looking for the place in megabytes', async () => {
    expect(await refusalOf(`{"name":"${'\\n'.repeat(1_000_000)}"`)).toMatchObject({
      status: 400,
      type: 'InvalidPayload',
      message: 'The body is not valid JSON.',
    })
  })
})
