import { ApiError, type ClientOptions, createClient } from '@botstead/contract'
import { describe, expect, it } from 'vitest'

interface Sent {
  url: string
  method: string | undefined
  headers: unknown
  body: unknown
}

/** A client whose server returns one response, and the requests that it was sent. */
function clientOf(options: Partial<ClientOptions> = {}, response = new Response('{}')) {
  const sent: Sent[] = []
  const client = createClient({
    baseUrl: 'http://bots.test',
    fetch: async (url, { method, headers, body }) => {
      sent.push({ url, method, headers, body: body ? JSON.parse(String(body)) : undefined })
      return response.clone()
    },
    ...options,
  })
  return { client, sent }
}

const refusal = (status: number, body: unknown) =>
  new Response(typeof body === 'string' ? body : JSON.stringify(body), { status })

describe('the client', () => {
  it('sorts a flat input into path, query and body', async () => {
    const { client, sent } = clientOf()
    await client.updateBot({ id: 'a/b', name: 'Ada', tags: { old: null } })
    await client.searchFiles({ query: 'how?', tags: { lang: ['en', 'de'] }, limit: 3 })
    expect(sent).toMatchObject([
      {
        method: 'PUT',
        url: 'http://bots.test/v1/admin/bots/a%2Fb',
        body: { name: 'Ada', tags: { old: null } },
      },
      {
        method: 'GET',
        url: 'http://bots.test/v1/files/search?query=how%3F&tags.lang=en&tags.lang=de&limit=3',
        body: undefined,
      },
    ])
  })

  it('sends a JSON body even when there is nothing in it', async () => {
    const { client, sent } = clientOf()
    await client.createBot()
    expect(sent[0]).toMatchObject({ body: {}, headers: { 'content-type': 'application/json' } })
  })

  it('passes members it does not know on with the body', async () => {
    const { client, sent } = clientOf()
    const input = { channel: 'web', tags: {}, later: 1 }
    await client.createConversation(input)
    expect(sent[0]?.body).toEqual(input)
  })

  it('shows each operation only the credentials it needs', async () => {
    const { client, sent } = clientOf({
      token: 'secret',
      workspaceId: 'ws',
      botId: 'bot',
      userKey: 'key',
      webhookId: 'hook',
    })
    await client.getAccount()
    await client.listBots()
    await client.listFiles()
    await client.chatHello()
    await client.chatGetUser()
    await client.getHealth()
    const accept = 'application/json'
    const authorization = 'Bearer secret'
    expect(sent.map(({ headers }) => headers)).toEqual([
      { accept, authorization },
      { accept, authorization, 'x-workspace-id': 'ws' },
      { accept, authorization, 'x-bot-id': 'bot' },
      { accept },
      { accept, 'x-user-key': 'key' },
      { accept },
    ])
  })

  it('lets headers of the call win over those of the client, in any spelling', async () => {
    const { client, sent } = clientOf({ token: 'a', headers: { 'X-Bot-Id': 'one', 'X-More': '1' } })
    await client.listFiles({}, { headers: { 'x-bot-id': 'two', Authorization: 'Bearer b' } })
    expect(sent[0]?.headers).toEqual({
      accept: 'application/json',
      authorization: 'Bearer b',
      'x-bot-id': 'two',
      'x-more': '1',
    })
  })

  it('takes the webhook id from the call before that of the client', async () => {
    const { client, sent } = clientOf({ baseUrl: 'http://bots.test/base/', webhookId: 'one' })
    await client.chatGetConversation({ id: 'c' })
    await client.chatGetConversation({ id: 'c', webhookId: 'two' })
    expect(sent.map(({ url }) => url)).toEqual([
      'http://bots.test/base/chat/one/conversations/c',
      'http://bots.test/base/chat/two/conversations/c',
    ])
  })

  it('refuses to call an address with a hole in it', async () => {
    const { client, sent } = clientOf()
    await expect(client.chatHello()).rejects.toThrow('chatHello needs webhookId')
    await expect(client.getBot({ id: '' })).rejects.toThrow('getBot needs id')
    expect(sent).toEqual([])
  })

  it('sends the key that makes a creation safe to repeat', async () => {
    const { client, sent } = clientOf()
    await client.createBot({}, { idempotencyKey: 'once' })
    expect(sent[0]?.headers).toMatchObject({ 'idempotency-key': 'once' })
  })

  it('returns the body of the response, and an empty object for an empty one', async () => {
    const { client } = clientOf({}, new Response('{"status":"ok"}'))
    expect(await client.getHealth()).toEqual({ status: 'ok' })
    const { client: other } = clientOf({}, new Response(null, { status: 204 }))
    expect(await other.deleteBot({ id: 'b' })).toEqual({})
  })

  it('throws the error that the server sent', async () => {
    const body = {
      id: 'err_1',
      code: 404,
      type: 'ResourceNotFound',
      message: 'There is no such bot.',
      metadata: { id: 'b' },
    }
    const { client } = clientOf({}, refusal(404, body))
    const error = await client.getBot({ id: 'b' }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({
      id: 'err_1',
      type: 'ResourceNotFound',
      status: 404,
      message: 'There is no such bot.',
      metadata: { id: 'b' },
    })
  })

  it.each([
    ['text', 'Bad gateway'],
    ['a body of another kind', { error: 'Bad gateway' }],
    ['a type it does not know', { id: 'x', type: 'Surprise', message: 'Bad gateway' }],
    ['a list', ['Bad gateway']],
  ])('throws Unknown with the text when a proxy responds with %s', async (_, body) => {
    const { client } = clientOf({}, refusal(502, body))
    await expect(client.getAccount()).rejects.toMatchObject({
      type: 'Unknown',
      id: undefined,
      message: expect.stringMatching(/^status 502: .*Bad gateway/),
    })
  })

  it('passes the signal on and the failure of the connection through', async () => {
    const failure = new TypeError('connection refused')
    const { signal } = new AbortController()
    const client = createClient({
      baseUrl: 'http://bots.test',
      fetch: async (_, init) => {
        expect(init.signal).toBe(signal)
        throw failure
      },
    })
    await expect(client.getAccount({}, { signal })).rejects.toBe(failure)
  })
})
