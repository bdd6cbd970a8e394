import { beforeAll, expect, it, vi } from 'vitest'
import { asIntegration, type Chats, createChats, text } from '../../../../test/chats.js'
import { describeEachEngine, useDatabase } from '../../../../test/engines.js'
import type { BotActor } from '../../../domain/actor.js'

describeEachEngine('conversations', (engine) => {
  const database = useDatabase(engine)
  let chats: Chats

  beforeAll(async () => {
    chats = await createChats(database())
  })

  const create = (
    actor: BotActor,
    input: Partial<Parameters<Chats['conversations']['create']>[1]> = {},
  ) => chats.conversations.create(actor, { channel: 'channel', tags: {}, ...input }, undefined)

  const idsOf = async (
    actor: BotActor,
    query: Parameters<Chats['conversations']['list']>[1] = {},
  ) => (await chats.conversations.list(actor, query)).rows.map(({ id }) => id)

  it('belong to the chat unless another integration is named, which need not be installed', async () => {
    const { actor } = await chats.bot()
    expect(await create(actor)).toMatchObject({ integration: 'chat', claimable: 1 })
    expect(await create(actor, { integrationName: 'fax' })).toMatchObject({
      integration: 'fax',
      claimable: 1,
    })
  })

  it('created by an integration belong to it and cannot be claimed by chat users', async () => {
    const { actor } = await chats.bot()
    const made = await create(asIntegration(actor, 'mail'), { integrationName: 'fax' })
    expect(made).toMatchObject({ integration: 'mail', claimable: 0 })
    expect(await create(asIntegration(actor, 'chat'))).toMatchObject({ claimable: 1 })
  })

  it('of one integration are hidden from another, and all are shown to the bot', async () => {
    const { actor } = await chats.bot()
    const [mail, fax] = [asIntegration(actor, 'mail'), asIntegration(actor, 'fax')]
    const [own, other] = [await create(mail), await create(fax)]
    expect(await idsOf(mail)).toEqual([own.id])
    expect(await idsOf(mail, { integrationName: 'fax' })).toEqual([])
    expect(await idsOf(actor)).toEqual([other.id, own.id])
    await expect(chats.conversations.get(mail, other.id)).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
    expect(await chats.conversations.get(actor, other.id)).toEqual(other)
  })

  it('of one bot are unknown in every other', async () => {
    const [here, there] = [await chats.bot(), await chats.bot()]
    const { id } = await create(here.actor)
    await expect(chats.conversations.get(there.actor, id)).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
    expect(await idsOf(there.actor)).toEqual([])
  })

  it('carry the tags of an integration under its alias', async () => {
    const { actor } = await chats.bot()
    const mail = asIntegration(actor, 'mail')
    const { id } = await create(mail, { tags: { subject: 'hi', empty: '' } })
    await create(actor, { tags: { subject: 'hi' } })
    expect(JSON.parse((await chats.conversations.get(actor, id)).tags)).toEqual({
      'mail:subject': 'hi',
    })
    expect(await idsOf(mail, { tags: { subject: 'hi' } })).toEqual([id])
    expect(await idsOf(actor, { tags: { 'mail:subject': 'hi' } })).toEqual([id])
  })

  it('are listed by channel, tags and integration, all at once', async () => {
    const { actor } = await chats.bot()
    const wanted = await create(actor, {
      channel: 'a',
      integrationName: 'x',
      tags: { one: '1', two: '2' },
    })
    await create(actor, { channel: 'b', integrationName: 'x', tags: { one: '1', two: '2' } })
    await create(actor, { channel: 'a', integrationName: 'y', tags: { one: '1', two: '2' } })
    await create(actor, { channel: 'a', integrationName: 'x', tags: { one: '1', two: '3' } })
    await create(actor, { channel: 'a', integrationName: 'x', tags: { one: '1' } })
    expect(
      await idsOf(actor, { channel: 'a', integrationName: 'x', tags: { one: '1', two: '2' } }),
    ).toEqual([wanted.id])
    expect(await idsOf(actor, { tags: { one: '' } })).toEqual([])
  })

  it('are listed by the users who all take part', async () => {
    const bot = await chats.bot()
    const [ada, bob] = [await chats.user(bot), await chats.user(bot)]
    const [adaId, bobId] = [ada.userKeyId, bob.userKeyId]
    const alone = await chats.chat.createConversation(ada, {}, undefined)
    const shared = await chats.chat.createConversation(ada, {}, undefined)
    await chats.run((tx) =>
      tx
        .insertInto('participants')
        .values({
          conversation_id: shared.id,
          user_id: bobId,
          bot_id: bot.actor.botId,
          created_at: shared.created_at,
        })
        .execute(),
    )
    expect(await idsOf(bot.actor, { participantIds: [adaId] })).toEqual([shared.id, alone.id])
    expect(await idsOf(bot.actor, { participantIds: [adaId, bobId] })).toEqual([shared.id])
    expect(await idsOf(bot.actor, { participantIds: ['user_unknown'] })).toEqual([])
  })

  it('are listed by number of messages, bounds included', async () => {
    const bot = await chats.bot()
    const ada = await chats.user(bot)
    const ids: string[] = []
    for (const messages of [0, 1, 2]) {
      const { id } = await chats.chat.createConversation(ada, {}, undefined)
      ids.push(id)
      for (let sent = 0; sent < messages; sent++) {
        await chats.chat.createMessage(ada, { conversationId: id, payload: text('x') }, undefined)
      }
    }
    const [none, one, two] = ids
    expect(await idsOf(bot.actor, { minMessageCount: 1 })).toEqual([two, one])
    expect(await idsOf(bot.actor, { maxMessageCount: 1 })).toEqual([one, none])
    expect(await idsOf(bot.actor, { minMessageCount: 1, maxMessageCount: 1 })).toEqual([one])
  })

  it('are listed by creation time, bounds included, in any time zone', async () => {
    const { actor } = await chats.bot()
    const first = await create(actor)
    chats.clock.advance(60_000)
    const second = await create(actor)
    const east = new Date(Date.parse(second.created_at) + 2 * 3_600_000).toISOString()
    expect(await idsOf(actor, { afterDate: second.created_at })).toEqual([second.id])
    expect(await idsOf(actor, { afterDate: east.replace('Z', '+02:00') })).toEqual([second.id])
    expect(await idsOf(actor, { beforeDate: first.created_at })).toEqual([first.id])
    expect(
      await idsOf(actor, { afterDate: first.created_at, beforeDate: second.created_at }),
    ).toEqual([second.id, first.id])
    await expect(idsOf(actor, { afterDate: '2026-12-31T23:59:60Z' })).rejects.toMatchObject({
      type: 'InvalidQuery',
    })
  })

  it('move to the front of the list sorted by time of change when somebody writes', async () => {
    const bot = await chats.bot()
    const ada = await chats.user(bot)
    const first = await chats.chat.createConversation(ada, {}, undefined)
    chats.clock.advance(10)
    const second = await chats.chat.createConversation(ada, {}, undefined)
    chats.clock.advance(10)
    await chats.chat.createMessage(ada, { conversationId: first.id, payload: text('x') }, undefined)
    expect(await idsOf(bot.actor, { sortField: 'updatedAt' })).toEqual([first.id, second.id])
    expect(await idsOf(bot.actor, { sortField: 'updatedAt', sortDirection: 'asc' })).toEqual([
      second.id,
      first.id,
    ])
    expect(await idsOf(bot.actor, { sortField: 'createdAt' })).toEqual([second.id, first.id])
  })

  it('are paged without a gap, and a page token is valid for its own list only', async () => {
    const { actor } = await chats.bot()
    const made: string[] = []
    for (let count = 0; count < 5; count++) made.unshift((await create(actor)).id)
    const seen: string[] = []
    let nextToken: string | undefined
    do {
      const page = await chats.conversations.list(actor, { pageSize: 2, nextToken })
      seen.push(...page.rows.map(({ id }) => id))
      nextToken = page.nextToken
    } while (nextToken !== undefined)
    expect(seen).toEqual(made)

    const first = await chats.conversations.list(actor, { pageSize: 2 })
    const misused = { pageSize: 2, nextToken: first.nextToken, channel: 'other' }
    await expect(chats.conversations.list(actor, misused)).rejects.toThrow('page token')
  })

  it('of a deleted bot are deleted with everything in them, also in a second attempt', async () => {
    const bot = await chats.bot()
    const { botId } = bot.actor
    const ada = await chats.user(bot)
    for (let count = 0; count < 3; count++) {
      const { id } = await chats.chat.createConversation(ada, {}, undefined)
      await chats.chat.createMessage(ada, { conversationId: id, payload: text('x') }, undefined)
      const later = { type: 'text', payload: { text: 'x' }, tags: {}, schedule: { delay: 60_000 } }
      await chats.messages.create(
        bot.actor,
        { ...later, userId: botId, conversationId: id },
        undefined,
      )
    }
    vi.spyOn(chats.conversations.emptying, 'call').mockRejectedValueOnce(new Error('interrupted'))
    await expect(chats.conversations.purge(botId)).rejects.toThrow('interrupted')
    await chats.conversations.purge(botId)
    const tables = ['conversations', 'participants', 'messages', 'scheduled_messages'] as const
    for (const table of tables) {
      const left = await chats.db
        .selectFrom(table)
        .select('bot_id')
        .where('bot_id', '=', botId)
        .execute()
      expect(left, table).toEqual([])
    }
  })
})
