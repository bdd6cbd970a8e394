import { beforeAll, expect, it } from 'vitest'
import { type Chats, createChats, type TestBot, text } from '../../../test/chats.js'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import type { ChatUserActor } from '../../domain/actor.js'
import { readEvents } from '../../platform/events/read.js'

const forbidden = { type: 'Forbidden' }
const absent = { type: 'ResourceNotFound' }

describeEachEngine('chat', (engine) => {
  const database = useDatabase(engine)
  let chats: Chats
  /** Another process on the same database. */
  let others: Chats
  let bot: TestBot

  beforeAll(async () => {
    chats = await createChats(database())
    others = await createChats(database())
    bot = await chats.bot()
  })

  const open = (actor: ChatUserActor, id?: string) =>
    chats.chat.createConversation(actor, id === undefined ? {} : { id }, undefined)

  /** A conversation as a bot creates it: without participants. */
  const prepare = (of = bot) =>
    chats.conversations.create(of.actor, { channel: 'channel', tags: {} }, undefined)

  const send = (actor: ChatUserActor, conversationId: string, words = 'hi', process = chats) =>
    process.chat.createMessage(actor, { conversationId, payload: text(words) }, undefined)

  const list = async (actor: ChatUserActor, conversationId: string) =>
    (await chats.chat.listMessages(actor, conversationId, {})).rows

  it('creates a user and a key that names it', async () => {
    const address = await chats.authenticator.chat(bot.webhookId, '')
    const { user, key } = await chats.chat.createUser(address, { name: 'Ada' })
    const holder = await chats.holderOf(bot.webhookId, key)
    expect(holder.userKeyId).toBe(user.id)
    expect(await chats.chat.getUser(holder)).toEqual(user)

    const named = await chats.chat.createUser(address, { id: 'ada' })
    expect(await chats.holderOf(bot.webhookId, named.key)).toMatchObject({ userKeyId: 'ada' })
    await expect(chats.chat.createUser(address, { id: 'ada' })).rejects.toMatchObject({
      type: 'AlreadyExists',
    })
  })

  it('refuses to create users at an address with its own encryption key', async () => {
    const { webhookId } = await chats.bot({ encryptionKey: 'four' })
    const address = await chats.authenticator.chat(webhookId, '')
    await expect(chats.chat.createUser(address, {})).rejects.toMatchObject({
      type: 'Unauthorized',
    })
  })

  it('does not accept a valid key of a user that does not exist', async () => {
    const ghost: ChatUserActor = { ...(await chats.user(bot)), userKeyId: 'ghost' }
    const { id } = await prepare()
    await expect(chats.chat.getUser(ghost)).rejects.toMatchObject(absent)
    await expect(open(ghost)).rejects.toMatchObject(absent)
    await expect(send(ghost, id)).rejects.toMatchObject(forbidden)
    await expect(list(ghost, id)).rejects.toMatchObject(forbidden)
    await expect(chats.chat.getConversation(ghost, id)).rejects.toMatchObject(forbidden)
    expect(await chats.conversations.get(bot.actor, id)).toMatchObject({ claimable: 1 })
  })

  it('lets only participants read and write', async () => {
    const [ada, eve] = [await chats.user(bot), await chats.user(bot)]
    const { id } = await open(ada)
    await send(ada, id)
    await expect(chats.chat.getConversation(eve, id)).rejects.toMatchObject(forbidden)
    await expect(send(eve, id)).rejects.toMatchObject(forbidden)
    await expect(list(eve, id)).rejects.toMatchObject(forbidden)
    expect(await list(ada, id)).toHaveLength(1)
  })

  it('refuses a missing conversation as the interface specifies', async () => {
    const ada = await chats.user(bot)
    await expect(chats.chat.getConversation(ada, 'nowhere')).rejects.toMatchObject(absent)
    await expect(send(ada, 'nowhere')).rejects.toMatchObject(forbidden)
    await expect(send(ada, 'conv_nowhere')).rejects.toMatchObject(forbidden)
    await expect(list(ada, 'nowhere')).rejects.toMatchObject(forbidden)
  })

  it('hides the conversations of one bot from the users of another', async () => {
    const other = await chats.bot()
    const [ada, eve] = [await chats.user(bot, 'namesake'), await chats.user(other, 'namesake')]
    const { id } = await open(ada, 'same')
    await send(ada, id)
    await expect(chats.chat.getConversation(eve, id)).rejects.toMatchObject(absent)
    await expect(send(eve, id)).rejects.toMatchObject(forbidden)
    const { id: own } = await open(eve, 'same')
    expect(own).not.toBe(id)
    expect(await list(eve, 'same')).toEqual([])
  })

  it('finds a conversation by both of its ids and returns the chosen one', async () => {
    const ada = await chats.user(bot, 'chooser')
    const conversation = await open(ada, 'conversation/7')
    for (const id of ['conversation/7', conversation.id]) {
      expect(await chats.chat.getConversation(ada, id)).toMatchObject({
        foreign_id: 'conversation/7',
      })
      expect(await send(ada, id)).toMatchObject({
        conversationId: 'conversation/7',
        userId: 'chooser',
      })
      expect(await list(ada, id)).not.toHaveLength(0)
    }
    await expect(open(ada, 'conversation/7')).rejects.toMatchObject({ type: 'AlreadyExists' })
    await expect(open(ada, conversation.id)).rejects.toMatchObject({ type: 'AlreadyExists' })
  })

  it('finds a conversation whose chosen id looks like a native one', async () => {
    const ada = await chats.user(bot)
    await open(ada, 'conv_chosen')
    expect(await send(ada, 'conv_chosen')).toMatchObject({ conversationId: 'conv_chosen' })
  })

  it('makes the first user who writes the owner of a prepared conversation', async () => {
    const [ada, eve] = [await chats.user(bot), await chats.user(bot)]
    const { id } = await prepare()
    await expect(list(ada, id)).rejects.toMatchObject(forbidden)
    await send(ada, id)
    await expect(send(eve, id)).rejects.toMatchObject(forbidden)
    await expect(chats.chat.getConversation(eve, id)).rejects.toMatchObject(forbidden)
    expect(await list(ada, id)).toHaveLength(1)
    expect(await chats.conversations.get(bot.actor, id)).toMatchObject({
      owner_user_id: ada.userKeyId,
      claimable: 0,
      message_count: 1,
    })
  })

  it('makes the first user who opens it the owner of a prepared conversation', async () => {
    const [ada, eve] = [await chats.user(bot), await chats.user(bot)]
    const { id } = await prepare()
    expect(await chats.chat.getConversation(ada, id)).toMatchObject({
      owner_user_id: ada.userKeyId,
    })
    await expect(chats.chat.getConversation(eve, id)).rejects.toMatchObject(forbidden)
    await send(ada, id)
  })

  it('has exactly one new owner when many users open a prepared conversation at once', async () => {
    const users = await Promise.all(Array.from({ length: 8 }, () => chats.user(bot)))
    for (let round = 0; round < 5; round++) {
      const { id } = await prepare()
      const attempts = users.map((user, at) => {
        const process = at % 2 ? chats : others
        return at % 4 < 2 ? process.chat.getConversation(user, id) : send(user, id, 'mine', process)
      })
      const outcomes = await Promise.allSettled(attempts)
      const won = users.filter((_, at) => outcomes[at]?.status === 'fulfilled')
      expect(won).toHaveLength(1)
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(forbidden)
      }
      expect(await chats.conversations.get(bot.actor, id)).toMatchObject({
        owner_user_id: won[0]?.userKeyId,
      })
    }
  })

  it('lets concurrent requests of one user succeed', async () => {
    const ada = await chats.user(bot)
    const { id } = await prepare()
    const attempts = Array.from({ length: 6 }, (_, at) =>
      send(ada, id, 'mine', at % 2 ? chats : others),
    )
    await Promise.all(attempts)
    expect(await list(ada, id)).toHaveLength(6)
  })

  it('orders messages of 64 concurrent senders without gaps and ties', async () => {
    const ada = await chats.user(bot)
    const { id } = await open(ada)
    const sent = await Promise.all(
      Array.from({ length: 64 }, (_, at) => send(ada, id, `number ${at}`, at % 2 ? chats : others)),
    )
    const stored = await chats.db
      .selectFrom('messages')
      .select(['id', 'sequence', 'created_at'])
      .where('conversation_id', '=', id)
      .orderBy('sequence')
      .execute()
    expect(stored.map(({ sequence }) => sequence)).toEqual(sent.map((_, at) => at + 1))
    expect(new Set(stored.map(({ created_at }) => created_at)).size).toBe(64)
    expect(stored.map(({ created_at }) => created_at)).toEqual(
      stored.map(({ created_at }) => created_at).toSorted(),
    )
    expect(sent.map((message) => message.id).toSorted()).toEqual(
      stored.map((message) => message.id).toSorted(),
    )
    expect(await chats.conversations.get(bot.actor, id)).toMatchObject({ message_count: 64 })
    const events = await readEvents(chats.db, id, 0, 100)
    expect(events.map(({ sequence, subjectId }) => [sequence, subjectId])).toEqual(
      stored.map((message) => [message.sequence, message.id]),
    )
  })

  it('lists a long conversation newest first, 50 at a time', async () => {
    const ada = await chats.user(bot, 'talker')
    const { id } = await open(ada, 'long')
    const said: string[] = []
    for (let count = 0; count < 51; count++) said.unshift((await send(ada, id, `${count}`)).id)
    const first = await chats.chat.listMessages(ada, id, {})
    const rest = await chats.chat.listMessages(ada, 'long', { nextToken: first.nextToken })
    expect(first.rows).toHaveLength(50)
    expect([...first.rows, ...rest.rows].map((message) => message.id)).toEqual(said)
    expect(rest.nextToken).toBeUndefined()
    expect(rest.rows[0]).toMatchObject({ userId: 'talker', conversationId: 'long' })

    const other = await open(ada)
    await expect(
      chats.chat.listMessages(ada, other.id, { nextToken: first.nextToken }),
    ).rejects.toThrow('page token')
  })

  it('shows messages of the bot under its id, with the types that clients need', async () => {
    const ada = await chats.user(bot)
    const { id } = await open(ada)
    const { botId } = bot.actor
    const member = { botId, userId: (await chats.chat.getUser(ada)).id }
    const profile = await chats.messages.profileOf(botId)
    await chats.run(async (tx) => {
      const slot = await chats.conversations.takeSlotOfParticipant(
        tx,
        member,
        id,
        chats.clock.now(),
      )
      if (slot === undefined) throw new Error('Ada takes part')
      await chats.messages.append(
        tx,
        slot,
        {
          botId,
          userId: botId,
          direction: 'outgoing',
          type: 'carousel',
          payload: JSON.stringify({ items: [{ title: 'Tea', actions: [] }] }),
        },
        profile,
      )
    })
    expect(await list(ada, id)).toMatchObject([
      {
        userId: botId,
        content: { payload: { type: 'carousel', items: [{ type: 'card', title: 'Tea' }] } },
      },
    ])
  })

  it('notifies the followers of the conversation after the message is stored', async () => {
    const ada = await chats.user(bot)
    const { id } = await open(ada)
    const heard: unknown[] = []
    const stop = chats.bus.subscribe(
      { topic: 'events', key: id },
      { onHint: (hint) => heard.push(hint), onGap: () => undefined },
    )
    await send(ada, id)
    await send(ada, id)
    await Promise.resolve()
    stop()
    expect(heard).toEqual([
      { topic: 'events', key: id, seq: 1 },
      { topic: 'events', key: id, seq: 2 },
    ])
  })

  it('refuses messages of a user whom another process deleted', async () => {
    const ada = await chats.user(bot, 'leaver')
    const { id } = await open(ada)
    await send(ada, id)
    const { id: userId } = await chats.chat.getUser(ada)
    await others.run(async (tx) => {
      await tx.deleteFrom('participants').where('user_id', '=', userId).execute()
      await tx.deleteFrom('users').where('id', '=', userId).execute()
    })
    await expect(send(ada, id)).rejects.toMatchObject(forbidden)

    const again = await others.user(bot, 'leaver')
    const { id: second } = await open(again)
    expect(await send(ada, second)).toMatchObject({ userId: 'leaver' })
  })
})
