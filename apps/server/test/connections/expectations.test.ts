import { describe, expect, it } from 'vitest'
import { useServer } from '../harness.js'
import { openRoom } from '../listening/raw-stream.js'
import { exchangeMany, request } from '../raw-http.js'

describe('a request with the header Expect', () => {
  const server = useServer()

  it.each(['toString', '200-ok', ''])(
    'for %j is handled as if it had no such header, in its turn and also with a body',
    async (expected) => {
      const room = await openRoom(server())
      const headers = [`Expect: ${expected}`, 'Content-Type: application/json']
      const responses = await exchangeMany(server().url, [
        request('GET /readyz') +
          request(`POST /chat/${room.webhookId}/users`, headers, '{"name":"Ada"}') +
          request('GET /nowhere', headers) +
          request('GET /healthz', ['Connection: close']),
      ])
      expect(responses.map(({ status }) => status)).toEqual([200, 201, 404, 200])
      expect(responses[1]?.body).toContain('"name":"Ada"')
      expect(JSON.parse(responses[2]?.body ?? '')).toMatchObject({
        code: 404,
        type: 'ResourceNotFound',
      })
    },
  )
})
