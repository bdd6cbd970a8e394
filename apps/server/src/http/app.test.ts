import { ApiError, operation } from '@botstead/contract'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { beforeAll, describe, expect, it } from 'vitest'
import { ownerOf } from '../../test/actors.js'
import type { Authenticator } from '../domain/authenticator.js'
import { createIds } from '../platform/ids.js'
import { createRateLimiter } from '../platform/security/rate-limit.js'
import { createLog } from '../platform/telemetry/log.js'
import { createApp } from './app.js'
import { route } from './mount.js'

const echo = operation({
  id: 'echo',
  method: 'POST',
  path: '/echo/{id}',
  tag: 'Service',
  summary: 'Return the parsed request',
  auth: 'public',
  params: Type.Object({ id: Type.String({ maxLength: 40 }) }),
  query: Type.Object({
    count: Type.Optional(Type.Integer({ minimum: 0, maximum: 10 })),
    deep: Type.Optional(Type.Boolean()),
    ids: Type.Optional(Type.Array(Type.String(), { maxItems: 3 })),
  }),
  body: Type.Object({
    name: Type.String({ minLength: 1, maxLength: 10 }),
    size: Type.Optional(Type.Number({ minimum: 0 })),
    kind: Type.Optional(Type.Enum(['a', 'b'])),
    tags: Type.Optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]))),
    at: Type.Optional(Type.String({ format: 'date-time' })),
    nested: Type.Optional(Type.Object({ list: Type.Array(Type.Object({ value: Type.String() })) })),
  }),
  response: { kind: 'json', schema: Type.Unknown() },
  status: 200,
  errors: [],
})

const fail = operation({
  id: 'fail',
  method: 'GET',
  path: '/fail',
  tag: 'Service',
  summary: 'Fail unexpectedly',
  auth: 'public',
  response: { kind: 'json', schema: Type.Unknown() },
  status: 200,
  errors: [],
})

const scoped = operation({
  ...fail,
  id: 'scoped',
  path: '/scoped',
  auth: 'workspace',
  permission: 'bots:read',
  concerns: 'bots',
})

const authenticator: Authenticator = {
  account: () => {
    throw new ApiError('Unauthorized', 'no')
  },
  token: () => {
    throw new ApiError('Unauthorized', 'no')
  },
  workspace: async (token, workspaceId) => {
    if (token !== 'good') throw new ApiError('Unauthorized', 'The token is not known.')
    return ownerOf(workspaceId, 'a', 't')
  },
  bot: () => {
    throw new ApiError('Unauthorized', 'no')
  },
  chat: () => {
    throw new ApiError('ResourceNotFound', 'no')
  },
  chatUser: () => {
    throw new ApiError('ResourceNotFound', 'no')
  },
  holderOf: async () => undefined,
}

async function createTestApp(
  exemptLoopback = true,
  trustedProxies: readonly string[] = [],
  allowedOrigins?: readonly string[],
): Promise<FastifyInstance> {
  const clock = { now: () => 1_000_000 }
  return await createApp({
    routes: [
      route(echo, async ({ params, query, body }) => ({ params, query, body })),
      route(fail, async () => {
        throw new Error('secret detail')
      }),
      route(scoped, async ({ actor }) => actor),
    ],
    authenticator,
    idempotency: {
      find: async () => undefined,
      save: async () => {},
      isTaken: () => false,
      sweep: async () => 0,
    },
    rateLimiter: createRateLimiter({ perMinute: 60, burst: 2, clock }),
    throttle: () => undefined,
    exemptLoopback,
    allowance: 2,
    log: await createLog({ level: 'silent' }),
    newRequestId: () => createIds().next('req'),
    trustedProxies,
    bodyLimits: {
      small: { bytes: 1000, setting: 'SMALL_BODY' },
      large: { bytes: 2000, setting: 'LARGE_BODY' },
    },
    allowedOrigins,
    meter: undefined,
    checkResponses: true,
  })
}

describe('the HTTP application', () => {
  let app: FastifyInstance
  beforeAll(async () => {
    app = await createTestApp()
  })

  const post = (body: unknown, path = '/echo/1') =>
    app.inject({ method: 'POST', url: path, payload: body as object })

  it('decodes path segments one by one and coerces the query, not the body', async () => {
    const response = await post(
      { name: 'x', size: 1 },
      '/echo/a%2Fb%20c?count=3&deep=true&ids=one&unknown=1',
    )
    expect(response.json()).toEqual({
      params: { id: 'a/b c' },
      query: { count: 3, deep: true, ids: ['one'] },
      body: { name: 'x', size: 1 },
    })
    expect(response.headers['x-request-id']).toMatch(/^req_/)
  })

  it('ignores empty path segments', async () => {
    expect((await post({ name: 'x' }, '//echo/1/')).statusCode).toBe(200)
  })

  it.each([
    [{}, 'body.name is required'],
    [{ name: 5 }, 'body.name must be a string'],
    [{ name: '' }, 'body.name must not be empty'],
    [{ name: 'x'.repeat(11) }, 'body.name must have at most 10 characters'],
    [{ name: 'x', size: '1' }, 'body.size must be a number'],
    [{ name: 'x', size: -1 }, 'body.size must be at least 0'],
    [{ name: 'x', kind: 'c' }, 'body.kind must be one of a, b'],
    [{ name: 'x', tags: { a: 1 } }, 'body.tags.a must be a string or null'],
    [{ name: 'x', at: 'tomorrow' }, 'body.at must be an ISO 8601 date and time'],
    [{ name: 'x', nested: { list: [{}] } }, 'body.nested.list.0.value is required'],
    [[], 'The body must be an object'],
    [undefined, 'The body must be an object'],
  ])('names the field and the rule: %j', async (body, message) => {
    const response = await post(body)
    expect(response.json()).toMatchObject({ code: 400, type: 'InvalidPayload' })
    expect(response.json().message).toContain(message)
    expect(response.json().id).toBe(response.headers['x-request-id'])
  })

  it.each([
    ['count=x', 'query.count must be an integer'],
    ['count=11', 'query.count must be at most 10'],
    ['count=1&count=2', 'query.count must be an integer'],
    ['deep=maybe', 'query.deep must be a boolean'],
    ['ids=1&ids=2&ids=3&ids=4', 'query.ids must have at most 3 items'],
  ])('refuses the query %s', async (query, message) => {
    const response = await post({ name: 'x' }, `/echo/1?${query}`)
    expect(response.json()).toMatchObject({ code: 400, type: 'InvalidQuery' })
    expect(response.json().message).toContain(message)
  })

  it('reports every failure in the standard error body', async () => {
    const raw = (payload: string, contentType: string) =>
      app.inject({
        method: 'POST',
        url: '/echo/1',
        payload,
        headers: { 'content-type': contentType },
      })
    const cases = [
      [await raw('{"name":', 'application/json'), 400, 'InvalidPayload'],
      [await raw('{"__proto__":{}}', 'application/json'), 400, 'InvalidPayload'],
      [await raw('name=x', 'application/x-www-form-urlencoded'), 415, 'UnsupportedMediaType'],
      [await raw('name', 'text/plain'), 415, 'UnsupportedMediaType'],
      [await raw(`{"name":"${'x'.repeat(1000)}"}`, 'application/json'), 413, 'PayloadTooLarge'],
      [await app.inject('/nowhere'), 404, 'ResourceNotFound'],
      [await app.inject('/echo/1'), 405, 'MethodNotFound'],
      [await app.inject('/echo/%zz'), 400, 'InvalidPayload'],
      [await app.inject('/fail'), 500, 'Internal'],
    ] as const
    for (const [response, status, type] of cases) {
      expect(response.statusCode).toBe(status)
      expect(response.json()).toMatchObject({ code: status, type })
      expect(response.json().id).toBe(response.headers['x-request-id'])
      expect(response.json().message).not.toContain('secret detail')
    }
    expect((await app.inject('/echo/1')).headers.allow).toBe('POST')
  })

  it.each([
    [{}, 'authorization'],
    [{ authorization: 'Basic x' }, 'Bearer'],
    [{ authorization: 'Bearer good' }, 'x-workspace-id'],
    [{ authorization: 'Bearer bad', 'x-workspace-id': 'w' }, 'token'],
  ])('authenticates before anything else: %j', async (headers, named) => {
    const response = await app.inject({ url: '/scoped', headers })
    expect(response.json()).toMatchObject({ code: 401, type: 'Unauthorized' })
    expect(response.json().message.toLowerCase()).toContain(named.toLowerCase())
  })

  it('lets browsers call from any origin, errors included', async () => {
    const headers = {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,x-user-key,x-custom',
    }
    const preflight = await app.inject({ method: 'OPTIONS', url: '/echo/1', headers })
    expect([preflight.statusCode, preflight.body]).toEqual([200, ''])
    expect(preflight.headers).toMatchObject({
      'access-control-allow-origin': 'https://app.example',
      'access-control-allow-headers': 'content-type,x-user-key,x-custom',
    })
    const refused = await app.inject({ url: '/nowhere', headers })
    expect(refused.headers['access-control-allow-origin']).toBe('https://app.example')
    expect(String(refused.headers.vary)).toMatch(/origin/i)
  })

  it('allows credentials of browsers only at operations, and only with an Origin', async () => {
    const credentials = 'access-control-allow-credentials'
    const page = { origin: 'https://app.example', 'access-control-request-method': 'POST' }
    for (const url of ['/v1/nowhere', '//v1/nowhere', '/chat/nobody/hello/']) {
      for (const method of ['OPTIONS', 'GET'] as const) {
        const response = await app.inject({ method, url, headers: page })
        expect([url, response.headers[credentials]]).toEqual([url, 'true'])
        expect(response.headers['access-control-allow-origin']).toBe(page.origin)
        expect(response.headers['access-control-expose-headers']).toContain('x-request-id')
      }
      const { headers } = await app.inject({ url })
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
    for (const url of [
      '/metrics',
      '/healthz',
      '/docs',
      '/openapi.json',
      '/content/x',
      '/v1',
      '/',
    ]) {
      const response = await app.inject({ url, headers: page })
      expect([url, response.headers[credentials]]).toEqual([url, undefined])
    }
  })

  it('sends no CORS headers to other origins when the operator names some', async () => {
    const strict = await createTestApp(true, [], ['https://app.example'])
    for (const method of ['OPTIONS', 'GET'] as const) {
      const own = await strict.inject({
        method,
        url: '/v1/x',
        headers: { origin: 'https://app.example' },
      })
      expect(own.headers).toMatchObject({
        'access-control-allow-origin': 'https://app.example',
        'access-control-allow-credentials': 'true',
      })
      for (const origin of ['https://evil.example', 'null', 'https://app.example.evil.example']) {
        const { headers } = await strict.inject({ method, url: '/v1/x', headers: { origin } })
        expect(headers['access-control-allow-origin']).toBeUndefined()
        expect(headers['access-control-allow-credentials']).toBeUndefined()
        expect(headers['access-control-expose-headers']).toBeUndefined()
      }
    }
    await strict.close()
  })

  it('sends the rate-limit headers with every response', async () => {
    const response = await post({ name: 'x' })
    expect(response.headers).toMatchObject({
      'ratelimit-limit': '2',
      'ratelimit-remaining': '2',
      'ratelimit-reset': '0',
    })
  })
})

describe('the rate limit', () => {
  it('refuses with the time to retry after, and counts failed attempts', async () => {
    const app = await createTestApp(false)
    const call = () => app.inject({ url: '/scoped' })
    expect((await call()).statusCode).toBe(401)
    expect((await call()).headers['ratelimit-remaining']).toBe('0')
    const refused = await call()
    expect(refused.json()).toMatchObject({ code: 429, type: 'RateLimited' })
    expect(refused.headers).toMatchObject({ 'retry-after': '1', 'ratelimit-reset': '1' })
  })

  it('distinguishes callers behind a trusted proxy, and ignores the header from others', async () => {
    const behind = await createTestApp(false, ['127.0.0.0/8'])
    const direct = await createTestApp(false)
    const call = async (app: FastifyInstance, caller: string) => {
      const headers = { 'x-forwarded-for': caller }
      const response = await app.inject({ method: 'GET', url: '/scoped', headers })
      return response.headers['ratelimit-remaining']
    }
    expect(await call(behind, '203.0.113.1')).toBe('1')
    expect(await call(behind, '203.0.113.1')).toBe('0')
    expect(await call(behind, '203.0.113.2')).toBe('1')
    expect(await call(direct, '203.0.113.1')).toBe('1')
    expect(await call(direct, '203.0.113.2')).toBe('0')
  })
})
