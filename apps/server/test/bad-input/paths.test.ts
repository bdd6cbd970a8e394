import { beforeAll, describe, expect, it } from 'vitest'
import { useServer } from '../harness.js'
import { exchange } from '../raw-http.js'
import { expectRefusal } from '../request.js'
import { settle, type Tenant } from '../tenant.js'
import { mainCalls } from './calls.js'

describe('paths and methods', () => {
  const server = useServer()
  let own: Tenant
  beforeAll(async () => {
    own = await settle(server(), server())
  })

  const paths = (path: string) => path.replace('{webhookId}', own.webhookId)

  describe.each(mainCalls)('of %s', (_, { operation, example }) => {
    const headers = () => example(own).headers ?? {}

    it.each(['/more', '/more/and/more', 'x', '%2Fmore'])(
      'with the suffix %s is unknown',
      async (more) => {
        const path = `${paths(operation.path)}${more}`
        const response = await server().fetch(path, { method: 'PATCH', headers: headers() })
        // A file may have any name, so the suffix of the list of files may be one.
        const isKnown = response.status === 405
        await expectRefusal(
          response,
          isKnown
            ? {
                status: 405,
                type: 'MethodNotFound',
                message: new RegExp(`^PATCH is not allowed at ${path}; `),
              }
            : {
                status: 404,
                type: 'ResourceNotFound',
                message: new RegExp(`^There is nothing at ${path}\\. `),
              },
        )
      },
    )

    it.each(['PATCH', 'DELETE', 'POST', 'PUT', 'GET'])(
      '%s is refused if it is not the method of the operation',
      async (method) => {
        const path = paths(operation.path)
        const response = await server().fetch(path, { method, headers: headers() })
        const allowed = response.headers.get('allow')?.split(', ') ?? []
        if (response.status !== 405) return expect(allowed).toEqual([])
        expect(allowed).toContain(operation.method)
        expect(allowed).not.toContain(method)
        await expectRefusal(response, {
          status: 405,
          type: 'MethodNotFound',
          message: new RegExp(
            `^${method} is not allowed at ${path}; allowed: ${allowed.join(', ')}\\. `,
          ),
        })
      },
    )
  })

  it.each([
    '/',
    '/v1',
    '/v1/',
    '/v2/files',
    '/v1/admin',
    '/v1/Files',
    '/v1/files%2Fsearch/more',
    '/chat',
    '/chat/nobody',
    '/chat//messages',
    '/uploads',
    '/../etc/passwd',
    '/..%2f..%2fetc%2fpasswd',
    '/%00',
  ])('%s is unknown', async (path) => {
    const { status, headers, body } = await exchange(server().url, [
      `PATCH ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    ])
    const response = new Response(body, { status, headers })
    await expectRefusal(response, {
      status: 404,
      type: 'ResourceNotFound',
      message: path.includes('%00') ? /the character U\+0000\.$/ : /^There is nothing at \//,
    })
  })

  it.each([
    ['a broken percent-encoding', 'GET /v1/files/%zz HTTP/1.1\r\nHost: x', 400],
    ['half a character', 'GET /v1/files/%c3 HTTP/1.1\r\nHost: x', 400],
    ['a method of nobody', 'BREW /v1/files HTTP/1.1\r\nHost: x', 400],
    [
      'two lengths',
      'POST /v1/files HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2',
      400,
    ],
    [
      'a length and a stream',
      'PUT /v1/files HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked',
      400,
    ],
    [
      'a header without end',
      `GET /v1/files HTTP/1.1\r\nHost: x\r\nx-more: ${'x'.repeat(20_000)}`,
      413,
    ],
    ['an address without end', `GET /v1/files?${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x`, 413],
    ['a segment without end', `GET /v1/files/${'x'.repeat(5000)} HTTP/1.1\r\nHost: x`, 400],
  ])('%s is refused in the standard body', async (_, head, expected) => {
    const text = `${head}\r\nConnection: close\r\n\r\n`
    const { status, headers, body } = await exchange(server().url, [text])
    const response = new Response(body, { status, headers })
    const type = expected === 413 ? 'PayloadTooLarge' : 'InvalidPayload'
    await expectRefusal(response, { status: expected, type, message: /./ })
  })

  it.each(['PROPFIND', 'TRACE', 'LINK'])('%s is not a method of the API', async (method) => {
    const { status, headers, body } = await exchange(server().url, [
      `${method} /v1/files HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    ])
    const response = new Response(body, { status, headers })
    await expectRefusal(response, {
      status: 405,
      type: 'MethodNotFound',
      message: new RegExp(`^${method} is not allowed at /v1/files; allowed: PUT, GET\\. `),
    })
  })
})
