import { type AuthenticatedClient, Client } from '@botpress/chat'
import { contract } from '@botstead/contract'
import { expect, it } from 'vitest'
import { connect, makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { listenBySocket } from '../listening/raw-stream.js'
import { readMetrics } from '../prometheus.js'

const server = useServer()

/** The objects that the calls use; each call creates what the next ones need. */
interface World {
  apiUrl: string
  webhookId: string
  ada: AuthenticatedClient
  graceId: string
  conversationId: string
  messageId: string
  eventId: string
}

type Call = (world: World) => Promise<unknown>
const payload = { type: 'text' as const, text: 'Hello' }

/** A call of the client package for each operation, in an order in which later calls build on earlier ones. */
const calls: Record<keyof typeof contract.chat, Call> = {
  // The package calls hello before everything else; the description of the API is for people.
  hello: ({ apiUrl }) => new Client({ apiUrl }).createUser({}),
  openApi: async ({ apiUrl }) =>
    expect(await (await fetch(`${apiUrl}/openapi.json`)).json()).toMatchObject({
      openapi: expect.stringMatching(/^3/),
    }),
  reference: async ({ apiUrl }) =>
    expect(await (await fetch(`${apiUrl}/redoc`)).text()).toMatch(/^<!doctype html>/),
  createUser: async (world) => {
    const { user } = await new Client({ apiUrl: world.apiUrl }).createUser({ name: 'Grace' })
    world.graceId = user.id
  },
  getOrCreateUser: async ({ apiUrl, ada }) => {
    const { key, id } = ada.user
    const again = { 'x-user-key': key, name: 'Ada' }
    expect((await new Client({ apiUrl }).getOrCreateUser(again)).user).toMatchObject({
      id,
      name: 'Ada',
    })
  },
  getUser: async ({ ada }) => expect((await ada.getUser({})).user.name).toBe('Ada'),
  updateUser: async ({ ada }) =>
    expect((await ada.updateUser({ profile: 'Countess' })).user).toMatchObject({
      name: 'Ada',
      profile: 'Countess',
    }),
  createConversation: async (world) => {
    world.conversationId = (await world.ada.createConversation({})).conversation.id
  },
  getOrCreateConversation: async ({ ada, conversationId: id }) =>
    expect((await ada.getOrCreateConversation({ id })).conversation.id).toBe(id),
  listConversations: async ({ ada, conversationId }) =>
    expect((await ada.listConversations({})).conversations).toMatchObject([{ id: conversationId }]),
  getConversation: async ({ ada, conversationId: id }) =>
    expect((await ada.getConversation({ id })).conversation.id).toBe(id),
  addParticipant: async ({ ada, conversationId, graceId: userId }) =>
    expect((await ada.addParticipant({ conversationId, userId })).participant.id).toBe(userId),
  getParticipant: async ({ ada, conversationId, graceId: userId }) =>
    expect((await ada.getParticipant({ conversationId, userId })).participant.id).toBe(userId),
  listParticipants: async ({ ada, conversationId }) =>
    expect((await ada.listParticipants({ conversationId })).participants).toHaveLength(2),
  listenConversation: async ({ ada, apiUrl, webhookId, conversationId: id }) => {
    const listener = await ada.listenConversation({ id })
    const heard = new Promise((resolve) => listener.on('message_created', resolve))
    const userKey = ada.user.key
    const socket = await listenBySocket({
      url: new URL(apiUrl).origin,
      webhookId,
      conversationId: id,
      userKey,
    })
    const { message } = await ada.createMessage({ conversationId: id, payload })
    expect(await heard).toEqual({ ...message, isBot: false })
    await socket.until((all) => all.some(({ data }) => data.id === message.id))
    socket.close()
    await listener.disconnect()
  },
  removeParticipant: async ({ ada, conversationId, graceId: userId }) =>
    expect(await ada.removeParticipant({ conversationId, userId })).toEqual({}),
  createMessage: async (world) => {
    const { ada, conversationId } = world
    world.messageId = (await ada.createMessage({ conversationId, payload })).message.id
  },
  getMessage: async ({ ada, messageId: id }) =>
    expect((await ada.getMessage({ id })).message).toMatchObject({ id, payload }),
  listMessages: async ({ ada, conversationId, messageId }) =>
    expect((await ada.listMessages({ conversationId })).messages[0]?.id).toBe(messageId),
  deleteMessage: async ({ ada, messageId: id }) =>
    expect(await ada.deleteMessage({ id })).toEqual({}),
  createEvent: async (world) => {
    const { ada, conversationId } = world
    world.eventId = (await ada.createEvent({ conversationId, payload: { step: 1 } })).event.id
  },
  getEvent: async ({ ada, eventId: id }) =>
    expect((await ada.getEvent({ id })).event).toMatchObject({ id, payload: { step: 1 } }),
  deleteConversation: async ({ ada, conversationId: id }) =>
    expect(await ada.deleteConversation({ id })).toEqual({}),
  deleteUser: async ({ ada }) => expect(await ada.deleteUser({})).toEqual({}),
}

it('serves the existing chat client with every operation that it has', async () => {
  expect(Object.keys(calls).sort()).toEqual(Object.keys(contract.chat).sort())
  const { webhookId } = await makeBot(server())
  const apiUrl = `${server().url}/chat/${webhookId}`
  const ada = await connect(server(), webhookId)
  const world = { apiUrl, webhookId, ada, ...empty }
  for (const [name, call] of Object.entries(calls)) {
    await call(world).catch((error: unknown) => {
      throw new Error(`${name} is not served as the client expects it`, { cause: error })
    })
  }
  // Read from the server, so that no call can pass without having arrived. Streams are not counted:
  // the received signals have shown that they arrived.
  const series = readMetrics(await (await server().fetch('/metrics')).text())
  const served = [...series.keys()].flatMap(
    (name) => /^botstead_http_requests_total\{operation="(\w+)",status="2/.exec(name)?.[1] ?? [],
  )
  const answered = Object.values(contract.chat).filter((one) => one.response.kind !== 'stream')
  const wanted = answered.map(({ id }) => id)
  expect(wanted.filter((id) => !served.includes(id))).toEqual([])
  const preflight = await fetch(`${apiUrl}/messages`, {
    method: 'OPTIONS',
    headers: { origin: 'https://page.example', 'access-control-request-method': 'POST' },
  })
  expect([preflight.status, await preflight.text()]).toEqual([200, ''])
})

const empty = { graceId: '', conversationId: '', messageId: '', eventId: '' }
