import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type BotProcess, startBotProcess } from '../bot-processes.js'
import { describeSlow } from '../engines.js'
import { existingClient } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { registered } from '../remote/integration.js'

const eventually = <T>(assertion: () => Promise<T> | T) => vi.waitFor(assertion, { interval: 50 })

const text = { type: 'object', required: ['text'], properties: { text: { type: 'string' } } }
const creation = { enabled: true, requiredTags: ['number'] }
const number = { tags: { number: { title: 'Number', description: 'Who calls.' } } }
const definition = {
  configuration: { schema: { type: 'object', required: ['country'] } },
  user: { ...number, creation },
  channels: {
    line: {
      messages: { text: { schema: text } },
      conversation: { ...number, creation },
      message: { tags: { call: {}, saidBy: {} } },
    },
  },
  actions: { shout: { input: { schema: text }, output: { schema: text } } },
  events: { rang: { schema: { type: 'object', required: ['times'] } } },
}

describeSlow('an integration made with the SDK', (engine) => {
  // Both versions, each on one engine: their differences do not concern the database.
  const sdk = engine.name === 'postgres' ? 'sdk7' : '@botpress/sdk'
  const server = useServer(engine)
  const processes: BotProcess[] = []
  let admin: ReturnType<typeof existingClient>
  let bot: typeof admin
  let botId: string
  let configure: (patch: object) => Promise<{ status?: string; statusReason?: string | null }>
  let webhookUrl = ''

  const start = async (script: string, key: string) => {
    const environment = { BP_API_URL: server().url, BP_TOKEN: key }
    const words = [`apps/server/test/processes/${script}.mjs`, sdk]
    const process = await startBotProcess(server(), words, /^ready .+\n/m, environment)
    processes.push(process)
    return /^ready (.+)$/m.exec(process.output())?.[1] ?? ''
  }

  beforeAll(async () => {
    admin = existingClient(server(), { headers: { 'x-multiple-integrations': 'true' } })
    const { integration } = await admin.createIntegration({
      name: 'phone',
      version: '1.0.0',
      ...definition,
    })
    const { id: integrationId } = integration
    botId = (await admin.createBot({})).bot.id
    const [botKey, key] = await Promise.all([
      admin.createBotApiKey({ botId }),
      admin.createIntegrationApiKey({ integrationId }),
    ])
    const [botUrl, url] = await Promise.all([
      start('sdk-bot', botKey.value),
      start('sdk-integration', key.value),
    ])
    await admin.updateIntegration({ id: integrationId, url })
    await admin.updateBot({ id: botId, url: botUrl })
    bot = existingClient(server(), { botId, token: botKey.value })
    configure = async (patch) => {
      const phone = { integrationId, enabled: true, configuration: { country: 'fr' }, ...patch }
      await admin.updateBot({ id: botId, integrations: { phone } })
      const installed = await registered(admin, botId, 'phone')
      webhookUrl = installed?.webhookUrl ?? ''
      return { ...installed }
    }
    expect(await configure({})).toMatchObject({ status: 'registered' })
  })
  afterAll(async () => {
    await Promise.all(processes.map((process) => process.kill()))
  })

  let calls = 0
  /** Simulates a call to the number of the bot. */
  const ring = async (body: object) => {
    const response = await fetch(`${webhookUrl}/calls?${++calls}`, {
      method: 'POST',
      body: JSON.stringify({ number: '42', ...body }),
    })
    return { status: response.status, body: JSON.parse(await response.text()) }
  }
  const said = async (conversationId: string) => {
    const { messages } = await bot.listMessages({ conversationId })
    return messages.toReversed().map(({ payload, tags }) => [payload.text, tags['phone:saidBy']])
  }

  it('receives messages, sends replies and performs actions for the bot', async () => {
    const first = await ring({ payload: { text: 'good day' } })
    expect(first).toMatchObject({ status: 201, body: { country: 'fr' } })
    const { conversationId } = first.body
    await eventually(async () =>
      expect(await said(conversationId)).toEqual([
        ['good day', undefined],
        ['good day', 'bot'],
      ]),
    )
    const again = await ring({ payload: { text: 'shout' } })
    expect(again.body.conversationId).toBe(conversationId)
    await eventually(async () =>
      expect((await said(conversationId)).slice(2)).toEqual([
        ['shout', undefined],
        ['HEY!', 'bot'],
      ]),
    )
    const { data } = await admin.listActionRuns({ id: botId, integrationName: 'phone' })
    expect(data).toMatchObject([{ actionType: 'shout', output: { text: 'HEY!' } }])
    await expect(
      bot.callAction({ type: 'phone:shout', input: { text: '' } }),
    ).rejects.toMatchObject({ type: 'Runtime', message: 'Nothing to shout' })
    expect((await ring({ event: { times: 3 } })).status).toBe(201)
    await eventually(async () =>
      expect((await said(conversationId)).at(-1)).toEqual(['It rang 3 times', 'bot']),
    )
    const { conversation } = await bot.getConversation({ id: conversationId })
    expect(conversation).toMatchObject({ integration: 'phone', tags: { 'phone:number': '42' } })
  })

  it('gets an error for invalid messages', async () => {
    expect(await ring({ payload: { words: 'hello' } })).toEqual({
      status: 422,
      body: {
        type: 'InvalidDataFormat',
        message:
          'body.message.payload.text is required, by the schema of messages of the type text.',
      },
    })
    expect(await ring({ event: {} })).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining('body.payload.times') },
    })
    await expect(
      bot.createMessage({
        conversationId: (await ring({})).body.conversationId,
        userId: botId,
        type: 'image',
        payload: {},
        tags: {},
      }),
    ).rejects.toMatchObject({ type: 'InvalidPayload' })
  })

  it('creates users and conversations for the bot', async () => {
    const place = { tags: { number: '7' }, integrationName: 'phone' }
    const { conversation } = await bot.createConversation({ channel: 'line', ...place })
    expect(conversation.tags).toEqual({ 'phone:number': '7' })
    expect((await bot.createUser(place)).user.tags).toEqual({ 'phone:number': '7' })
    const once = await bot.createConversation({ channel: 'line', ...place })
    expect(once.conversation.id).toBe(conversation.id)
  })

  it('fails to register with its own message, and unregisters', async () => {
    expect(await configure({ configuration: { country: 'none' } })).toMatchObject({
      status: 'registration_failed',
      statusReason: 'There is no such country',
    })
    expect(await configure({})).toMatchObject({ status: 'registered', statusReason: null })
    expect(await configure({ enabled: false })).toMatchObject({ status: 'unregistered' })
    expect((await ring({ payload: { text: 'anybody?' } })).status).toBeGreaterThanOrEqual(400)
  })
})
