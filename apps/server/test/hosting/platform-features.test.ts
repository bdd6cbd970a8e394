import { beforeAll, describe, expect, it } from 'vitest'
import { describeSlow } from '../engines.js'
import { useServer } from '../harness.js'
import { eventually } from '../jobs.js'
import { type Customer, deployShop, newCustomer, type Shop } from './shop.js'

const hour = 3_600_000

describeSlow('deployed code', (engine) => {
  // Hours pass here: the programs need not start again after each of them.
  const server = useServer(engine, { BOTSTEAD_HOSTING_IDLE: '30d' })

  describe.each(['@botpress/sdk', 'sdk7'])('of %s', (sdk) => {
    let shop: Shop
    beforeAll(async () => {
      shop = await deployShop(server(), sdk)
    })
    const customer = (): Customer => newCustomer(shop)

    it('has its secrets in its environment', async () => {
      await customer().ask('secret', 'The key is tea for two')
      await expect(shop.post('/messages', {}, 'guessed')).rejects.toThrow('401')
    })

    it('receives messages of an integration, which confirms what it delivers', async () => {
      const { say, ask, conversationId: id } = customer()
      await ask('greet Ann', 'Hello Ann')
      const { userId, visits } = await say('Bye')
      expect(visits).toBe(2)
      const conversationId = id()
      const { conversation } = await shop.inBot.getConversation({ id: conversationId })
      expect(conversation).toMatchObject({ integration: 'depot', channel: 'counter' })
      expect(Object.keys(conversation.tags)).toEqual(['depot:number'])
      const { user } = await shop.inBot.getUser({ id: userId })
      expect(user.tags).toEqual({ 'depot:number': conversation.tags['depot:number'] })
      await eventually(async () => {
        const { messages } = await shop.inBot.listMessages({ conversationId })
        expect(messages.map(({ tags }) => tags)).toContainEqual({
          'depot:receipt': 'sent Hello Ann',
        })
      })
    })

    it('keeps states of conversations, users and bots, which expire', async () => {
      const { ask, sees } = customer()
      await ask('remember milk', 'I remember milk')
      await ask('recall', 'milk 1 milk')
      await server().pass(hour + 1000)
      await sees('I forget milk')
    })

    it('starts, continues and completes workflows', async () => {
      const { ask, conversationId } = customer()
      await ask('order tea', 'tea?')
      const listed = async () => {
        const { workflows } = await shop.inBot.listWorkflows({
          conversationId: conversationId(),
          tags: { drink: 'tea' },
        })
        return workflows
      }
      await eventually(async () => expect(await listed()).toMatchObject([{ status: 'listening' }]))
      await ask('confirm', 'tea!')
      await eventually(async () =>
        expect(await listed()).toMatchObject([
          { status: 'completed', input: { drink: 'tea' }, output: { served: true } },
        ]),
      )
    })

    it('is told of workflows that time out', async () => {
      const { ask, sees, conversationId } = customer()
      await ask('order coffee', 'coffee?')
      const listed = async () => {
        const query = { conversationId: conversationId() }
        return (await shop.inBot.listWorkflows(query)).workflows
      }
      // The program goes on after its question.
      await eventually(async () => expect(await listed()).toMatchObject([{ status: 'listening' }]))
      await server().pass(hour + 1000)
      await sees('No coffee today')
      expect(await listed()).toMatchObject([{ status: 'timedout' }])
    })

    it('calls actions, whose outputs are kept and whose failures have a reason', async () => {
      const { ask } = customer()
      await ask('price lamp', '4 false, 4 true')
      await ask('refuse', 'Runtime: The depot is closed')
    })

    it('receives events of integrations, and its own when they are due', async () => {
      const { ask, say, sees, conversationId } = customer()
      await ask('greet Ben', 'Hello Ben')
      const number = 'Bern-1'
      await shop.post('/arrivals', { conversationId: conversationId(), number })
      await sees('Bern-1 has arrived')
      const own = async () => {
        const query = { conversationId: conversationId() }
        const { events } = await shop.inBot.listEvents(query)
        return events
          .filter(({ type }) => type !== 'message_created')
          .map(({ type, status }) => `${type} ${status}`)
      }
      await say('later lunch')
      // Time that passes before the program has scheduled the event would not make it due.
      await eventually(async () => expect(await own()).toContain('reminder scheduled'))
      await server().pass(600_000)
      await sees('Remember lunch')
      await eventually(async () =>
        expect(await own()).toEqual(['reminder processed', 'depot:arrived processed']),
      )
    })

    it('receives recurring events on their schedule', async () => {
      const { id } = shop.bot
      const days = async () => {
        const key = { type: 'bot', id, name: 'days' } as const
        const { state } = await shop.inBot.getOrSetState({ ...key, payload: { count: 0 } })
        return state.payload
      }
      // Seven o'clock, and nothing of the days that other tests let pass is left to do.
      await server().pass(31 * hour - (server().clock.now() % (24 * hour)))
      await eventually(async () => {
        const { events } = await shop.inBot.listEvents({ type: 'opened' })
        const sixOClock = server().clock.now() - hour
        expect(Date.parse(events[0]?.createdAt ?? '')).toBeGreaterThanOrEqual(sixOClock)
        expect(events.filter(({ status }) => status !== 'processed')).toEqual([])
      })
      const before = Number((await days()).count)
      await server().pass(24 * hour)
      await eventually(async () =>
        expect(await days()).toEqual({ count: before + 1, shop: 'corner' }),
      )
      const { bot } = await shop.admin.getBot({ id })
      expect(bot.recurringEvents.opening).toMatchObject({
        failedAttempts: 0,
        lastFailureReason: null,
      })
    })

    it('has what its plugin declares under its alias, and an integration behind its interface', async () => {
      const { ask, say, sees, conversationId } = customer()
      const { userId } = await say('send lamp')
      await sees('Done, Bern-lamp is on its way')
      await sees('Bern-lamp is followed')
      await ask('where Bern-lamp', 'lamp Bern-lamp')

      const id = conversationId()
      const { inBot } = shop
      const { conversation } = await inBot.getConversation({ id })
      expect(conversation.tags).toMatchObject({ 'track#number': 'Bern-lamp' })
      const { user } = await inBot.getUser({ id: userId })
      expect(user.tags).toMatchObject({ 'track#customer': 'yes' })
      const { messages } = await inBot.listMessages({ conversationId: id })
      const numbered = messages.filter(({ tags }) => tags['track#number'] === 'Bern-lamp')
      expect(numbered.map(({ payload }) => payload.text)).toEqual(['Done, Bern-lamp is on its way'])
      const total = { type: 'bot', id: 'track', name: 'track#total' } as const
      expect((await inBot.getState(total)).state.payload).toEqual({ count: 1 })
      await eventually(async () => {
        const { events } = await inBot.listEvents({ type: 'track#followed' })
        expect(events).toMatchObject([{ conversationId: id, status: 'processed' }])
      })

      await shop.post('/arrivals', { conversationId: id, number: 'Bern-lamp' })
      await sees('Bern-lamp was delivered')
      await sees('Bern-lamp has arrived')
      await server().pass(2 * hour + 1000)
      await sees('lamp is no longer followed')
    })
  })
})
