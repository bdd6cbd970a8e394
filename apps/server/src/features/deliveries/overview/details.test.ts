import { createHmac } from 'node:crypto'
import { beforeAll, expect, it, vi } from 'vitest'
import { describeEachEngine } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { useHttpBots } from '../../../../test/http-bot.js'
import { numbers, useNotifiedBots } from '../../../../test/notified-bots.js'
import { installMail } from '../../../../test/remote/integration.js'
import { useRemote } from '../../../../test/remote/server.js'
import { seedTenant } from '../../../../test/tenancy/seed.js'

describeEachEngine('the details of a delivery', (engine) => {
  const server = useServer(engine)
  const bots = useHttpBots()
  const remote = useRemote()
  const { meet, inTime } = useNotifiedBots(server)
  let client: ReturnType<ReturnType<typeof server>['client']>

  beforeAll(() => {
    client = server().client()
  })

  const detailsOf = async (deliveryId: string | undefined) =>
    (await client.getWorkspaceDelivery({ deliveryId: deliveryId ?? '' })).delivery

  it('have the request as the bot got it, byte for byte, and the response', async () => {
    const bot = bots.as()
    const { bot: made, id, open, say, listed } = await meet(bot.url)
    const conversationId = await open()
    await say(conversationId, 'hello')
    await vi.waitFor(async () => expect((await listed())[0]?.status).toBe('delivered'))
    const delivery = await detailsOf((await listed())[0]?.id)
    const [call] = await bot.calls()
    expect(delivery).toMatchObject({
      botId: id,
      status: 'delivered',
      eventType: 'message_created',
      orderKey: conversationId,
      body: call?.body,
    })
    expect(delivery.next).toBeUndefined()
    const [attempt] = delivery.attemptLog
    expect(delivery.attemptLog).toHaveLength(1)
    expect(attempt?.error).toBeUndefined()
    const { request } = attempt ?? {}
    expect(request).toMatchObject({ method: 'POST', url: bot.url, bodyIs: 'sent' })
    for (const [name, value] of Object.entries(request?.headers ?? {})) {
      expect([name, value]).toEqual([
        name,
        name === 'x-bp-configuration' ? '***' : call?.headers[name],
      ])
    }
    expect(Object.keys(request?.headers ?? {})).toEqual(
      expect.arrayContaining(['content-type', 'x-bot-id', 'x-bp-type', 'x-botstead-delivery']),
    )
    const { value = '', signedPrefix = '' } = request?.signature ?? {}
    expect(value).toBe(call?.headers['x-botstead-signature'])
    const mac = createHmac('sha256', made.signingSecret)
    expect(value).toContain(mac.update(`${signedPrefix}${delivery.body}`).digest('hex'))
    expect(attempt?.response).toMatchObject({ status: 200, headers: {} })

    // Nothing proves any more what was sent once no secret is left that signed it.
    await client.rotateBotSigningSecrets({ id })
    expect((await detailsOf(delivery.id)).attemptLog[0]?.request.bodyIs).toBe('sent')
    await client.rotateBotSigningSecrets({ id })
    expect((await detailsOf(delivery.id)).attemptLog[0]?.request.bodyIs).toBe('current')
  })

  it('say what a failed attempt got, and what a pending one waits for', async () => {
    const bot = bots.as('shaky')
    const { id, open, say, listed } = await meet(bot.url)
    await say(await open(), ...numbers(2))
    await vi.waitFor(async () => expect((await listed())[0]?.attempts).toBeGreaterThan(0))
    await vi.waitFor(async () => {
      const delivery = await detailsOf((await listed())[0]?.id)
      expect(delivery.attemptLog[0]).toMatchObject({
        number: 1,
        response: { status: expect.any(Number) },
        error: expect.stringContaining('Status'),
      })
    })
    const second = await detailsOf((await listed())[1]?.id)
    expect(second).toMatchObject({ status: 'pending', attemptLog: [], next: { waitsFor: 'turn' } })
    expect(second.body).toContain('m1')
    await client.pauseDeliveries({ id })
    await vi.waitFor(async () =>
      expect((await detailsOf((await listed())[1]?.id)).next).toEqual({ waitsFor: 'receiver' }),
    )
    await client.resumeDeliveries({ id })
    await inTime(id, async () =>
      expect((await listed()).map(({ status }) => status)).toEqual(['delivered', 'delivered']),
    )
    const { attemptLog } = await detailsOf((await listed())[0]?.id)
    expect(attemptLog.map(({ request }) => request.bodyIs)).toEqual(attemptLog.map(() => 'sent'))
    expect(attemptLog.length).toBeGreaterThan(1)
    // The second message has changed the time of the conversation since, and nothing else.
    const [call] = await bot.calls()
    const [first] = attemptLog
    expect(first?.request.body ?? (await detailsOf((await listed())[0]?.id)).body).toBe(call?.body)
  })

  it('say when the subject has changed since, and when it is gone', async () => {
    const { bot, inBot, inMail } = await installMail(server(), remote())
    const { conversation } = await inMail.createConversation({ channel: 'inbox', tags: {} })
    const { message } = await inBot.createMessage({
      conversationId: conversation.id,
      userId: bot.id,
      type: 'text',
      payload: { text: 'before' },
      tags: {},
    })
    const listed = async () =>
      (await client.listWorkspaceDeliveries({ botId: bot.id, integration: 'mail' })).deliveries[0]
    await vi.waitFor(async () => expect((await listed())?.status).toBe('delivered'))
    const id = (await listed())?.id
    const sent = await detailsOf(id)
    expect(sent.body).toContain('before')
    expect(sent.attemptLog[0]?.request).toMatchObject({ bodyIs: 'sent' })
    expect(sent.attemptLog[0]?.request.headers).toMatchObject({
      'x-integration-alias': 'mail',
      'x-bp-configuration': '***',
    })
    await inBot.updateMessage({ id: message.id, tags: {}, payload: { text: 'after' } })
    const changed = await detailsOf(id)
    expect(changed.body).toContain('after')
    expect(changed.attemptLog[0]?.request.bodyIs).toBe('current')
    await inBot.deleteMessage({ id: message.id })
    const gone = await detailsOf(id)
    expect(gone.body).toBeUndefined()
    expect(gone.attemptLog[0]?.request.bodyIs).toBe('gone')
  })

  it('of another workspace are as unknown as others', async () => {
    const other = await seedTenant(server())
    const { id, open, say, listed } = await meet(bots.as().url)
    await say(await open(), 'hello')
    const deliveryId = (await listed())[0]?.id ?? ''
    expect(id).toBeDefined()
    for (const each of [deliveryId, 'delivery_none']) {
      await expect(other.client.getWorkspaceDelivery({ deliveryId: each })).rejects.toMatchObject({
        type: 'ResourceNotFound',
        message: `There is no delivery ${each} in this workspace.`,
      })
    }
  })
})
