import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
  request as sendRequest,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestServer } from '../harness.js'

type Json = Record<string, unknown>

interface FakeMessage extends Json {
  id: string
  createdAt: string
  conversationId: string
  userId: string
  payload: Json
  metadata?: Json
}

interface FakeConversation {
  id: string
  updatedAt: string
  userId: string
  messages: FakeMessage[]
}

/** A request that the server received. */
interface Received {
  method: string
  path: string
  key: string | undefined
  body: Json
}

/**
 * A server that implements the protocol of web chats at the address of a chat; tests send what a bot would send. It
 * passes requests for the script, the settings, assets and the share page to the server under test.
 */
export interface FakeChatServer {
  url: string
  /** Address of the chat. */
  chat: string
  received: Received[]
  conversations: FakeConversation[]
  /** Received requests with a method and a path; `*` in the path stands for one segment. */
  calls(method: string, path: string): Received[]
  /** Adds a message of the bot to the last conversation. */
  sendAsBot(payload: Json, more?: Json): FakeMessage
  /** Sends a signal to all streams. */
  signal(type: string, data: Json): void
  /** Responds to the next request of a path with a status and an error, once. */
  refuseNext(path: string, status: number, message: string, type?: string): void
  /** Returns the number of open streams. */
  streams(): number
  /** Returns how many requests of a path were refused by `refuseNext`. */
  refused(path: string): number
  /** Closes all connections, and each new one, until `up` is called. */
  down(): void
  up(): void
  close(): Promise<void>
}

export async function startFakeChatServer(
  real: Pick<TestServer, 'url'>,
  webhookId: string,
): Promise<FakeChatServer> {
  const prefix = `/webchat/${webhookId}`
  const received: Received[] = []
  const conversations: FakeConversation[] = []
  const users = new Map<string, Json>()
  const files = new Map<string, { type: string; bytes: Buffer }>()
  const streams = new Set<ServerResponse>()
  const refusals = new Map<string, { status: number; message: string; type: string }>()
  const refusedPaths: string[] = []
  let isDown = false
  let count = 0
  const newId = (kind: string) => `${kind}_${++count}`
  const now = () => new Date(Date.UTC(2026, 2, 1) + ++count).toISOString()
  const frame = (type: string, data: Json) => `data: ${JSON.stringify({ type, data })}\n\n`
  const signal = (type: string, data: Json) => {
    for (const stream of streams) stream.write(frame(type, data))
  }

  function save(
    conversation: FakeConversation,
    message: Pick<FakeMessage, 'userId' | 'payload'> & Json,
  ): FakeMessage {
    const made = {
      id: newId('msg'),
      createdAt: now(),
      conversationId: conversation.id,
      ...message,
    }
    conversation.messages.push(made)
    conversation.updatedAt = made.createdAt
    signal('message_created', made)
    return made
  }

  function initialize(url: URL, key: string | undefined, response: ServerResponse): void {
    const userKey = key ?? newId('key')
    if (!users.has(userKey)) users.set(userKey, { id: newId('user'), name: 'Visitor' })
    const user = users.get(userKey) ?? {}
    const asked = url.searchParams.get('conversationId')
    let conversation = conversations.find(({ id, userId }) => id === asked && userId === user.id)
    if (conversation === undefined) {
      const userId = String(user.id)
      conversation = { id: newId('conv'), updatedAt: now(), userId, messages: [] }
      conversations.push(conversation)
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const { messages, ...rest } = conversation
    response.write(
      frame('init', {
        conversation: rest,
        messages: messages.toReversed(),
        participants: [user],
        user: { ...user, userKey },
      }),
    )
    streams.add(response)
    response.on('close', () => streams.delete(response))
  }

  /** Operations by method and path; undefined if there is no such one. */
  function operate(call: Received): Json | undefined {
    const { method, path, key = '', body } = call
    const user = users.get(key)
    const conversation = conversations.find(({ id }) => id === body.conversationId)
    const [, resource, id] = path.split('/')
    switch (`${method} ${path.replace(/^(\/messages)\/[^/]+/, '$1/*')}`) {
      case 'POST /events':
        return {
          event: { payload: { ...Object(body.payload), data: { status: { isInitial: true } } } },
        }
      case 'POST /messages': {
        if (conversation === undefined || user === undefined) return undefined
        const { clientMessageId } = Object(body.metadata)
        const known = conversation.messages.find(
          ({ metadata }) => metadata?.clientMessageId === clientMessageId,
        )
        const message = known ?? {
          userId: String(user.id),
          payload: Object(body.payload),
          metadata: Object(body.metadata),
        }
        return { message: known ?? save(conversation, message) }
      }
      case 'GET /conversations':
        return {
          conversations: conversations
            .filter(({ userId }) => userId === user?.id)
            .map(({ messages, ...rest }) => ({ ...rest, lastMessage: messages.at(-1) }))
            .reverse(),
          meta: {},
        }
      case 'GET /users/me':
        return { user }
      case 'PUT /users/me': {
        const changed = { ...user, ...body }
        users.set(key, changed)
        return { user: changed }
      }
      case 'PUT /messages/*/feedback':
      case 'DELETE /messages/*/feedback': {
        const found = conversations.flatMap(({ messages }) => messages)
        const message = found.find((each) => resource === 'messages' && each.id === id)
        if (message === undefined) return undefined
        if (method === 'PUT') message.feedback = body
        else delete message.feedback
        return {}
      }
      case 'POST /files': {
        const name = newId('file')
        const url = `${fake.url}/content/${name}`
        const contentType = String(body.contentType ?? 'application/octet-stream')
        return { file: { id: name, url, uploadUrl: url, contentType } }
      }
      default:
        return undefined
    }
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (isDown) return void request.socket.destroy()
    const url = new URL(request.url ?? '/', 'http://fake')
    const path = url.pathname.startsWith(`${prefix}/`) ? url.pathname.slice(prefix.length) : ''
    response.setHeader('access-control-allow-origin', '*')
    response.setHeader('access-control-allow-headers', '*')
    response.setHeader('access-control-allow-methods', '*')
    if (request.method === 'OPTIONS') return void response.writeHead(200).end()
    const refusal = refusals.get(path)
    if (refusal !== undefined) {
      refusals.delete(path)
      refusedPaths.push(path)
      const { status, message, type } = refusal
      const body = { id: 'err_1', code: status, type, message }
      response.writeHead(status, { 'content-type': 'application/json' })
      return void response.end(JSON.stringify(body))
    }
    if (url.pathname.startsWith('/content/')) return await serveContent(url, request, response)
    if (/^$|^\/(inject\.js|config|assets\/.*)$/.test(path)) {
      return passOn(real, request, response)
    }
    const text = (await readBody(request)).toString()
    const key = request.headers['x-user-key']?.toString()
    const call = { method: request.method ?? '', path, key, body: JSON.parse(text || '{}') }
    received.push(call)
    if (path === '/initialize') return initialize(url, key, response)
    const result = operate(call)
    const status = result === undefined ? 404 : 200
    const body = result ?? {
      id: 'err_1',
      code: 404,
      type: 'ResourceNotFound',
      message: 'There is none.',
    }
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }

  async function serveContent(url: URL, request: IncomingMessage, response: ServerResponse) {
    if (request.method === 'PUT') {
      const type = request.headers['content-type'] ?? ''
      files.set(url.pathname, { type, bytes: await readBody(request) })
      return void response.writeHead(200).end()
    }
    const { type = 'text/plain', bytes = Buffer.alloc(0) } = files.get(url.pathname) ?? {}
    response.writeHead(200, { 'content-type': type }).end(bytes)
  }

  const server = createServer((request, response) => {
    respond(request, response).catch(() => request.socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const fake: FakeChatServer = {
    url,
    chat: `${url}${prefix}`,
    received,
    conversations,
    calls: (method, path) => {
      const pattern = new RegExp(`^${path.replaceAll('*', '[^/]+')}$`)
      return received.filter((call) => call.method === method && pattern.test(call.path))
    },
    sendAsBot: (payload, more = {}) => {
      const conversation = conversations.at(-1)
      if (conversation === undefined) throw new Error('Nobody has begun a conversation')
      return save(conversation, { userId: 'bot', payload, ...more })
    },
    signal,
    refuseNext: (path, status, message, type = 'Unknown') =>
      refusals.set(path, { status, message, type }),
    streams: () => streams.size,
    refused: (path) => refusedPaths.filter((each) => each === path).length,
    down() {
      isDown = true
      server.closeAllConnections()
    },
    up() {
      isDown = false
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  return fake
}

function passOn(
  { url }: Pick<TestServer, 'url'>,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { method, headers } = request
  const target = new URL(request.url ?? '/', url)
  const onwards = sendRequest(
    target,
    { method, headers: { ...headers, host: target.host } },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    },
  )
  onwards.on('error', () => request.socket.destroy())
  onwards.end()
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}
