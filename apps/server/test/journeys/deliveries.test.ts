import { createHmac } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { describeSlow } from '../engines.js'
import { useServer } from '../harness.js'
import { startHttpBot, useHttpBots } from '../http-bot.js'
import { eventually } from '../jobs.js'
import { firstTries, numbers, useNotifiedBots } from '../notified-bots.js'

const hour = 60 * 60 * 1000

describeSlow('bots that are notified over HTTP', (engine) => {
  const server = useServer(engine)
  const bots = useHttpBots()
  let admin: ReturnType<ReturnType<typeof server>['client']>

  beforeAll(() => {
    admin = server().client()
  })

  const { meet, inTime, failOften } = useNotifiedBots(server)

  it('get every message of a conversation once, in order, in the format of the platform', async () => {
    const bot = bots.as()
    const { id, open, say, events } = await meet(bot.url)
    const conversationId = await open()
    await say(conversationId, ...numbers(20))
    await eventually(async () => expect(await bot.received()).toHaveLength(20))
    expect(await bot.received()).toEqual(firstTries(numbers(20)))
    const [{ headers, body } = { headers: {}, body: '' }] = await bot.calls()
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-bot-id': id,
      'x-bp-operation': 'event_received',
      'x-bp-type': 'message_created',
      'x-botstead-attempt': '1',
    })
    const given = Buffer.from(headers['x-bp-configuration'] ?? '', 'base64').toString()
    expect(JSON.parse(given)).toEqual({ payload: '{}' })
    expect(JSON.parse(body).event).toMatchObject({
      type: 'message_created',
      conversationId,
      payload: { message: { payload: { text: 'm0' } }, conversation: { id: conversationId } },
    })
    await eventually(async () => {
      expect((await events()).map(({ status }) => status)).toEqual(Array(20).fill('processed'))
    })
  })

  it('get everything of many conversations, each in order and nothing twice', async () => {
    const bot = bots.as()
    const { open, say } = await meet(bot.url)
    const rooms = await Promise.all(numbers(30).map(open))
    await Promise.all(rooms.map((room) => say(room, ...numbers(6))))
    await eventually(async () => expect(await bot.calls()).toHaveLength(180))
    for (const room of rooms) expect(await bot.received(room)).toEqual(firstTries(numbers(6)))
  })

  it('that get an address later receive recent events in order', async () => {
    const bot = bots.as()
    const { id, open, say } = await meet(undefined)
    const [room, other] = [await open(), await open()]
    await say(other, 'long ago')
    await server().pass(2 * hour)
    const own = server().client({ botId: id })
    await say(room, 'm0')
    await own.createEvent({ type: 'greeted', payload: {}, conversationId: room })
    await say(room, 'm1')
    await say(other, 'm2')
    await admin.updateBot({ id, url: bot.url })
    await say(room, 'm3')
    await eventually(async () => expect(await bot.calls()).toHaveLength(5))
    expect((await bot.received(room)).map(({ text }) => text)).toEqual([
      'm0',
      'undefined',
      'm1',
      'm3',
    ])
    expect(await bot.received(other)).toEqual(firstTries(['m2']))
    // The same for one that has lost its address: nothing is sent again.
    await admin.updateBot({ id, url: null })
    await say(room, 'm4')
    await admin.updateBot({ id, url: bot.url })
    await eventually(async () => expect(await bot.calls()).toHaveLength(6))
    expect((await bot.received(room)).at(-1)).toEqual({ text: 'm4', attempt: 1 })
  })

  it('that are slow block their conversation and no other', async () => {
    // The bot responds only when all eight calls have arrived, which never happens if one waits for another.
    const bot = bots.as('gathering')
    const { open, say } = await meet(bot.url)
    const rooms = await Promise.all(numbers(8).map(open))
    await Promise.all(rooms.map((room) => say(room, ...numbers(4))))
    await eventually(async () => expect(await bot.received()).toHaveLength(32))
    for (const room of rooms) expect(await bot.received(room)).toEqual(firstTries(numbers(4)))
    // Each round has one call of each conversation.
    const texts = (await bot.received()).map(({ text }) => text)
    expect(texts).toEqual(numbers(4).flatMap((text) => Array(8).fill(text)))
  })

  it.each(['shaky', 'crashing'] as const)('that are %s get everything in order', async (manner) => {
    const bot = bots.as(manner)
    const { id, open, say, listed } = await meet(bot.url)
    const room = await open()
    await say(room, ...numbers(2))
    const isDone = async () =>
      expect((await listed()).map(({ status }) => status)).toEqual(Array(2).fill('delivered'))
    await inTime(id, isDone)
    const tries = manner === 'shaky' ? [1, 2, 3] : [1, 2]
    expect(await bot.received()).toEqual(
      numbers(2).flatMap((text) => tries.map((attempt) => ({ text, attempt }))),
    )
  })

  it('that refuse are not called again, and the event contains the reason', async () => {
    const bot = bots.as('refusing')
    const { id, open, say, events, listed } = await meet(bot.url)
    await say(await open(), ...numbers(2))
    await eventually(async () => {
      expect((await events()).map(({ status, failureReason }) => [status, failureReason])).toEqual(
        Array(2).fill(['failed', 'Status 400: I do not want this.']),
      )
    })
    expect(await bot.received()).toEqual(firstTries(numbers(2)))
    const [first] = await listed()
    const { delivery } = await admin.getDelivery({ id, deliveryId: first?.id ?? '' })
    expect(delivery.attemptLog).toEqual([
      expect.objectContaining({ number: 1, status: 400, answer: expect.stringContaining('want') }),
    ])
  })

  it.each(['hanging', 'dripping'] as const)(
    'that are %s are aborted after their own time limit, and called again',
    async (manner) => {
      const bot = bots.as(manner)
      const { id, open, say, listed } = await meet(bot.url, { maxExecutionTime: 1 })
      await say(await open(), 'hello')
      await inTime(id, async () => expect((await listed())[0]?.status).toBe('delivered'), 100)
      const tries = [1, 2].map((attempt) => ({ text: 'hello', attempt }))
      expect(await bot.received()).toEqual(tries)
      const { delivery } = await admin.getDelivery({
        id,
        deliveryId: (await listed())[0]?.id ?? '',
      })
      expect(delivery.attemptLog).toMatchObject([{ error: 'No answer within 1000 ms.' }, {}])
    },
  )

  it.each(['garbage', 'endless', 'babbling'] as const)(
    'that return garbage (%s) are judged by their status, and only the beginning is stored',
    async (manner) => {
      const bot = bots.as(manner)
      const { id, open, say, listed } = await meet(bot.url)
      await say(await open(), ...numbers(2))
      await inTime(id, async () =>
        expect((await listed()).map(({ status }) => status)).toEqual(['delivered', 'delivered']),
      )
      const tries = manner === 'babbling' ? [1, 2] : [1]
      expect(await bot.received()).toEqual(
        numbers(2).flatMap((text) => tries.map((attempt) => ({ text, attempt }))),
      )
      const { delivery } = await admin.getDelivery({
        id,
        deliveryId: (await listed())[0]?.id ?? '',
      })
      expect(delivery.attemptLog[0]?.answer?.length).toBeGreaterThan(500)
      expect(delivery.attemptLog[0]?.answer?.length).toBeLessThanOrEqual(4096)
      if (manner === 'babbling') {
        expect(delivery.attemptLog[0]?.error).toMatch(/^Status 500: \ufffd\ufffd x{100}/)
      }
    },
  )

  it('that are down for an hour get everything in order when they are back', async () => {
    const before = await startHttpBot()
    const { id, open, say, listed } = await meet(before.url)
    await before.kill()
    const room = await open()
    await say(room, ...numbers(3))
    await failOften({ id, open, say })
    await server().pass(hour)
    await say(room, 'late')
    const after = await startHttpBot('echo', before.port)
    const isDone = async () =>
      expect((await listed()).map(({ status }) => status)).toEqual(Array(9).fill('delivered'))
    await inTime(id, isDone, 10_000)
    expect((await after.received(room)).map(({ text }) => text)).toEqual([...numbers(3), 'late'])
    expect((await admin.listDeliveryReceivers({ id })).receivers).toEqual([])
  })

  it('are notified at once when they get another address', async () => {
    const { id, open, say } = await meet('http://127.0.0.1:9/')
    const room = await open()
    await say(room, 'hello')
    await failOften({ id, open, say })
    const bot = bots.as()
    await admin.updateBot({ id, url: bot.url })
    await eventually(async () =>
      expect((await bot.received(room)).map(({ text }) => text)).toEqual(['hello']),
    )
  })

  it('can be paused, resumed and sent again by hand, and tested with an event', async () => {
    const bot = bots.as()
    const { id, open, say, listed } = await meet(bot.url)
    const room = await open()
    await admin.pauseDeliveries({ id })
    await say(room, ...numbers(2))
    const tried = await admin.sendTestEvent({ id, type: 'probe', payload: { a: 1 } })
    expect(tried.result).toMatchObject({ delivered: true, status: 200, answer: '{}' })
    expect(await bot.calls()).toHaveLength(1)
    await admin.resumeDeliveries({ id })
    await eventually(async () => {
      expect((await listed()).map(({ status }) => status)).toEqual(['delivered', 'delivered'])
    })
    const [first] = await listed()
    const deliveryId = first?.id ?? ''
    await admin.replayDelivery({ id, deliveryId })
    await eventually(async () => expect(await bot.calls()).toHaveLength(4))
    const texts = (await bot.received()).slice(1)
    expect(texts).toEqual([...firstTries(numbers(2)), { text: 'm0', attempt: 2 }])
    const again = (await bot.calls()).at(-1)
    expect(JSON.parse(again?.body ?? '').event).toMatchObject({
      status: 'pending',
      failureReason: null,
    })
    await expect(admin.getDelivery({ id, deliveryId: 'delivery_none' })).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
    const { deliveries } = await admin.listDeliveries({
      id,
      conversationId: room,
      status: 'failed',
    })
    expect(deliveries).toEqual([])
  })

  it('get all failed deliveries again, with new attempts', async () => {
    const refusing = bots.as('refusing')
    const { id, open, say, listed } = await meet(refusing.url)
    await say(await open(), ...numbers(3))
    await eventually(async () => {
      expect((await listed()).map(({ status }) => status)).toEqual(Array(3).fill('failed'))
    })
    const bot = bots.as()
    await admin.updateBot({ id, url: bot.url })
    const { replayed, nextToken } = await admin.replayFailedDeliveries({ id, limit: 2 })
    expect(replayed).toBe(2)
    expect(await admin.replayFailedDeliveries({ id, nextToken })).toEqual({ replayed: 1 })
    await eventually(async () => expect(await bot.received()).toHaveLength(3))
    expect((await bot.received()).map(({ text }) => text)).toEqual(numbers(3))
  })

  it('get a delivery once when two callers replay it at the same time, and later ones too', async () => {
    const { id, open, say, listed } = await meet(bots.as('refusing').url)
    const rooms = await Promise.all(numbers(4).map(open))
    for (const room of rooms) await say(room, ...numbers(3))
    await eventually(async () => {
      expect((await listed()).map(({ status }) => status)).toEqual(Array(12).fill('failed'))
    })
    const bot = bots.as()
    await admin.updateBot({ id, url: bot.url })
    const answers = await Promise.all(numbers(3).map(() => admin.replayFailedDeliveries({ id })))
    expect(answers.reduce((sum, { replayed }) => sum + replayed, 0)).toBe(12)
    await Promise.all(rooms.map((room) => say(room, 'later')))
    await eventually(async () => expect(await bot.received()).toHaveLength(16))
    for (const room of rooms) {
      expect((await bot.received(room)).map(({ text }) => text)).toEqual([...numbers(3), 'later'])
    }
  })

  it('can verify signatures, also while secrets are rotated', async () => {
    const bot = bots.as()
    const { bot: made, id, open, say } = await meet(bot.url)
    const room = await open()
    const verify = async (text: string, secrets: string[]) => {
      await say(room, text)
      const call = await eventually(async () => {
        const all = await bot.calls()
        const found = all.find(({ body }) => body.includes(`"${text}"`))
        if (!found) throw new Error('There is no call')
        return found
      })
      const [time, ...macs] = (call.headers['x-botstead-signature'] ?? '').split(',')
      const seconds = time?.slice(2)
      const mac = (secret: string) =>
        `v1=${createHmac('sha256', secret).update(`${seconds}.${call.body}`).digest('hex')}`
      expect(macs).toEqual(secrets.map(mac))
    }
    await verify('first', [made.signingSecret])
    const { newSigningSecret } = await admin.rotateBotSigningSecrets({ id })
    await verify('second', [newSigningSecret, made.signingSecret])
    // A second rotation within the day invalidates the oldest secret at once.
    const { newSigningSecret: newest } = await admin.rotateBotSigningSecrets({ id })
    await verify('third', [newest, newSigningSecret])
    await server().pass(24 * hour + 10_000)
    await verify('fourth', [newest])
  })
})
