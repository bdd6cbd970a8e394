import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { existingClient, makeBot } from '../../../../test/existing-clients.js'
import { useServer } from '../../../../test/harness.js'
import { listenRaw, openRoom } from '../../../../test/listening/raw-stream.js'
import { useRemote } from '../../../../test/remote/server.js'

const count = {
  input: { schema: { type: 'object', properties: { text: { type: 'string' } } } },
  output: { schema: {} },
}

describeSlow('actions', (engine) => {
  const server = useServer(engine)
  const remote = useRemote()

  /** A bot whose server is the remote one, with actions of its own. */
  async function makeActiveBot() {
    const { client, webhookId, admin } = await makeBot(server())
    const { bot } = await admin.createBot({
      url: remote().url,
      actions: { count, 'summary#write': count, price: { ...count, cacheable: true } },
    })
    return { admin, client, webhookId, bot, inBot: existingClient(server(), { botId: bot.id }) }
  }

  it('calls the server of the bot for its own actions, signed like deliveries', async () => {
    const { bot, inBot } = await makeActiveBot()
    remote().behave(({ json }) => ({ body: { output: { length: `${json.input?.text}`.length } } }))
    const response = await inBot.callAction({ type: 'count', input: { text: 'four' } })
    expect(response).toEqual({ output: { length: 4 }, meta: { cached: false } })
    const [request] = remote().requests
    expect(request).toMatchObject({
      json: { type: 'count', input: { text: 'four' } },
      headers: {
        'x-bot-id': bot.id,
        'x-bp-operation': 'action_triggered',
        'x-bp-type': 'action_triggered',
      },
    })
    const [, time, mac] =
      /^t=(\d+),v1=(\w+)$/.exec(request?.headers['x-botstead-signature'] ?? '') ?? []
    const hmac = createHmac('sha256', bot.signingSecret).update(`${time}.${request?.body}`)
    expect(mac).toBe(hmac.digest('hex'))
    await inBot.callAction({ type: 'summary#write', input: {} })
    expect(remote().requests[1]?.json.type).toBe('summary#write')
  })

  it('reuses outputs of cacheable actions, per input, until the bot changes or time passes', async () => {
    const { admin, bot, inBot } = await makeActiveBot()
    let asked = 0
    remote().behave(() => ({ body: { output: { asked: ++asked } } }))
    const call = async (type: string, input: Record<string, unknown>) => {
      const { output, meta } = await inBot.callAction({ type, input })
      return [output.asked, meta.cached]
    }
    expect(await call('price', { a: 1, b: { c: 2, d: 3 } })).toEqual([1, false])
    expect(await call('price', { b: { d: 3, c: 2 }, a: 1 })).toEqual([1, true])
    expect(await call('price', { a: 2 })).toEqual([2, false])
    expect(await call('count', {})).toEqual([3, false])
    expect(await call('count', {})).toEqual([4, false])
    await admin.updateBot({ id: bot.id, name: 'Changed' })
    expect(await call('price', { a: 2 })).toEqual([5, false])
    server().clock.advance(5 * 60_000)
    expect(await call('price', { a: 2 })).toEqual([6, false])
  })

  it('returns the reason why an action failed', async () => {
    const { admin, bot, inBot } = await makeActiveBot()
    const failure = async () => {
      const error = await inBot.callAction({ type: 'count', input: {} }).catch((e: unknown) => e)
      const { type, code, message } = Object(error)
      return { type, code, message }
    }
    const runtime = (message: unknown) => ({ type: 'Runtime', code: 400, message })
    const said = { id: 'err_1', code: 400, type: 'Runtime', message: 'Out of stock' }
    remote().behave(() => ({ status: 400, body: said }))
    expect(await failure()).toEqual(runtime('Out of stock'))
    remote().behave(() => ({ status: 500, body: { error: 'no header' } }))
    expect(await failure()).toEqual(runtime('no header'))
    remote().behave(() => ({ body: 'what?' }))
    expect(await failure()).toEqual(runtime(expect.stringContaining('"output"')))
    remote().behave(() => ({ body: { output: 'x'.repeat(5 * 1024 * 1024) } }))
    expect(await failure()).toEqual(runtime(expect.stringContaining('4194304 bytes')))
    const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    remote().behave(() => ({ body: `{"output":{"a":${nested}}}` }))
    expect(await failure()).toEqual(runtime(expect.stringContaining('"output"')))
    remote().behave(() => ({ body: `{"output":{"a":[${'{},'.repeat(300_000)}{}]}}` }))
    expect(await failure()).toEqual(runtime(expect.stringContaining('"output"')))
    remote().behave(() => ({ status: 400, body: `{"message":{"toString":1},"a":${nested}}` }))
    expect(await failure()).toEqual(runtime(expect.stringContaining('{"message":')))
    remote().behave(() => ({ breaks: true }))
    expect(await failure()).toEqual(runtime(expect.stringContaining('The connection broke')))
    await admin.updateBot({ id: bot.id, maxExecutionTime: 1 })
    remote().behave(() => undefined)
    expect(await failure()).toEqual(runtime('The bot cannot be reached: No answer within 1000 ms.'))
    await admin.updateBot({ id: bot.id, url: null })
    expect(await failure()).toEqual(runtime(expect.stringContaining('no address')))
  })

  it('refuses undeclared actions, and input that does not fit the schema', async () => {
    const { admin, bot, inBot } = await makeActiveBot()
    const failure = async (type: string, input: Record<string, unknown>) =>
      Object(await inBot.callAction({ type, input }).catch((e: unknown) => e))
    for (const type of ['dance', 'gmail:send', 'chat:dance', 'constructor', ':', 'price:count']) {
      expect(await failure(type, {})).toMatchObject({ type: 'ResourceNotFound', code: 404 })
    }
    expect(await failure('count', { text: 7 })).toMatchObject({
      type: 'InvalidDataFormat',
      message: expect.stringContaining('body.input.text must be a string'),
    })
    await admin.updateBot({ id: bot.id, integrations: chatEnabled(bot.integrations, false) })
    expect(await failure('chat:sendEvent', {})).toMatchObject({ type: 'Runtime' })
    expect(remote().requests).toEqual([])
  })

  it('shows a message in the chat while the bot writes it', async () => {
    const { bot, address, conversation } = await openRoom(server())
    const client = existingClient(server(), { botId: bot.id })
    const listener = await listenRaw(address)
    const piece = (sequence: number, delta: string) => ({
      conversationId: conversation.id,
      signal: {
        type: 'delta',
        streamId: 's1',
        sequence,
        delta,
        createdAt: new Date().toISOString(),
      },
    })
    for (const input of [piece(0, 'Hel'), piece(1, 'lo')]) {
      const { output } = await client.callAction({ type: 'chat:publishMessageStream', input })
      expect(output).toEqual({})
    }
    // A listener that joins between two pieces gets the text so far as one piece.
    const text = () => listener.heard.map(({ data }) => data.delta).join('')
    await listener.until(() => text().length >= 5)
    listener.close()
    expect(text()).toBe('Hello')
    const broken = { conversationId: conversation.id, signal: { type: 'delta' } }
    await expect(
      client.callAction({ type: 'chat:publishMessageStream', input: broken }),
    ).rejects.toMatchObject({ type: 'InvalidPayload', code: 400 })
  })

  it('sends events of the bot to the chat, and refuses invalid ones', async () => {
    const { client } = await makeBot(server())
    const { conversation } = await client.createConversation({ channel: 'channel', tags: {} })
    const send = (input: Record<string, unknown>) =>
      client.callAction({ type: 'chat:sendEvent', input })
    const sent = await send({ conversationId: conversation.id, payload: { typing: true } })
    expect(sent).toEqual({ output: {}, meta: { cached: false } })
    for (const [input, type] of [
      [{}, 'InvalidDataFormat'],
      [{ conversationId: 'conv_none', payload: {} }, 'ResourceNotFound'],
      [{ conversationId: conversation.id, payload: [] }, 'InvalidDataFormat'],
    ] as const) {
      await expect(send(input)).rejects.toMatchObject({ type })
    }
  })

  it('cannot be called by integrations', async () => {
    const { bot } = await makeActiveBot()
    const inChat = existingClient(server(), { botId: bot.id, integrationAlias: 'chat' })
    await expect(inChat.callAction({ type: 'count', input: {} })).rejects.toMatchObject({
      type: 'Forbidden',
    })
  })
})

/** The patch that switches the only installation of a bot on or off. */
function chatEnabled(integrations: object, enabled: boolean) {
  return Object.fromEntries(Object.keys(integrations).map((id) => [id, { enabled }]))
}
