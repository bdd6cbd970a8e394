import { expect } from 'vitest'
import type { useServer } from './harness.js'
import { eventually } from './jobs.js'

/** Texts that count up. */
export const numbers = (count: number, name = 'm') =>
  Array.from({ length: count }, (_, i) => `${name}${i}`)

/** Received messages, each at the first attempt. */
export const firstTries = (texts: string[]) => texts.map((text) => ({ text, attempt: 1 }))

/** Bots with chat users who write to them, and their deliveries. */
export function useNotifiedBots(server: ReturnType<typeof useServer>) {
  async function meet(url: string | undefined, more: object = {}) {
    const { bot } = await server()
      .client()
      .createBot({ ...(url && { url }), ...more })
    const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
    const { key: userKey } = await server().client({ webhookId }).chatCreateUser({})
    const chat = server().client({ webhookId, userKey })
    const open = async () => (await chat.chatCreateConversation({})).conversation.id
    const say = async (conversationId: string, ...texts: string[]) => {
      for (const text of texts) {
        await chat.chatCreateMessage({ conversationId, payload: { type: 'text', text } })
      }
    }
    const events = () =>
      server()
        .client({ botId: bot.id })
        .listEvents({ type: 'message_created', pageSize: 100 })
        .then((page) => page.events.toReversed())
    const listed = async () =>
      (
        await server().client().listDeliveries({ id: bot.id, pageSize: 100 })
      ).deliveries.toReversed()
    return { bot, id: bot.id, open, say, events, listed }
  }

  /**
   * Moves time until the assertion holds. An update of the bot, even without a change, makes the
   * server look for due deliveries, without waiting for the timer of a pause.
   */
  const inTime = <T>(id: string, assertion: () => Promise<T>, step = 1000) =>
    eventually(async () => {
      try {
        return await assertion()
      } catch (error) {
        await server().pass(step)
        await server().client().updateBot({ id })
        throw error
      }
    })

  /** Writes to a bot that is gone until its deliveries are paused. */
  async function failOften({
    id,
    open,
    say,
  }: Pick<Awaited<ReturnType<typeof meet>>, 'id' | 'open' | 'say'>) {
    for (const text of numbers(5, 'noise')) await say(await open(), text)
    await inTime(
      id,
      async () => {
        const { receivers } = await server().client().listDeliveryReceivers({ id })
        expect(receivers).toMatchObject([{ paused: 'failures' }])
      },
      120_000,
    )
  }

  return { meet, inTime, failOften }
}
