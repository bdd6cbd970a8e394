import { WebSocket } from 'ws'
import type { TestServer } from '../harness.js'

/** A signal as received. */
export interface Heard {
  type: string
  data: Record<string, unknown>
  /** Sequence number in the conversation; undefined if the frame had none. */
  sequence: number | undefined
}

/** A listener without a client, to see the raw stream. */
export interface RawListener {
  heard: Heard[]
  /** Frames that are no signals, such as `ping`. */
  other: string[]
  /** Number of the last signal that had one. */
  readonly lastId: number | undefined
  /** Resolves once the received signals pass. */
  until(passes: (heard: readonly Heard[]) => boolean): Promise<void>
  /** Resolves when the connection has ended. */
  ended: Promise<void>
  close(): void
}

export interface RawAddress {
  url: string
  webhookId: string
  userKey: string
  conversationId: string
  /** Sent as `?lastEventId=`. */
  after?: number | undefined
  /** Certificate of the authority that signed that of the address, for a WebSocket. */
  ca?: Buffer
}

class Hearing {
  readonly heard: Heard[] = []
  readonly other: string[] = []
  #waiting: (() => void)[] = []

  get lastId(): number | undefined {
    return this.heard.findLast(({ sequence }) => sequence !== undefined)?.sequence
  }

  take(text: string, sequence: number | undefined): void {
    if (text.startsWith('{')) {
      const { type, data, sequence: inFrame } = JSON.parse(text)
      this.heard.push({ type, data, sequence: sequence ?? inFrame })
    } else this.other.push(text)
    for (const wake of this.#waiting.splice(0)) wake()
  }

  async until(passes: (heard: readonly Heard[]) => boolean): Promise<void> {
    while (!passes(this.heard)) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}

/** Listens by server-sent events. Rejects with the status if it is refused. */
export async function listenRaw(address: RawAddress): Promise<RawListener> {
  const hearing = new Hearing()
  const controller = new AbortController()
  const response = await fetch(listenUrl(address), {
    headers: { 'x-user-key': address.userKey, accept: 'text/event-stream' },
    signal: controller.signal,
  })
  if (response.status !== 200 || response.body === null) {
    throw Object.assign(new Error(await response.text()), { status: response.status })
  }
  return Object.assign(hearing, {
    ended: read(response.body, hearing).catch(() => {}),
    close: () => controller.abort(),
  })
}

async function read(body: ReadableStream<Uint8Array>, hearing: Hearing): Promise<void> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    const frames = text.split('\n\n')
    text = frames.pop() ?? ''
    for (const frame of frames) {
      const id = /^id: (\d+)$/m.exec(frame)?.[1]
      const data = /^data: (.*)$/m.exec(frame)?.[1] ?? ''
      hearing.take(data, id === undefined ? undefined : Number(id))
    }
  }
}

/** Listens by WebSocket. Rejects with the status if it is refused. */
export async function listenBySocket(address: RawAddress): Promise<RawListener> {
  const hearing = new Hearing()
  const url = new URL(listenUrl(address).replace(/^http/, 'ws'))
  url.searchParams.set('x-user-key', address.userKey)
  const socket = new WebSocket(url, address.ca && { ca: address.ca })
  socket.on('message', (data) => hearing.take(String(data), undefined))
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
    socket.once('unexpected-response', (_, response) => {
      reject(Object.assign(new Error('refused'), { status: response.statusCode }))
    })
  })
  return Object.assign(hearing, { ended, close: () => socket.terminate() })
}

function listenUrl({ url, webhookId, conversationId, after }: RawAddress): string {
  const path = `${url}/chat/${webhookId}/conversations/${conversationId}/listen`
  return after === undefined ? path : `${path}?lastEventId=${after}`
}

/** A bot with its chat and a user who owns a conversation. */
export async function openRoom(server: TestServer, conversationId?: string) {
  const { url, token, workspaceId } = server
  const { bot } = await server.client().createBot({})
  const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
  const guest = async (id?: string) => {
    const { user, key } = await server
      .client({ webhookId })
      .chatCreateUser(id === undefined ? {} : { id })
    return { user, userKey: key, chat: server.client({ webhookId, userKey: key }) }
  }
  const owner = await guest()
  const { conversation } = await owner.chat.chatCreateConversation(
    conversationId === undefined ? {} : { id: conversationId },
  )
  const address = {
    url,
    webhookId,
    userKey: owner.userKey,
    conversationId: conversation.id,
  }
  const say = (text: string, chat = owner.chat) =>
    chat.chatCreateMessage({ conversationId: conversation.id, payload: { type: 'text', text } })
  return { bot, token, workspaceId, webhookId, owner, guest, conversation, address, say }
}
