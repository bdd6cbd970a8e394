import { expect } from 'vitest'
import { existingClient } from '../existing-clients.js'
import type { TestServer } from '../harness.js'
import { bundleProgram } from '../hosted-code.js'
import { eventually } from '../jobs.js'
import { registered } from '../remote/integration.js'

/** The key that callers of the depot's webhook must send. */
const apiKey = 'open sesame'
const hour = 3_600_000

const object = (properties: object) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})
const string = { type: 'string' }
const number = { type: 'number' }

export type Shop = Awaited<ReturnType<typeof deployShop>>

/**
 * A bot and an integration that are deployed as code, with a plugin and an interface between them, as in
 * `programs`.
 * @param sdk the package of their SDK: `@botpress/sdk` or `sdk7`
 */
export async function deployShop(server: TestServer, sdk: string) {
  const admin = existingClient(server, { headers: { 'x-multiple-integrations': 'true' } })
  const suffix = sdk === 'sdk7' ? 'seven' : 'five'
  const courier = await admin.createInterface({
    name: `courier-${suffix}`,
    version: '1.0.0',
    public: true,
    entities: { parcel: { schema: object({ name: string }) } },
    actions: {
      send: {
        input: { schema: object({ parcel: string }) },
        output: { schema: object({ number: string }) },
      },
    },
    events: { delivered: { schema: object({ number: string }) } },
  })
  const { integration } = await admin.createIntegration({
    name: `depot-${suffix}`,
    version: '1.0.0',
    code: await bundleProgram('depot', sdk),
    secrets: { API_KEY: apiKey },
    configuration: { schema: object({ city: string }) },
    user: { tags: { number: {} } },
    channels: {
      counter: {
        messages: { text: { schema: object({ text: string }) } },
        conversation: { tags: { number: {} } },
        message: { tags: { receipt: {} } },
      },
    },
    states: {
      account: { type: 'integration', schema: object({ city: string, webhookUrl: string }) },
      visits: { type: 'user', schema: object({ count: number }) },
    },
    events: { arrived: { schema: object({ number: string }) } },
    entities: { parcel: { schema: object({ name: string }) } },
    actions: {
      price: {
        cacheable: true,
        input: { schema: object({ item: string }) },
        output: { schema: object({ price: number }) },
      },
      refuse: { input: { schema: {} }, output: { schema: {} } },
      dispatch: {
        input: { schema: object({ parcel: string }) },
        output: { schema: object({ number: string }) },
      },
    },
    interfaces: {
      'courier<parcel>': {
        id: courier.interface.id,
        entities: { parcel: { name: 'parcel' } },
        actions: { send: { name: 'dispatch' } },
        events: { delivered: { name: 'arrived' } },
        channels: {},
      },
    },
  })
  const { plugin } = await admin.createPlugin({
    name: `tracking-${suffix}`,
    version: '1.0.0',
    code: { node: 'module.exports = {}', browser: '' },
    configuration: { schema: object({ greeting: string }) },
    dependencies: {
      interfaces: { courier: { name: courier.interface.name, version: '>=1.0.0 <2.0.0' } },
    },
    states: {
      parcel: {
        type: 'conversation',
        schema: object({ parcel: string }),
        expiry: 2 * hour,
      },
      total: { type: 'bot', schema: object({ count: number }) },
    },
    events: { followed: { schema: object({ number: string }) } },
    actions: {
      where: {
        input: { schema: object({ number: string }) },
        output: { schema: object({ parcel: string, number: string }) },
      },
    },
    user: { tags: { customer: {} } },
    conversation: { tags: { number: {} } },
    message: { tags: { number: {} } },
  })
  const { bot } = await admin.createBot({ name: 'Shop' })
  await admin.updateBot({
    id: bot.id,
    code: await bundleProgram('shop-bot', sdk),
    secrets: { SHOP_KEY: 'tea for two' },
    states: {
      note: { type: 'conversation', schema: object({ text: string }), expiry: hour },
      visits: { type: 'user', schema: object({ count: number }) },
      latest: { type: 'bot', schema: object({ text: string }) },
      days: { type: 'bot', schema: { type: 'object' } },
    },
    events: {
      reminder: { schema: object({ text: string }) },
      opened: { schema: object({ shop: string }) },
    },
    recurringEvents: {
      opening: {
        schedule: { cron: '0 6 * * *' },
        type: 'opened',
        payload: { shop: 'corner' },
      },
    },
    actions: {
      greet: {
        input: { schema: object({ name: string }) },
        output: { schema: object({ text: string }) },
      },
    },
    integrations: {
      depot: {
        integrationId: integration.id,
        enabled: true,
        configuration: { city: 'Bern' },
      },
    },
    plugins: {
      track: {
        id: plugin.id,
        enabled: true,
        configuration: { greeting: 'Done' },
        interfaces: {
          courier: {
            integrationId: integration.id,
            integrationAlias: 'depot',
            integrationInterfaceAlias: 'courier<parcel>',
          },
        },
        integrations: {},
      },
    },
  })
  const installed = await registered(admin, bot.id, 'depot')
  expect(installed).toMatchObject({ status: 'registered' })

  async function post(path: string, body: object, key = apiKey) {
    const address = `/webhooks/${installed?.webhookId}${path}`
    const response = await server.fetch(address, {
      method: 'POST',
      headers: { 'x-api-key': key },
      body: JSON.stringify(body),
    })
    expect(response.status, await response.clone().text()).toBeLessThan(300)
    return await response.json()
  }
  const inBot = existingClient(server, { botId: bot.id })
  return { admin, bot, integration, inBot, post }
}

let customers = 0

export type Customer = ReturnType<typeof newCustomer>

/** A customer of the depot, who writes to the bot through it. */
export function newCustomer({ inBot, post }: Shop) {
  const from = `+${++customers}`
  let conversationId = ''

  async function say(text: string): Promise<{ userId: string; visits: number }> {
    const received = Object(await post('/messages', { from, text }))
    conversationId = received.conversationId
    return received
  }

  /** Waits until the bot has said a text in the conversation. */
  async function sees(text: string): Promise<void> {
    await eventually(async () => {
      const { messages } = await inBot.listMessages({ conversationId })
      const said = messages.filter(({ direction }) => direction === 'outgoing')
      expect(said.map(({ payload }) => payload.text)).toContain(text)
    })
  }

  return {
    say,
    sees,
    async ask(text: string, answer: string): Promise<void> {
      await say(text)
      await sees(answer)
    },
    conversationId: () => conversationId,
  }
}
