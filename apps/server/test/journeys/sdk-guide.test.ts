import { expect, it, vi } from 'vitest'
import { startBotProcess } from '../bot-processes.js'
import { describeSlow } from '../engines.js'
import { connect, existingClient } from '../existing-clients.js'
import { useServer } from '../harness.js'

const minute = 60 * 1000

const sdks = ['@botpress/sdk', 'sdk7'] as const

describeSlow('the example of the guide to the SDK', (engine) => {
  // One server each: skipped time of one would end the workflows of the next at once.
  const servers = { '@botpress/sdk': useServer(engine), sdk7: useServer(engine) }

  it.each(sdks)('takes orders with %s', async (sdk) => {
    const server = servers[sdk]
    const { url: apiUrl, token } = server()
    await using bot = await startBotProcess(
      server(),
      ['apps/server/test/processes/sdk-order-bot.mjs', sdk],
      /^ready .+\n/m,
      { BP_API_URL: apiUrl, BP_TOKEN: token },
    )
    const [, url = ''] = /^ready (.+)$/m.exec(bot.output()) ?? []
    const { bot: made } = await existingClient(server()).createBot({ name: `Orders ${sdk}`, url })
    const inBot = existingClient(server(), { botId: made.id })
    const webhookId = Object.values(made.integrations)[0]?.webhookId ?? ''
    const ada = await connect(server(), webhookId)
    const { conversation } = await ada.createConversation({})
    const conversationId = conversation.id
    const say = (text: string) =>
      ada.createMessage({ conversationId, payload: { type: 'text', text } })
    const hears = (payload: object) =>
      vi.waitFor(async () => {
        const { messages } = await ada.listMessages({ conversationId })
        expect(messages.map((message) => message.payload)).toContainEqual(
          expect.objectContaining(payload),
        )
      })

    // There is no state yet, which the SDK reports as an error of the call.
    await say('hello')
    await hears({ type: 'choice', options: [{ label: 'Tea', value: 'tea' }, expect.anything()] })
    await say('menu')
    const cards = ['Tea', 'Coffee'].map((title) => expect.objectContaining({ type: 'card', title }))
    await hears({ type: 'carousel', items: cards })
    await say('tea')
    await hears({ text: 'The tea is ready.' })
    await vi.waitFor(async () => {
      const { workflows } = await inBot.listWorkflows({ name: 'brew', conversationId })
      expect(workflows).toMatchObject([{ status: 'completed', output: { drink: 'tea' } }])
    })
    await say('hello again')
    await hears({ text: 'You ordered tea.' })

    await say('remind me')
    await hears({ text: 'I will remind you in ten minutes.' })
    await vi.waitFor(async () => {
      const { events } = await inBot.listEvents({ type: 'reminder', conversationId })
      expect(events).toMatchObject([{ status: 'scheduled' }])
    })
    await server().pass(11 * minute)
    await hears({ text: 'Remember: your cup' })
    await server().pass(61 * minute)
    await hears({ text: 'Your tea got cold.' })
  })
})
