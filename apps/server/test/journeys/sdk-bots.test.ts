import type { Signals } from '@botpress/chat'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type BotProcess, startBotProcess } from '../bot-processes.js'
import { describeSlow } from '../engines.js'
import { connect, existingClient } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { openWebchat, webchatAddress } from '../webchats.js'

const versions = [
  { version: '5.4.3', name: '@botpress/sdk' },
  { version: '7.2.4', name: 'sdk7' },
]
const hour = 60 * 60 * 1000

const eventually = <T>(assertion: () => Promise<T> | T) => vi.waitFor(assertion, { interval: 25 })

describeSlow('bots made with the SDK', (engine) => {
  const server = useServer(engine)

  describe.each(versions)('of version $version', ({ name }) => {
    let process: BotProcess
    let bot: ReturnType<typeof existingClient>
    let botId = ''
    let url = ''
    let webhookId = ''

    beforeAll(async () => {
      const { url: apiUrl, token } = server()
      process = await startBotProcess(
        server(),
        ['apps/server/test/processes/sdk-bot.mjs', name],
        /^ready .+\n/m,
        { BP_API_URL: apiUrl, BP_TOKEN: token },
      )
      url = /^ready (.+)$/m.exec(process.output())?.[1] ?? ''
      const admin = existingClient(server())
      const made = await admin.createBot({ name: `Bot of ${name}`, url })
      botId = made.bot.id
      webhookId = Object.values(made.bot.integrations)[0]?.webhookId ?? ''
      bot = existingClient(server(), { botId })
    })
    afterAll(async () => {
      await process.kill()
    })

    it('greet who opens a web chat, and direct its page', async () => {
      const { init, client, signals, until } = await openWebchat(
        webchatAddress(server(), webhookId),
      )
      const conversationId = init.conversation.id
      await client.updateUser({ userData: { plan: 'pro' } })
      const payload = { type: 'conversation_started' as const, data: {} }
      await client.createEvent({ conversationId, payload })
      await client.createEvent({ conversationId, payload })
      expect(await until('message_created')).toMatchObject({ payload: { text: 'Welcome' } })
      await client.createMessage({ conversationId, payload: { type: 'text', text: 'direct' } })
      await until('custom')
      // Whether the bot accepted a message is told beside the log, in no order with what is in it.
      const inLog = signals().filter((signal) => !JSON.stringify(signal).includes('"processed"'))
      expect(inLog.slice(3)).toEqual([
        { type: 'typing_started', payload: {} },
        { type: 'typing_stopped', payload: {} },
        { type: 'webchat_visibility', payload: { visibility: 'show' } },
        { type: 'webchat_visibility', payload: { visibility: 'hide' } },
        { type: 'webchat_visibility', payload: { visibility: 'toggle' } },
        { type: 'webchat_config', payload: { config: { color: 'red' } } },
        { type: 'custom', payload: { event: { userData: { plan: 'pro' } } } },
      ])
    })

    /** A user in a conversation who receives the messages of the bot. */
    async function talk() {
      const ada = await connect(server(), webhookId)
      const { conversation } = await ada.createConversation({})
      const listener = await ada.listenConversation({ id: conversation.id })
      const heard: Signals['message_created'][] = []
      listener.on('message_created', (message) => {
        if (message.isBot) heard.push(message)
      })
      const send = (text: string, metadata?: Record<string, unknown>) =>
        ada.createMessage({
          conversationId: conversation.id,
          payload: { type: 'text', text },
          ...(metadata !== undefined && { metadata }),
        })
      return { ada, id: conversation.id, listener, heard, send, leave: () => listener.disconnect() }
    }

    /** The event that delivered a message to the bot. */
    const eventOf = async (messageId: string) => (await bot.listEvents({ messageId })).events[0]

    it('are notified when they are deployed', async () => {
      const place = { type: 'bot', id: botId, name: 'registration' } as const
      const times = (expected: number) =>
        eventually(async () => {
          const { state } = await bot.getState(place)
          expect(state.payload).toEqual({ times: expected })
        })
      await times(1)
      await existingClient(server()).updateBot({ id: botId, url })
      await times(2)
    })

    it('reply in order, and their deliveries are processed', async () => {
      const { send, heard, leave } = await talk()
      const { message } = await send('hello')
      await send('one')
      await send('metadata', { trace: ['t1', 2] })
      await send('bloc')
      await eventually(() => expect(heard).toHaveLength(4))
      expect(heard.map(({ payload }) => payload)).toMatchObject([
        { type: 'text', text: 'Hello! Try "story", "bloc" or "metadata".' },
        { type: 'text', text: 'one' },
        { type: 'text', text: 'metadata' },
        { type: 'bloc', items: [{ type: 'text' }, { type: 'image' }, { type: 'location' }] },
      ])
      expect(heard[2]?.metadata).toEqual({ trace: ['t1', 2] })
      await eventually(async () => expect((await eventOf(message.id))?.status).toBe('processed'))
      await leave()
    })

    it('may stop a message in a hook, and refuse it for good with a reason', async () => {
      const { send, heard, leave } = await talk()
      const { message } = await send('refuse')
      await send('after')
      await eventually(() => expect(heard).toHaveLength(1))
      expect(heard[0]?.payload).toEqual({ type: 'text', text: 'after' })
      expect(await eventOf(message.id)).toMatchObject({ status: 'failed' })
      expect((await eventOf(message.id))?.failureReason).toContain('It is closed on Mondays.')
      await leave()
    })

    it('are called again after a temporary failure, which only version 7 distinguishes', async () => {
      const { send, heard, leave } = await talk()
      const { message } = await send('stumble')
      await send('after')
      const repeats = name === 'sdk7'
      const expected = repeats ? ['Up again', 'after'] : ['after']
      await eventually(() => expect(heard).toHaveLength(expected.length))
      expect(heard.map(({ payload }) => 'text' in payload && payload.text)).toEqual(expected)
      expect(await eventOf(message.id)).toMatchObject({ status: repeats ? 'processed' : 'failed' })
      expect(JSON.stringify(await eventOf(message.id))).not.toContain('A detail')
      await leave()
    })

    it('show what they write before it is complete', async () => {
      const { send, heard, listener, leave } = await talk()
      let shown = ''
      // The installed client does not know signals of messages being written, and passes them on.
      listener.on('unknown', (signal) => {
        const { type, data } = JSON.parse(String(signal))
        if (type === 'message_stream_delta') shown += data.delta
      })
      await send('story')
      await eventually(() => expect(heard).toHaveLength(1))
      expect(heard[0]?.payload).toEqual({ type: 'text', text: shown })
      expect(heard[0]?.metadata).toEqual({ streamId: expect.any(String) })
      expect(shown).toMatch(/^A lighthouse keeper .* larger\."$/)
      await leave()
    })

    it('send the events of a page back to it', async () => {
      const { ada, id, listener, leave } = await talk()
      const back: Signals['event_created'][] = []
      listener.on('event_created', (event) => {
        if (event.isBot) back.push(event)
      })
      await ada.createEvent({ conversationId: id, payload: { color: ['red', 1] } })
      await eventually(() => expect(back).toHaveLength(1))
      expect(back[0]).toMatchObject({ id: null, payload: { color: ['red', 1] }, userId: botId })
      await leave()
    })

    it('perform their actions', async () => {
      const anything = { schema: { type: 'object' } }
      const actions = { double: { input: anything, output: anything } }
      await existingClient(server()).updateBot({ id: botId, actions })
      const { output } = await bot.callAction({ type: 'double', input: { number: 21 } })
      expect(output).toEqual({ doubled: 42 })
      await expect(bot.callAction({ type: 'double', input: {} })).rejects.toMatchObject({
        type: 'Runtime',
        message: expect.stringContaining('A number is needed.'),
      })
    })

    it('handle their own events, expired states and workflows', async () => {
      const { id, heard, leave } = await talk()
      await bot.createEvent({
        type: 'reminder',
        payload: { about: 'pump', conversationId: id },
      })
      await eventually(() => expect(heard).toHaveLength(1))
      expect(heard[0]?.payload).toEqual({ type: 'text', text: 'Remember: pump' })

      const { workflow } = await bot.createWorkflow({
        name: 'mend',
        status: 'pending',
        input: { item: 'lamp' },
      })
      await eventually(async () => {
        const { workflow: ended } = await bot.getWorkflow({ id: workflow.id })
        expect(ended).toMatchObject({ status: 'completed', output: { mended: 'lamp' } })
      })

      const place = { type: 'conversation' as const, id, name: 'order' }
      await bot.setState({ ...place, payload: { item: 'pump' }, expiry: hour })
      await server().pass(hour + 1000)
      await expect(bot.getState(place)).rejects.toMatchObject({ type: 'ResourceNotFound' })
      await eventually(() => expect(heard).toHaveLength(2))
      expect(heard[1]?.payload).toEqual({ type: 'text', text: 'Gone: pump' })
      await leave()
    })
  })
})
