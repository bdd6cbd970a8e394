import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@botstead/contract'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { type Server, startServer } from '../../src/app/container.js'
import { loadConfig } from '../../src/config/config.js'
import { isoTime } from '../../src/platform/clock.js'
import { createLog } from '../../src/platform/telemetry/log.js'
import { engines } from '../engines.js'
import { createTestClock, startTestServer, type TestServer } from '../harness.js'
import { inDatabase } from './seed.js'

const secret = 'the secret that all processes share'
const site = 'https://shop.example'

/** A workspace with a token of its own, a bot, and a user of its chat in a conversation. */
async function openRoom({ url: baseUrl, token: operator }: TestServer) {
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

type Room = Awaited<ReturnType<typeof openRoom>>

interface Stream {
  ended: boolean
  /** The code with which a WebSocket was closed. */
  code?: number
  close(): void
}

async function bySse(url: string, headers: Record<string, string>): Promise<Stream> {
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

async function bySocket(url: string, headers: Record<string, string>): Promise<Stream> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers })
  const stream: Stream = { ended: false, close: () => socket.terminate() }
  socket.once('close', (code) => Object.assign(stream, { ended: true, code }))
  await new Promise((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  return stream
}

const asAdmin = ({ token, workspaceId }: Room) => ({
  authorization: `Bearer ${token.value}`,
  'x-workspace-id': workspaceId,
})
const listen = ({ webhookId, conversationId }: Room) =>
  `/chat/${webhookId}/conversations/${conversationId}/listen`
const initialize = ({ webhookId, conversationId }: Room) =>
  `/webchat/${webhookId}/initialize?conversationId=${conversationId}`

/** All kinds of streams, opened at the process with an address. */
const streams: Record<string, (url: string, room: Room) => Promise<Stream>> = {
  'of logs': (url, room) => bySse(`${url}/v1/admin/logs/stream`, asAdmin(room)),
  'of the logs of a bot': (url, room) =>
    bySse(`${url}/v1/admin/logs/stream?botId=${room.botId}`, asAdmin(room)),
  'of a conversation': (url, room) =>
    bySse(`${url}/v1/admin/conversations/${room.nativeId}/stream`, asAdmin(room)),
  'of a conversation by WebSocket': (url, room) =>
    bySocket(`${url}/v1/admin/conversations/${room.nativeId}/stream`, asAdmin(room)),
  'of a chat': (url, room) => bySse(url + listen(room), { 'x-user-key': room.userKey }),
  'of a chat by WebSocket': (url, room) =>
    bySocket(url + listen(room), { 'x-user-key': room.userKey }),
  'of a page that chats': (url, room) =>
    bySse(url + listen(room), { 'x-user-key': room.userKey, origin: site }),
  'of a web chat': (url, room) => bySse(url + initialize(room), { 'x-user-key': room.userKey }),
  'of a page with a web chat': (url, room) =>
    bySse(url + initialize(room), { 'x-user-key': room.userKey, origin: site }),
}

const ofPeople = ['of logs', 'of the logs of a bot', 'of a conversation']
const ofChats = ['of a chat', 'of a chat by WebSocket', 'of a page that chats', 'of a web chat']
const all = Object.keys(streams)

/** Changes that end an authority, and the streams that each ends. */
const ends: [what: string, end: (room: Room) => Promise<unknown>, ended: readonly string[]][] = [
  [
    'a token is deleted',
    ({ owner, token }) => owner.deletePersonalAccessToken({ id: token.id }),
    [...ofPeople, 'of a conversation by WebSocket'],
  ],
  [
    'a bot is deleted',
    ({ admin, botId }) => admin.deleteBot({ id: botId }),
    all.filter((name) => name !== 'of logs'),
  ],
  [
    'a workspace is deleted',
    ({ admin, workspaceId }) => admin.deleteWorkspace({ id: workspaceId }),
    all,
  ],
  [
    'the keys of a user are revoked',
    ({ inBot, userId }) => inBot.revokeUserKeys({ id: userId }),
    [...ofChats, 'of a page with a web chat'],
  ],
  [
    'a user is deleted',
    ({ inBot, userId }) => inBot.deleteUser({ id: userId }),
    [...ofChats, 'of a page with a web chat'],
  ],
  [
    'a web site is excluded',
    ({ admin, botId }) =>
      admin.updateBotWebchatSettings({ id: botId, allowedOrigins: ['https://other.example'] }),
    ['of a page that chats', 'of a page with a web chat'],
  ],
]

const places = [
  ...engines.map(({ name }) => ({ name, isElsewhere: false })),
  ...engines
    .filter(({ name }) => name === 'postgres')
    .map(({ name }) => ({ name, isElsewhere: true })),
]

describe.each(places)('open streams ($name, at another process: $isElsewhere)', (place) => {
  let first: TestServer
  let second: Server | undefined
  let folder: string
  let address: string
  const clock = createTestClock()

  beforeAll(async () => {
    const engine = engines.find(({ name }) => name === place.name)
    if (engine === undefined) throw new Error('There is no such engine')
    first = await startTestServer(engine, { BOTSTEAD_SECRET: secret })
    address = first.url
    folder = await mkdtemp(join(tmpdir(), 'botstead-data-'))
    if (!place.isElsewhere) return
    const { config } = loadConfig({
      PORT: '0',
      BOTSTEAD_DATA_DIR: folder,
      DATABASE_URL: first.server.config.databaseUrl,
      BOTSTEAD_SECRET: secret,
      BOTSTEAD_ROLES: 'api',
    })
    const log = await createLog({ level: 'silent' })
    second = await startServer({ config, clock, timers: clock, log })
    address = second.address
  })

  afterAll(async () => {
    await second?.stop(5000)
    await first.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** A clock that stands still: no cache expires, and no check of every half minute comes. */
  const untimed = (test: () => Promise<void>) => first.clock.hold(() => clock.hold(test))

  it.each(ends)('streams end at once when %s, and no others do', async (_, end, ended) => {
    await untimed(async () => {
      const [room, neighbour] = [await openRoom(first), await openRoom(first)]
      const openAll = async (of: Room) =>
        await Promise.all(
          all.map(async (name) => ({ name, stream: await streams[name]?.(address, of) })),
        )
      const opened = await openAll(room)
      const others = await openAll(neighbour)
      const endedOf = (some: typeof opened) =>
        some.filter(({ stream }) => stream?.ended).map(({ name }) => name)
      await end(room)
      await vi.waitFor(() => expect(endedOf(opened).sort()).toEqual([...ended].sort()))
      for (const { name, stream } of opened) {
        if (name.endsWith('WebSocket') && stream?.ended) expect(stream.code).toBe(1008)
      }
      expect(endedOf(others)).toEqual([])
      for (const { stream } of [...opened, ...others]) stream?.close()
    })
  })

  it('a stream that is opened while its token is deleted does not stay', async () => {
    await untimed(async () => {
      const room = await openRoom(first)
      const opening = Array.from({ length: 10 }, () =>
        streams['of logs']?.(address, room).catch(() => undefined),
      )
      await room.owner.deletePersonalAccessToken({ id: room.token.id })
      const opened = await Promise.all(opening)
      await vi.waitFor(() => expect(opened.filter((stream) => stream && !stream.ended)).toEqual([]))
    })
  })
  it('streams end with the keys of their user a moment later where the hint was lost', async () => {
    const room = await openRoom(first)
    const stream = await streams['of a chat']?.(address, room)
    // As a process does that is killed after the commit, before it sends the hint.
    const keys_revoked_at = isoTime(first.clock.now() + 60_000)
    await inDatabase(first, ({ run }) =>
      run(async (tx) => {
        const ofBot = tx.updateTable('users').where('bot_id', '=', room.botId)
        await ofBot.set({ keys_revoked_at }).execute()
      }),
    )
    await vi.waitFor(() => {
      for (const each of [first.clock, clock]) each.advance(31_000)
      expect(stream?.ended).toBe(true)
    })
  })
})
