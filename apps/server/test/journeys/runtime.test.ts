import { createServer } from 'node:http'
import { sql } from 'kysely'
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { describeSlow } from '../engines.js'
import { type existingClient, installSilently, makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { inDatabase } from '../tenancy/seed.js'

const hour = 60 * 60 * 1000

/** Waits until the assertion holds and returns its result. */
const eventually = <T>(assertion: () => Promise<T>) => vi.waitFor(assertion, { interval: 50 })

describeSlow('the runtime API of bots and integrations', (engine) => {
  const server = useServer(engine)
  let made: Awaited<ReturnType<typeof makeBot>>
  let bot: Awaited<ReturnType<typeof makeBot>>['client']
  let mail: ReturnType<typeof existingClient>

  beforeAll(async () => {
    made = await makeBot(server())
    bot = made.client
    mail = await installSilently(server(), made.bot.id, 'mail')
  })

  const refused = (type: string) => ({ type })
  const room = (tags: Record<string, string> = {}) =>
    mail.createConversation({ channel: 'thread', tags }).then(({ conversation }) => conversation)
  const person = (tags: Record<string, string> = {}) =>
    mail.createUser({ tags }).then(({ user }) => user)

  it('merges the tags of users and shows each side its own names', async () => {
    const { user } = await mail.createUser({ tags: { id: '7', empty: '' }, name: 'Ada' })
    expect(user.tags).toEqual({ id: '7' })
    expect((await bot.getUser({ id: user.id })).user.tags).toEqual({ 'mail:id': '7' })
    await bot.updateUser({ id: user.id, tags: { vip: 'yes' }, properties: { mood: 'good' } })
    await mail.updateUser({ id: user.id, tags: { id: '8' }, name: null, properties: { x: '' } })
    const { user: seen } = await bot.getUser({ id: user.id })
    expect(seen).toMatchObject({
      tags: { 'mail:id': '8', vip: 'yes' },
      properties: { mood: 'good' },
    })
    expect(seen).not.toHaveProperty('name')
    expect((await mail.getUser({ id: user.id })).user.tags).toEqual({ id: '8' })
    await expect(bot.updateUser({ id: user.id, tags: { 'mail:id': '9' } })).rejects.toMatchObject(
      refused('Forbidden'),
    )
    await mail.updateUser({ id: user.id, tags: { id: null } as never })
    expect((await bot.getUser({ id: user.id })).user.tags).toEqual({ vip: 'yes' })
  })

  it('includes the bot as a user, also for integrations, which cannot be deleted', async () => {
    const id = made.bot.id
    await mail.updateUser({ id, name: 'Robot', tags: { account: 'r2' } })
    expect((await bot.getUser({ id })).user).toMatchObject({
      id,
      name: 'Robot',
      tags: { 'mail:account': 'r2' },
    })
    await expect(bot.deleteUser({ id })).rejects.toMatchObject(refused('ReferenceConstraint'))
    const { users } = await bot.listUsers({})
    expect(users.map((user) => user.id)).not.toContain(id)
  })

  it('keeps what belongs to another installation from an integration', async () => {
    const other = await installSilently(server(), made.bot.id, 'phone')
    const { id } = await person()
    const { id: conversationId } = await room()
    const gone = refused('ResourceNotFound')
    await expect(other.getUser({ id })).rejects.toMatchObject(gone)
    await expect(other.getConversation({ id: conversationId })).rejects.toMatchObject(gone)
    await expect(
      other.createMessage({ conversationId, userId: id, type: 'text', payload: {}, tags: {} }),
    ).rejects.toMatchObject(refused('ReferenceNotFound'))
    await expect(other.listMessages({ conversationId })).rejects.toMatchObject(
      refused('ReferenceNotFound'),
    )
    expect((await other.listUsers({})).users).toEqual([])
  })

  it('finds existing objects by all tags, or by the discriminating ones', async () => {
    const first = await mail.getOrCreateUser({ tags: { x: '1', y: '2', z: '3' } })
    expect(first.meta).toEqual({ created: true })
    const other = await mail.getOrCreateUser({ tags: { x: '1', y: '2' } })
    expect(other.meta).toEqual({ created: true })
    const found = await mail.getOrCreateUser({
      tags: { x: '1', z: '3', extra: 'new', y: '' },
      discriminateByTags: ['x', 'z'],
    })
    expect(found.meta).toEqual({ created: false })
    expect(found.user).toMatchObject({ id: first.user.id, tags: { x: '1', z: '3', extra: 'new' } })
    await expect(
      mail.getOrCreateUser({ tags: { x: '1' }, discriminateByTags: ['id'] }),
    ).rejects.toMatchObject(refused('InvalidPayload'))
  })

  it('creates one object for concurrent calls', async () => {
    const { id: conversationId } = await room()
    const { id: userId } = await person()
    const tags = { id: 'parallel' }
    const asked = await Promise.all(
      Array.from({ length: 12 }, async (_, at) => {
        const [user, conversation, message, workflow] = await Promise.all([
          mail.getOrCreateUser({ tags: { ...tags, at: `${at}` }, discriminateByTags: ['id'] }),
          mail.getOrCreateConversation({ channel: 'thread', tags, discriminateByTags: ['id'] }),
          mail.getOrCreateMessage({ conversationId, userId, type: 'text', payload: {}, tags }),
          bot.getOrCreateWorkflow({ name: 'parallel', status: 'listening', tags }),
        ])
        return { user, conversation, message, workflow }
      }),
    )
    const only = (ids: string[]) => expect(new Set(ids).size).toBe(1)
    only(asked.map(({ user }) => user.user.id))
    only(asked.map(({ conversation }) => conversation.conversation.id))
    only(asked.map(({ message }) => message.message.id))
    only(asked.map(({ workflow }) => workflow.workflow.id))
    for (const of of ['user', 'conversation', 'message', 'workflow'] as const) {
      expect(asked.filter((answers) => answers[of].meta.created)).toHaveLength(1)
    }
    expect((await mail.listMessages({ conversationId })).messages).toHaveLength(1)
  })

  it('adds authors as participants, and sets the direction of a message', async () => {
    const { id: conversationId } = await room()
    const { id: userId } = await person()
    const { message } = await mail.createMessage({
      conversationId,
      userId,
      type: 'text',
      payload: { text: 'hello' },
      tags: { id: 'm1' },
    })
    expect(message).toMatchObject({ direction: 'incoming', tags: { id: 'm1' }, userId })
    const answer = await bot.createMessage({
      conversationId,
      userId: made.bot.id,
      type: 'text',
      payload: { text: 'hi' },
      tags: {},
    })
    expect(answer.message).toMatchObject({ direction: 'outgoing', userId: made.bot.id })
    const { participants } = await bot.listParticipants({ id: conversationId })
    expect(participants.map(({ id }) => id)).toEqual([userId])
    expect((await bot.listUsers({ conversationId })).users).toHaveLength(1)
    await mail.updateMessage({ id: answer.message.id, tags: { sent: 'yes' } })
    const { messages } = await bot.listMessages({ conversationId })
    expect(messages.map(({ tags }) => tags)).toEqual([{ 'mail:sent': 'yes' }, { 'mail:id': 'm1' }])
    expect((await bot.listMessages({ tags: { 'mail:id': 'm1' } })).messages).toMatchObject([
      { id: message.id },
    ])
    expect((await bot.getConversation({ id: conversationId })).conversation.messageCount).toBe(2)
    const { user } = await mail.createUser({ tags: {} })
    await bot.addParticipant({ id: conversationId, userId: user.id })
    await bot.addParticipant({ id: conversationId, userId: user.id })
    expect((await bot.getParticipant({ id: conversationId, userId: user.id })).participant.id).toBe(
      user.id,
    )
    await bot.removeParticipant({ id: conversationId, userId: user.id })
    await expect(bot.getParticipant({ id: conversationId, userId: user.id })).rejects.toMatchObject(
      refused('ResourceNotFound'),
    )
    // The bot is an ordinary participant: only where it was added.
    const itself = { id: conversationId, userId: made.bot.id }
    await expect(bot.getParticipant(itself)).rejects.toMatchObject(refused('ResourceNotFound'))
    await bot.addParticipant(itself)
    expect((await mail.getParticipant(itself)).participant.id).toBe(made.bot.id)
    const { participants: all } = await bot.listParticipants({ id: conversationId })
    expect(all.map(({ id }) => id).sort()).toEqual([userId, made.bot.id].sort())
    await bot.removeParticipant(itself)
    await expect(bot.getParticipant(itself)).rejects.toMatchObject(refused('ResourceNotFound'))
    await bot.deleteMessage({ id: message.id })
    await expect(bot.getMessage({ id: message.id })).rejects.toMatchObject(
      refused('ResourceNotFound'),
    )
    await bot.deleteConversation({ id: conversationId })
    await expect(bot.getMessage({ id: answer.message.id })).rejects.toMatchObject(
      refused('ResourceNotFound'),
    )
  })

  it('imports history once for repeated calls', async () => {
    const { id: conversationId } = await room()
    const { id: userId } = await person()
    const messages = Array.from({ length: 3 }, (_, at) => ({
      conversationId,
      userId,
      type: 'text',
      payload: { at },
      tags: { id: `old-${at}` },
      discriminateByTags: ['id'],
      createdAt: `2020-01-0${at + 1}T00:00:00.000Z`,
    }))
    const first = await mail.importMessages({ messages })
    const second = await mail.importMessages({ messages })
    expect(second).toEqual(first)
    expect(
      (await mail.listMessages({ conversationId })).messages.map(({ payload }) => payload),
    ).toEqual([{ at: 2 }, { at: 1 }, { at: 0 }])
  })

  it('gets or creates a user, a conversation and a message in one call', async () => {
    const discriminateByTags = ['id']
    const input = {
      user: { tags: { id: 'u1' }, name: 'Ada', discriminateByTags },
      conversation: { channel: 'thread', tags: { id: 'c1' }, discriminateByTags },
      message: { type: 'text', payload: { text: 'x' }, tags: { id: 'm1' }, discriminateByTags },
    }
    const first = await mail.initializeIncomingMessage(input)
    expect(first.message).toMatchObject({
      direction: 'incoming',
      userId: first.user.id,
      conversationId: first.conversation.id,
    })
    const again = await mail.initializeIncomingMessage(input)
    expect(again.message?.id).toBe(first.message?.id)
    await expect(bot.initializeIncomingMessage(input)).rejects.toMatchObject(refused('Forbidden'))
  })

  it('stores states separately for each side and expires them in time', async () => {
    const { id } = await room()
    const place = { type: 'conversation' as const, id, name: 'order' }
    // Integrations look for these words.
    await expect(bot.getState(place)).rejects.toMatchObject({
      ...refused('ResourceNotFound'),
      message: expect.stringContaining('not found'),
    })
    await expect(bot.patchState({ ...place, payload: {} })).rejects.toMatchObject(
      refused('ResourceNotFound'),
    )
    await bot.getOrSetState({ ...place, payload: { a: 1, b: 2 } })
    await bot.getOrSetState({ ...place, payload: { a: 9 } })
    await bot.patchState({ ...place, payload: { b: 3 } })
    const { state } = await bot.getState(place)
    expect(state).toMatchObject({ payload: { a: 1, b: 3 }, conversationId: id, name: 'order' })
    expect(state).not.toHaveProperty('expiresAt')
    const invalid = refused('InvalidIdentifier')
    for (const name of ['Order', '1st', 'o', 'my order', 'ord-er', 'o'.repeat(101), '#order']) {
      await expect(bot.setState({ ...place, name, payload: {} })).rejects.toMatchObject(invalid)
      await expect(bot.getOrSetState({ ...place, name, payload: {} })).rejects.toMatchObject(
        invalid,
      )
      await expect(bot.getState({ ...place, name })).rejects.toMatchObject(
        refused('ResourceNotFound'),
      )
    }
    await bot.setState({ ...place, name: 'acme/desk-2#order', payload: {} })
    await expect(mail.getState(place)).rejects.toMatchObject(refused('ResourceNotFound'))
    await bot.setStateExpiry({ ...place, expiry: hour })
    server().clock.advance(hour + 1)
    await expect(bot.getState(place)).rejects.toMatchObject(refused('ResourceNotFound'))
    const { state: anew } = await bot.setState({ ...place, payload: { c: 1 } })
    expect(anew.id).not.toBe(state.id)
    const { events } = await bot.listEvents({ type: 'state_expired', conversationId: id })
    expect(events).toMatchObject([
      { payload: { state: { id: state.id, payload: { a: 1, b: 3 } } } },
    ])
    await bot.setState({ ...place, payload: null })
    await expect(bot.getState(place)).rejects.toMatchObject(refused('ResourceNotFound'))
  })

  it.runIf(engine.name === 'postgres')(
    'does not report a state as expired that another process has just ended',
    async () => {
      const { id } = await room()
      const place = { type: 'conversation' as const, id, name: 'order' }
      const { state } = await bot.setState({ ...place, payload: { a: 1 }, expiry: hour })
      await inDatabase(server(), async ({ run }) => {
        const { changed } = await run(async (tx) => {
          // The work of the job in another process, up to its commit. Here the job has nothing left to do.
          await tx.deleteFrom('jobs').where('key', '=', state.id).execute()
          await tx.deleteFrom('states').where('id', '=', state.id).execute()
          server().clock.advance(hour + 1)
          const changed = bot.setState({ ...place, payload: { a: 2 } })
          const waiting = sql`select 1 from pg_locks, pg_blocking_pids(pid) as blockers
            where not granted and pg_backend_pid() = any (blockers)`
          await vi.waitUntil(async () => (await waiting.execute(tx)).rows.length > 0)
          // Wrapped, because the transaction would wait for it.
          return { changed }
        })
        expect((await changed).state.payload).toEqual({ a: 2 })
      })
      const { events } = await bot.listEvents({ type: 'state_expired', conversationId: id })
      expect(events).toEqual([])
    },
  )

  it('releases scheduled messages and events when they are due, unless they are cancelled', async () => {
    const { id: conversationId } = await room()
    const say = (text: string) => ({
      conversationId,
      userId: made.bot.id,
      type: 'text',
      payload: { text },
      tags: {},
      schedule: { delay: hour },
    })
    const { message } = await bot.createMessage(say('later'))
    const { message: never } = await bot.createMessage(say('never'))
    await bot.deleteMessage({ id: never.id })
    const happen = { type: 'reminder', payload: { any: 1 }, schedule: { delay: hour } }
    const { event } = await mail.createEvent(happen)
    expect(event).toMatchObject({ type: 'reminder', status: 'scheduled', failureReason: null })
    const { event: dropped } = await bot.createEvent(happen)
    await bot.cancelScheduledEvent({ id: dropped.id })
    expect((await bot.getMessage({ id: message.id })).message).toEqual(message)
    expect((await bot.listMessages({ conversationId })).messages).toEqual([])
    await server().pass(hour + 1000)
    await eventually(async () => {
      expect((await bot.listMessages({ conversationId })).messages).toMatchObject([
        { id: message.id, payload: { text: 'later' } },
      ])
      expect((await bot.getEvent({ id: event.id })).event).toMatchObject({
        type: 'mail:reminder',
        status: 'pending',
      })
    })
    expect((await bot.getEvent({ id: dropped.id })).event.status).toBe('canceled')
    await expect(bot.cancelScheduledEvent({ id: event.id })).rejects.toMatchObject(
      refused('RelationConflict'),
    )
  })

  it('fires recurring events once, also after several missed times', async () => {
    // Far from the next due time, at which there would be one more.
    await server().pass(36 * hour - (server().clock.now() % (24 * hour)))
    const recurringEvents = {
      daily: { schedule: { cron: '0 6 * * *' }, type: 'morning', payload: { wake: true } },
    }
    await expect(
      made.admin.updateBot({
        id: made.bot.id,
        recurringEvents: { bad: { ...recurringEvents.daily, schedule: { cron: 'often' } } },
      }),
    ).rejects.toMatchObject(refused('InvalidPayload'))
    await made.admin.updateBot({ id: made.bot.id, recurringEvents })
    const mornings = async () => (await bot.listEvents({ type: 'morning' })).events
    await server().pass(72 * hour)
    await eventually(async () => expect(await mornings()).toHaveLength(1))
    await server().pass(24 * hour)
    await eventually(async () => expect(await mornings()).toHaveLength(2))
    expect((await mornings())[0]?.payload).toEqual({ wake: true })
    await made.admin.updateBot({ id: made.bot.id, recurringEvents: { daily: null } })
  })

  it('lists the values of tags, each once', async () => {
    for (const kind of ['a', 'b', 'a']) await room({ kind })
    const { tags } = await mail.listTagValues({ key: 'kind', type: 'conversation' })
    expect(tags.map(({ value }) => value).sort()).toEqual(['a', 'b'])
    const seen = await bot.listTagValues({ key: 'mail:kind', type: 'conversation', pageSize: 1 })
    expect(seen.tags).toHaveLength(1)
    expect(seen.meta.nextToken).toBeDefined()
    await bot.trackAnalytics({ name: 'orders', count: 2 })
  })

  it('delivers incoming messages to a bot with an address, as an event with its context', async () => {
    const ear = createServer((_, response) => response.end('{}'))
    await new Promise<void>((resolve) => ear.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void ear.close())
    const address = ear.address()
    const port = typeof address === 'object' ? address?.port : undefined
    await made.admin.updateBot({ id: made.bot.id, url: `http://127.0.0.1:${port}` })
    const { id: conversationId } = await room()
    const { id: userId } = await person({ id: 'teller' })
    const { message } = await mail.createMessage({
      conversationId,
      userId,
      type: 'text',
      payload: { text: 'hello' },
      tags: {},
    })
    const { events } = await bot.listEvents({ messageId: message.id })
    expect(events).toMatchObject([
      {
        type: 'message_created',
        messageId: message.id,
        conversationId,
        userId,
        payload: {
          message: { id: message.id, payload: { text: 'hello' } },
          user: { id: userId, tags: { 'mail:id': 'teller' } },
          conversation: { id: conversationId, integration: 'mail', messageCount: 1 },
        },
      },
    ])
    const subscriptions = { events: { other: {} } }
    await made.admin.updateBot({ id: made.bot.id, subscriptions } as never)
    const { event } = await bot.createEvent({ type: 'unwanted', payload: {} })
    expect(event.status).toBe('pending')
    expect((await bot.getEvent({ id: event.id })).event.status).toBe('ignored')
  })
})
