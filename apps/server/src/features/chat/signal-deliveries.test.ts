import { expect, it } from 'vitest'
import { createChats, text } from '../../../test/chats.js'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import { ManualTime } from '../../../test/manual-time.js'
import { createLocalBus } from '../../platform/bus/local.js'
import { isoTime } from '../../platform/clock.js'
import { trimEvents } from '../../platform/events/trim.js'
import { createLog } from '../../platform/telemetry/log.js'
import { keepWaitingSignals } from '../deliveries/history-store.js'

describeEachEngine('signals for the webhook of a chat', (engine) => {
  const database = useDatabase(engine)

  /**
   * Two processes on one database, and a conversation of a bot whose webhook is set in the first
   * one.
   */
  async function createPair(hintsPass: boolean) {
    const log = await createLog({ level: 'silent' })
    const time = new ManualTime()
    const shared = createLocalBus(log)
    const boot = () =>
      createChats(database(), {
        clock: time,
        timers: time,
        ...(hintsPass && { bus: shared }),
      })
    const [one, two] = [await boot(), await boot()]
    const bot = await one.bot()
    const user = await one.user(bot)
    const { id: conversationId } = await one.chat.createConversation(user, {}, undefined)
    const { botId, workspaceId } = bot.actor
    const say = (chats: typeof one, words: string) =>
      chats.chat.createMessage(user, { conversationId, payload: text(words) }, undefined)
    const workspace = { ...(await one.person()).workspace, workspaceId }
    const configure = async (webhookUrl: string) => {
      const configuration = { webhookUrl }
      await one.bots.update(workspace, botId, { integrations: { chat: { configuration } } })
      await one.forgetBot(botId)
    }
    const places = async () => {
      const rows = await database()
        .db.selectFrom('deliveries')
        .select(['subject_id', 'kind', 'integration', 'position'])
        .where('bot_id', '=', botId)
        .orderBy('position')
        .execute()
      return rows.map(({ subject_id }) => subject_id)
    }
    return { one, two, time, botId, conversationId, say, configure, places }
  }

  it('are enqueued by every process as soon as the webhook is set', async () => {
    const { one, two, conversationId, say, configure, places } = await createPair(true)
    await say(one, 'nobody posts this')
    await say(two, 'nor this')
    await configure('https://app.example.com')
    await say(two, 'posted by the other')
    await say(one, 'posted')
    await configure('')
    await say(two, 'not any more')
    expect(await places()).toEqual([`${conversationId}/3`, `${conversationId}/4`])
  })

  it('are enqueued after some seconds where no hint arrives', async () => {
    const { two, time, conversationId, say, configure, places } = await createPair(false)
    await say(two, 'nobody posts this')
    await configure('https://app.example.com')
    time.advance(5000)
    await say(two, 'posted')
    expect(await places()).toEqual([`${conversationId}/2`])
  })

  it('are built from the log for as long as it contains them', async () => {
    const { one, time, botId, conversationId, say, configure } = await createPair(true)
    await configure('https://app.example.com')
    const message = await say(one, 'hello')
    const signal = await one.describeSignal(botId, `${conversationId}/1`)
    expect(JSON.parse(signal ?? '')).toMatchObject({
      type: 'message_created',
      data: { id: message.id, payload: text('hello'), isBot: false },
    })
    for (const place of [`${conversationId}/2`, `${conversationId}/1/complete`, 'conv_none/1']) {
      expect(await one.describeSignal(botId, place)).toBeUndefined()
    }
    expect(await one.describeSignal('another bot', `${conversationId}/1`)).toBeUndefined()
    time.advance(1000)
    const before = isoTime(time.now())
    const trim = () =>
      database().run((tx) => trimEvents(tx, before, 100, [keepWaitingSignals('chat')]))
    // While a signal is pending, the log of its conversation is kept.
    expect(await trim()).toBe(0)
    expect(await one.describeSignal(botId, `${conversationId}/1`)).toBeDefined()
    const over = { status: 'delivered' as const, next_attempt_at: null }
    await database().run((tx) =>
      tx.updateTable('deliveries').set(over).where('bot_id', '=', botId).execute(),
    )
    expect(await trim()).toBeGreaterThan(0)
    expect(await one.describeSignal(botId, `${conversationId}/1`)).toBeUndefined()
  })
})
