import { createClient } from '@botstead/contract'
import { WebSocket } from 'ws'
import type { TestServer } from '../harness.js'

/** A workspace with a token of its own, a bot, and a user of its chat in a conversation. */
export async function openRoom({ url: baseUrl, token: operator }: TestServer) {
  const owner = createClient({ baseUrl, token: operator })
  const { pat } = await owner.createPersonalAccessToken({ note: 'watcher' })
  const { id: workspaceId } = await owner.createWorkspace({ name: 'Room' })
  const admin = createClient({ baseUrl, token: operator, workspaceId })
  const { bot } = await admin.createBot({})
  const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
  const { user, key: userKey } = await createClient({ baseUrl, webhookId }).chatCreateUser({})
  const chat = createClient({ baseUrl, webhookId, userKey })
  const { conversation } = await chat.chatCreateConversation({})
  const inBot = createClient({ baseUrl, token: operator, botId: bot.id })
  const listed = await inBot.listConversations({})
  const nativeId = listed.conversations[0]?.id ?? ''
  return {
    admin,
    owner,
    inBot,
    token: pat,
    workspaceId,
    botId: bot.id,
    webhookId,
    userId: user.id,
    userKey,
    conversationId: conversation.id,
    nativeId,
  }
}

export type Room = Awaited<ReturnType<typeof openRoom>>

export interface Stream {
  ended: boolean
  /** The code with which a WebSocket was closed. */
  code?: number
  close(): void
}

/** Opens server-sent events and reads them; only whether they have ended is kept. */
export async function bySse(url: string, headers: Record<string, string>): Promise<Stream> {
  const controller = new AbortController()
  const response = await fetch(url, { headers, signal: controller.signal })
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
  const stream: Stream = { ended: false, close: () => controller.abort() }
  const drain = async () => {
    for await (const _ of response.body ?? []) {
      // The content does not matter, only the end.
    }
  }
  void drain()
    .catch(() => {})
    .then(() => {
      stream.ended = true
    })
  return stream
}

/** Opens a WebSocket. */
export async function bySocket(url: string, headers: Record<string, string>): Promise<Stream> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers })
  const stream: Stream = { ended: false, close: () => socket.terminate() }
  socket.once('close', (code) => Object.assign(stream, { ended: true, code }))
  await new Promise((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  return stream
}

/** The headers of a call with the token of a room. */
export const asAdmin = ({ token, workspaceId }: Pick<Room, 'token' | 'workspaceId'>) => ({
  authorization: `Bearer ${token.value}`,
  'x-workspace-id': workspaceId,
})
