import { SignJWT } from 'jose'
import { beforeAll, expect, it, vi } from 'vitest'
import { asIntegration, type Chats, createChats, type TestBot, text } from '../../../test/chats.js'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import { MemorySink } from '../../../test/listening/memory-sink.js'
import type { ChatUserActor } from '../../domain/actor.js'
import { createLocalBus } from '../../platform/bus/local.js'
import { createLog } from '../../platform/telemetry/log.js'

const revoked = { type: 'Unauthorized', message: expect.stringContaining('revoked') }
const banned = { type: 'Forbidden', message: expect.stringContaining('banned') }
const absent = { type: 'ResourceNotFound' }

describeEachEngine('keys of chat users', (engine) => {
  const database = useDatabase(engine)
  let chats: Chats
  /** Another process on the same database. */
  let others: Chats
  let bot: TestBot

  beforeAll(async () => {
    const bus = createLocalBus(await createLog({ level: 'silent' }))
    chats = await createChats(database(), { bus })
    others = await createChats(database(), { bus })
    bot = await chats.bot()
  })

  const nativeId = async (actor: ChatUserActor) => (await chats.chat.getUser(actor)).id
  const comeBack = (actor: ChatUserActor, process = chats) =>
    process.chat.getOrCreateUser(actor, {})

  /** A user in a conversation who listens in both processes. */
  async function talker(id?: string) {
    const actor = await chats.user(bot, id)
    const conversation = (await chats.chat.createConversation(actor, {}, undefined)).id
    const sinks = [new MemorySink(), new MemorySink()] as const
    const [here, there] = sinks
    ;(await chats.chat.listen(actor, conversation, undefined))(here)
    ;(await others.chat.listen(actor, conversation, undefined))(there)
    const say = (process = chats) =>
      process.chat.createMessage(
        actor,
        { conversationId: conversation, payload: text('hi') },
        undefined,
      )
    // Both processes have cached the key, and both notify both listeners.
    await say()
    await say(others)
    for (const sink of sinks) await vi.waitFor(() => expect(sink.heard).toHaveLength(2))
    const ended = () =>
      vi.waitFor(() => expect(sinks.map((sink) => sink.ended)).toEqual(['end', 'end']))
    return { actor, conversation, say, ended, id: await nativeId(actor) }
  }

  it('are refused by all processes after they were revoked, and their streams end', async () => {
    const { actor, conversation, say, ended, id } = await talker()
    const bystander = await talker()
    await others.users.revokeKeys(bot.actor, id)
    await ended()
    for (const process of [chats, others]) {
      await expect(say(process)).rejects.toMatchObject(revoked)
      await expect(process.chat.getUser(actor)).rejects.toMatchObject(revoked)
      await expect(comeBack(actor, process)).rejects.toMatchObject(revoked)
      await expect(process.chat.listMessages(actor, conversation, {})).rejects.toMatchObject(
        revoked,
      )
      await expect(process.chat.listen(actor, conversation, undefined)).rejects.toMatchObject(
        revoked,
      )
    }
    await expect(bystander.say()).resolves.toMatchObject({ userId: bystander.id })
  })

  it('that an app signs are valid again when they are newer, but not without an issue time', async () => {
    const own = await chats.bot({ encryptionKey: 'four' })
    const holder = async (iat: number | undefined) => {
      const claims = { id: 'ada', ...(iat !== undefined && { iat }) }
      const key = new SignJWT(claims).setProtectedHeader({ alg: 'HS256' })
      return await chats.holderOf(own.webhookId, await key.sign(Buffer.from('four')))
    }
    const now = chats.clock.now() / 1000
    const [timeless, old] = [await holder(undefined), await holder(now - 10)]
    const { id } = await comeBack(timeless)
    expect(await comeBack(old)).toMatchObject({ id })
    await chats.users.revokeKeys(own.actor, id)
    for (const actor of [timeless, old]) {
      await expect(comeBack(actor)).rejects.toMatchObject(revoked)
    }
    const later = chats.clock.now() / 1000 + 30
    expect(await comeBack(await holder(later))).toMatchObject({ id })
  })

  it('do not restore a deleted user, and are refused for the next user of its id', async () => {
    const { actor, ended } = await talker('ada')
    const native = await nativeId(actor)
    await chats.chat.deleteUser(actor)
    await ended()
    const byNativeId: ChatUserActor = { ...actor, userKeyId: native }
    for (const process of [chats, others]) {
      await expect(process.chat.getUser(actor)).rejects.toMatchObject(absent)
      await expect(comeBack(actor, process)).rejects.toMatchObject(revoked)
      await expect(comeBack(byNativeId, process)).rejects.toMatchObject(revoked)
    }
    const next = await chats.user(bot, 'ada')
    expect(await nativeId(next)).not.toBe(native)
    await expect(chats.chat.getUser(actor)).rejects.toMatchObject(revoked)
    await expect(comeBack(actor)).rejects.toMatchObject(revoked)
    expect(await comeBack(next)).toMatchObject({ foreign_id: 'ada' })
  })

  it('end when the bot deletes their user', async () => {
    const { actor, ended, id } = await talker()
    await others.users.removeById(bot.actor, id)
    await ended()
    await expect(comeBack(actor)).rejects.toMatchObject(revoked)
  })

  it('of a banned user are refused until the ban is lifted', async () => {
    const { actor, say, ended, id } = await talker('eve')
    await others.users.setBan(bot.actor, id, true)
    await ended()
    expect(await chats.users.get(bot.actor, id)).toMatchObject({ banned: 1 })
    for (const process of [chats, others]) {
      await expect(say(process)).rejects.toMatchObject(banned)
      await expect(comeBack(actor, process)).rejects.toMatchObject(banned)
    }
    await chats.users.setBan(bot.actor, id, false)
    await expect(say()).resolves.toMatchObject({ userId: 'eve' })
  })

  it('are not issued for the id of a banned user who was deleted', async () => {
    const actor = await chats.user(bot, 'mallory')
    const id = await nativeId(actor)
    await chats.users.setBan(bot.actor, id, true)
    await chats.users.removeById(bot.actor, id)
    await expect(chats.user(bot, 'mallory')).rejects.toMatchObject(banned)
    await expect(comeBack(actor)).rejects.toMatchObject(banned)
    await chats.users.setBan(bot.actor, id, false)
    await expect(comeBack(actor)).rejects.toMatchObject(revoked)
    expect(await comeBack(await chats.user(bot, 'mallory'))).toMatchObject({ banned: 0 })
  })

  it('of a user who took the id of a deleted one are refused only when its own native id is banned', async () => {
    const former = await nativeId(await chats.user(bot, 'trudy'))
    await chats.users.removeById(bot.actor, former)
    const { say, id } = await talker('trudy')
    for (const isBanned of [true, false]) {
      const byForeignId = chats.users.setBan(bot.actor, 'trudy', isBanned)
      await expect(byForeignId).rejects.toMatchObject(absent)
    }
    await chats.users.setBan(bot.actor, former, true)
    await expect(say()).resolves.toMatchObject({ userId: 'trudy' })
    await chats.users.setBan(bot.actor, id, true)
    await expect(say()).rejects.toMatchObject(banned)
  })

  it('can only be revoked by the bot and by the integration of the user', async () => {
    const { say, id } = await talker()
    const strangers = [asIntegration(bot.actor, 'mail'), (await chats.bot()).actor]
    for (const stranger of strangers) {
      await expect(chats.users.revokeKeys(stranger, id)).rejects.toMatchObject(absent)
      await expect(chats.users.setBan(stranger, id, true)).rejects.toMatchObject(absent)
    }
    const itself = { type: 'ReferenceConstraint' }
    await expect(chats.users.revokeKeys(bot.actor, bot.actor.botId)).rejects.toMatchObject(itself)
    await expect(chats.users.setBan(bot.actor, bot.actor.botId, true)).rejects.toMatchObject(itself)
    await expect(say()).resolves.toMatchObject({ userId: id })
    await chats.users.revokeKeys(asIntegration(bot.actor, 'chat'), id)
    await expect(say()).rejects.toMatchObject(revoked)
  })
})
