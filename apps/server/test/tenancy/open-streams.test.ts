import { expect, it, vi } from 'vitest'
import { isoTime } from '../../src/platform/clock.js'
import { asAdmin, bySocket, bySse, openRoom, type Room, type Stream } from './rooms.js'
import { inDatabase } from './seed.js'
import { describePlacesSlow, useServers } from './two-servers.js'

const site = 'https://shop.example'

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
    'a bot is moved to another workspace',
    async ({ admin, owner, botId }) => {
      const { id: targetWorkspaceId } = await owner.createWorkspace({ name: 'Target' })
      await admin.transferBot({ id: botId, targetWorkspaceId })
    },
    ['of the logs of a bot', 'of a conversation', 'of a conversation by WebSocket'],
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

describePlacesSlow('open streams ($name, at another process: $isElsewhere)', (place) => {
  const servers = useServers(place)

  it.each(ends)('streams end at once when %s, and no others do', async (_, end, ended) => {
    const { first, address, untimed } = servers()
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
    const { first, address, untimed } = servers()
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
    const { first, address, clocks } = servers()
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
      for (const each of clocks) each.advance(31_000)
      expect(stream?.ended).toBe(true)
    })
  })
})
