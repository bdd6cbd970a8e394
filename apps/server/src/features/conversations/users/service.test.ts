import { beforeAll, expect, it } from 'vitest'
import { type Chats, createChats, type TestBot } from '../../../../test/chats.js'
import { describeEachEngine, useDatabase } from '../../../../test/engines.js'

describeEachEngine('users', (engine) => {
  const database = useDatabase(engine)
  let chats: Chats
  let bot: TestBot
  let origin: { botId: string; alias: string }

  beforeAll(async () => {
    chats = await createChats(database())
    bot = await chats.bot()
    origin = { botId: bot.actor.botId, alias: 'chat' }
  })

  const insert = (id?: string, of = origin) =>
    chats.run(async (tx) => {
      const user = chats.users.draft(of, id, {})
      await chats.users.insert(tx, user)
      return user
    })

  it('are found by both of their ids', async () => {
    const user = await insert('both')
    expect(await chats.users.find(chats.db, origin.botId, 'both')).toEqual(user)
    expect(await chats.users.find(chats.db, origin.botId, user.id)).toEqual(user)
  })

  it('of one bot are unknown in every other', async () => {
    const user = await insert('here')
    const other = await chats.bot()
    expect(await chats.users.find(chats.db, other.actor.botId, 'here')).toBeUndefined()
    expect(await chats.users.find(chats.db, other.actor.botId, user.id)).toBeUndefined()
    await insert('here', { ...origin, botId: other.actor.botId })
  })

  it('have a unique chosen id within a bot', async () => {
    await insert('once')
    await expect(insert('once')).rejects.toMatchObject({ type: 'AlreadyExists' })
  })

  it('cannot choose the native id of another user or of the bot', async () => {
    const victim = await insert()
    const taken = { type: 'AlreadyExists' }
    await expect(insert(victim.id)).rejects.toMatchObject(taken)
    await expect(insert(origin.botId)).rejects.toMatchObject(taken)
    await expect(
      chats.users.getOrCreate(origin, origin.botId, {}, undefined),
    ).rejects.toMatchObject({
      type: 'InvalidPayload',
    })
  })

  it('are created once by concurrent calls', async () => {
    const others = await createChats(database())
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        (at % 2 ? chats : others).users.getOrCreate(
          origin,
          'parallel',
          { name: `Name ${at}` },
          undefined,
        ),
      ),
    )
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
  })

  it('keep members that a repeated get-or-create leaves out', async () => {
    const first = await chats.users.getOrCreate(
      origin,
      'merged',
      { name: 'Ada', profile: 'p' },
      undefined,
    )
    const second = await chats.users.getOrCreate(
      origin,
      'merged',
      { pictureUrl: 'u', name: '' },
      undefined,
    )
    expect(second).toMatchObject({ id: first.id, name: '', profile: 'p', picture_url: 'u' })
    expect(await chats.users.getOrCreate(origin, first.id, {}, undefined)).toEqual(second)
  })

  it.each(['a'.repeat(71), 'white space', 'ümlaut', 'a.b'])(
    'cannot be created under the invalid id %j',
    async (id) => {
      await expect(chats.users.getOrCreate(origin, id, {}, undefined)).rejects.toMatchObject({
        type: 'InvalidPayload',
      })
    },
  )

  it('can be created under an id of 70 of the allowed characters', async () => {
    const id = 'aZ09_-/\\'.padEnd(70, 'x')
    expect(await chats.users.getOrCreate(origin, id, {}, undefined)).toMatchObject({
      foreign_id: id,
    })
  })

  it('are shown under their chosen ids where they have one', async () => {
    const named = await insert('shown')
    const nameless = await insert()
    const ids = [named.id, nameless.id, origin.botId, named.id]
    expect(await chats.users.publicIds(origin.botId, ids)).toEqual(
      new Map([
        [named.id, 'shown'],
        [nameless.id, nameless.id],
        [origin.botId, origin.botId],
      ]),
    )
  })

  it('of a deleted bot are deleted, those of other bots stay', async () => {
    const [gone, kept] = [await chats.bot(), await chats.bot()]
    const [leaver, stayer] = [await chats.user(gone, 'same'), await chats.user(kept, 'same')]
    await chats.users.purge(gone.actor.botId)
    await expect(chats.chat.getUser(leaver)).rejects.toMatchObject({ type: 'ResourceNotFound' })
    expect(await chats.chat.getUser(stayer)).toMatchObject({ foreign_id: 'same' })
  })
})
