import { beforeAll, expect, it, vi } from 'vitest'
import { describeEachEngine } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { startHttpBot } from '../../../../test/http-bot.js'

describeEachEngine('the timeline of a conversation', (engine) => {
  const server = useServer(engine)
  let admin: ReturnType<ReturnType<typeof server>['client']>

  beforeAll(() => {
    admin = server().client()
  })

  async function chatWith(url?: string) {
    const { bot } = await admin.createBot({ ...(url && { url }) })
    const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
    const { key: userKey, user } = await server()
      .client({ webhookId })
      .chatCreateUser({ name: 'Ann' })
    const chat = server().client({ webhookId, userKey })
    const { conversation } = await chat.chatCreateConversation({})
    const { id } = conversation
    const say = async (text: string) =>
      (await chat.chatCreateMessage({ conversationId: id, payload: { type: 'text', text } }))
        .message
    return {
      id,
      botId: bot.id,
      userId: user.id,
      own: server().client({ botId: bot.id }),
      chat,
      say,
    }
  }

  const entriesOf = async (id: string, query: object = {}) =>
    (await admin.getConversationTimeline({ id, ...query })).entries

  it('merges messages with their authors, events, workflows, participants, states and log lines', async () => {
    const { id, botId, userId, own, chat, say } = await chatWith()
    const question = await say('Where is my order?')
    const { message: answer } = await own.createMessage({
      conversationId: id,
      userId: botId,
      type: 'text',
      payload: { text: 'On its way.' },
      tags: {},
    })
    const { event } = await own.createEvent({
      type: 'lookup',
      payload: { order: 7 },
      conversationId: id,
    })
    await own.createWorkflow({ name: 'order', status: 'listening', conversationId: id })
    const { user } = await own.createUser({ tags: {}, name: 'Bob' })
    await own.addParticipant({ id, userId: user.id })
    await own.removeParticipant({ id, userId: user.id })
    await own.setState({ type: 'conversation', id, name: 'cart', payload: { items: 1 } })
    const { conversation: other } = await own.createConversation({ channel: 'channel', tags: {} })
    await own.writeBotLogs({
      logs: [
        { level: 'warn', message: 'Slow answer', conversationId: id },
        { level: 'warn', message: 'Another', conversationId: other.id },
      ],
    })
    await chat.chatDeleteMessage({ id: question.id })
    const late = await say('Thanks')
    const entries = await entriesOf(id)
    expect(entries.map(({ at }) => at)).toEqual(entries.map(({ at }) => at).toSorted())
    expect(new Set(entries.map((entry) => entry.id)).size).toBe(entries.length)
    const bob = { id: user.id, role: 'user', name: 'Bob' }
    const ann = { id: userId, role: 'user', name: 'Ann' }
    for (const entry of [
      { kind: 'message', id: answer.id, message: answer, author: { id: botId, role: 'bot' } },
      { kind: 'message', id: late.id, author: ann, deliveries: [] },
      { kind: 'event', id: event.id, event: { type: 'lookup', payload: { order: 7 } } },
      { kind: 'workflow', workflow: { name: 'order', status: 'listening' } },
      { kind: 'participant', change: 'added', participant: bob },
      { kind: 'participant', change: 'removed', participant: bob },
      { kind: 'state', state: { name: 'cart', payload: { items: 1 } } },
      { kind: 'log', log: { level: 'warn', message: 'Slow answer' } },
      { kind: 'deletion', messageId: question.id, author: ann },
    ]) {
      expect(entries).toContainEqual(expect.objectContaining(toMatcher(entry)))
    }
    expect(entries).toHaveLength(9)
    const kinds = ['participant', 'log'] as const
    const some = await entriesOf(id, { kinds })
    expect(some.map(({ kind }) => kind)).toEqual(['participant', 'participant', 'log'])
    expect(await entriesOf(other.id, { kinds: ['message'] })).toEqual([])
  })

  it('shows who was notified of a message, and what became of that', async () => {
    const { id, say } = await chatWith((await startHttpBot('refusing')).url)
    const { id: messageId } = await say('hello')
    await vi.waitFor(async () => {
      const [message] = await entriesOf(id, { kinds: ['message'] })
      expect(message).toMatchObject({
        id: messageId,
        deliveries: [
          {
            kind: 'event_received',
            status: 'failed',
            isInProgress: false,
            attempts: 1,
            lastError: expect.stringContaining('Status 400'),
            responseStatus: 400,
            durationMs: expect.any(Number),
          },
        ],
      })
    })
  })

  it('says that a receiver is being notified', async () => {
    const { id, say } = await chatWith((await startHttpBot('hanging')).url)
    await say('hello')
    await vi.waitFor(async () => {
      const [message] = await entriesOf(id, { kinds: ['message'] })
      expect(message).toMatchObject({
        deliveries: [{ status: 'pending', attempts: 1, isInProgress: true }],
      })
    })
  })

  it('is read in pages from both ends and around a message', async () => {
    const { id, say } = await chatWith()
    const said: string[] = []
    for (let at = 0; at < 7; at++) said.push((await say(`Message ${at}`)).id)
    const page = async (query: object) => {
      const asked = { id, kinds: ['message'] as const, pageSize: 3, ...query }
      const { entries, meta } = await admin.getConversationTimeline({
        ...asked,
        kinds: ['message'],
      })
      return { ids: entries.map((entry) => entry.id), ...meta }
    }
    const first = await page({})
    expect(first).toEqual({ ids: said.slice(0, 3), nextToken: expect.any(String) })
    const second = await page({ nextToken: first.nextToken })
    expect(second.ids).toEqual(said.slice(3, 6))
    expect(await page({ previousToken: second.previousToken })).toMatchObject({
      ids: said.slice(0, 3),
      nextToken: first.nextToken,
    })
    const end = await page({ from: 'end' })
    expect(end).toEqual({ ids: said.slice(4), previousToken: expect.any(String) })
    expect((await page({ previousToken: end.previousToken })).ids).toEqual(said.slice(1, 4))
    const around = await page({ around: said[3] })
    expect(around.ids).toEqual(said.slice(2, 5))
    expect((await page({ nextToken: around.nextToken })).ids).toEqual(said.slice(5))
    expect((await page({ previousToken: around.previousToken })).ids).toEqual(said.slice(0, 2))
    expect(await page({ around: said[0] })).toEqual({
      ids: said.slice(0, 2),
      nextToken: expect.any(String),
    })
  })

  it('refuses unknown conversations, messages of others and two places at once', async () => {
    const { id, say } = await chatWith()
    const other = await chatWith()
    const message = await say('hello')
    await expect(entriesOf('conv_none')).rejects.toMatchObject({ type: 'ResourceNotFound' })
    await expect(entriesOf(other.id, { around: message.id })).rejects.toMatchObject({
      type: 'ReferenceNotFound',
      message: expect.stringContaining('query.around'),
    })
    await expect(entriesOf(id, { around: message.id, nextToken: 'any' })).rejects.toMatchObject({
      type: 'InvalidQuery',
    })
    const { conversation } = await admin.getWorkspaceConversation({ id })
    expect(conversation).toMatchObject({ id, lastMessage: { id: message.id, text: 'hello' } })
  })
})

/** Objects inside of an object match if they have at least the given members. */
function toMatcher(given: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      Object(value) === value && !Array.isArray(value) ? expect.objectContaining(value) : value,
    ]),
  )
}
