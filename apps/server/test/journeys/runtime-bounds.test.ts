import { beforeAll, describe, expect, it, vi } from 'vitest'
import { type existingClient, installSilently, makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'

const day = 24 * 60 * 60 * 1000
const payloadBytes = 128 * 1024

/** A number of tags with distinct names. */
const tagsOf = (count: number, prefix: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, 'x']))
/** A payload whose JSON has a given number of bytes. */
const payloadOf = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) })

describe('the limits of what bots and integrations store', () => {
  const server = useServer()
  let bot: Awaited<ReturnType<typeof makeBot>>['client']
  let botId: string
  let mail: ReturnType<typeof existingClient>
  let conversationId: string

  beforeAll(async () => {
    const made = await makeBot(server())
    bot = made.client
    botId = made.bot.id
    mail = await installSilently(server(), botId, 'mail')
    const { conversation } = await mail.createConversation({ channel: 'thread', tags: {} })
    conversationId = conversation.id
  })

  const timeIn = (milliseconds: number) =>
    new Date(server().clock.now() + milliseconds).toISOString()
  const refusal = (type: string, ...words: string[]) => ({
    type,
    message: expect.stringMatching(words.join('.*')),
  })

  it('are 50 tags of each side, and 500 characters of a value', async () => {
    const { user } = await mail.createUser({ tags: tagsOf(50, 'theirs') })
    await bot.updateUser({ id: user.id, tags: tagsOf(50, 'own') })
    expect(Object.keys((await bot.getUser({ id: user.id })).user.tags)).toHaveLength(100)
    const tooMany = refusal('LimitExceeded', 'body.tags', '50', '51')
    for (const client of [bot, mail]) {
      const more = client.updateUser({ id: user.id, tags: { more: 'x' } })
      await expect(more).rejects.toMatchObject(tooMany)
    }
    await expect(mail.createUser({ tags: tagsOf(51, 'tag') })).rejects.toMatchObject(tooMany)
    await bot.updateUser({ id: user.id, tags: { own0: 'x'.repeat(500) } })
    const long = bot.updateUser({ id: user.id, tags: { own0: 'x'.repeat(501) } })
    await expect(long).rejects.toMatchObject(refusal('InvalidPayload', 'body.tags.own0', '500'))
  })

  it('are 128 KiB of JSON for messages, events and states, and 200 characters for a type', async () => {
    const place = { type: 'bot' as const, id: botId, name: 'note' }
    const storing = (payload: { text: string }) => [
      () => bot.createMessage({ conversationId, userId: botId, type: 'text', payload, tags: {} }),
      () => bot.createEvent({ type: 'note', payload }),
      () => bot.setState({ ...place, payload }),
    ]
    for (const store of storing(payloadOf(payloadBytes))) await store()
    const refused = refusal('LimitExceeded', 'body.payload', String(payloadBytes))
    for (const store of storing(payloadOf(payloadBytes + 1))) {
      await expect(store()).rejects.toMatchObject(refused)
    }
    await expect(bot.patchState({ ...place, payload: { more: 'x' } })).rejects.toMatchObject({
      type: 'LimitExceeded',
    })
    await bot.createEvent({ type: 't'.repeat(200), payload: {} })
    const long = bot.createEvent({ type: 't'.repeat(201), payload: {} })
    await expect(long).rejects.toMatchObject(refusal('InvalidPayload', 'body.type', '200'))
  })

  it('are a year for scheduled objects, and a time in the past means at once', async () => {
    const schedule = { dateTime: timeIn(-day) }
    const { event } = await bot.createEvent({ type: 'now', payload: {}, schedule })
    await vi.waitFor(async () =>
      expect((await bot.getEvent({ id: event.id })).event.status).toBe('pending'),
    )
    const far = { dateTime: timeIn(367 * day) }
    const tooFar = refusal('InvalidPayload', 'body.schedule.dateTime', 'year')
    const message = { conversationId, userId: botId, type: 'text', payload: {}, tags: {} }
    const workflow = { name: 'trip', status: 'pending' as const }
    const planned = [
      bot.createEvent({ type: 'far', payload: {}, schedule: far }),
      bot.createMessage({ ...message, schedule: far }),
    ]
    for (const plan of planned) await expect(plan).rejects.toMatchObject(tooFar)
    await expect(
      bot.createWorkflow({ ...workflow, timeoutAt: far.dateTime }),
    ).rejects.toMatchObject(refusal('InvalidPayload', 'body.timeoutAt', 'year'))
    const { workflow: usual } = await bot.createWorkflow(workflow)
    expect(Date.parse(usual.timeoutAt) - Date.parse(usual.createdAt)).toBe(day)
  })

  it('are 30 days for states that expire', async () => {
    const state = { type: 'bot' as const, id: botId, name: 'short', payload: {} }
    const { state: kept } = await bot.setState({ ...state, expiry: 30 * day })
    expect(Date.parse(kept.expiresAt ?? '') - Date.parse(kept.updatedAt)).toBe(30 * day)
    const long = bot.setState({ ...state, expiry: 30 * day + 1 })
    await expect(long).rejects.toMatchObject(refusal('InvalidPayload', 'body.expiry', '2592000000'))
  })

  it('are 100 messages of the past at a time, all of them or none', async () => {
    const { conversation } = await mail.createConversation({ channel: 'thread', tags: {} })
    const { user } = await mail.createUser({ tags: {} })
    const message = (at: number) => ({
      conversationId: conversation.id,
      userId: user.id,
      type: 'text',
      payload: { at },
      tags: { id: `old-${at}` },
      discriminateByTags: ['id'],
      createdAt: '2020-01-01T00:00:00.000Z',
    })
    const messages = Array.from({ length: 101 }, (_, at) => message(at))
    await expect(mail.importMessages({ messages })).rejects.toMatchObject(
      refusal('InvalidPayload', 'body.messages', '100'),
    )
    const unknown = { ...message(2), conversationId: 'conv_01J00000000000000000000000' }
    await expect(
      mail.importMessages({ messages: [message(0), message(1), unknown] }),
    ).rejects.toMatchObject({ type: expect.stringMatching(/NotFound$/) })
    const stored = async () =>
      (await bot.listMessages({ conversationId: conversation.id })).messages.length
    expect(await stored()).toBe(0)
    await mail.importMessages({ messages: messages.slice(0, 100) })
    const { conversation: filled } = await bot.getConversation({ id: conversation.id })
    expect(filled.messageCount).toBe(100)
  })
})
