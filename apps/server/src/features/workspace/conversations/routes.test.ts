import { beforeAll, describe, expect, it, vi } from 'vitest'
import { describeEachEngine } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { startHttpBot } from '../../../../test/http-bot.js'

describeEachEngine('the conversations of a workspace', (engine) => {
  const server = useServer(engine)
  let admin: ReturnType<ReturnType<typeof server>['client']>

  beforeAll(() => {
    admin = server().client()
  })

  async function makeBot(url?: string) {
    const { bot } = await admin.createBot({ ...(url && { url }) })
    const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
    return { id: bot.id, webhookId, own: server().client({ botId: bot.id }) }
  }

  type Bot = Awaited<ReturnType<typeof makeBot>>

  /** A user with a name writes in a conversation of its own. */
  async function chat({ webhookId }: Bot, name: string, ...texts: string[]) {
    const { key: userKey, user } = await server().client({ webhookId }).chatCreateUser({ name })
    const client = server().client({ webhookId, userKey })
    const { conversation } = await client.chatCreateConversation({})
    const say = async (text: string) =>
      (
        await client.chatCreateMessage({
          conversationId: conversation.id,
          payload: { type: 'text', text },
        })
      ).message
    for (const text of texts) await say(text)
    return { id: conversation.id, userId: user.id, say }
  }

  const idsOf = async (query: Parameters<typeof admin.listWorkspaceConversations>[0]) =>
    (await admin.listWorkspaceConversations(query)).conversations.map(({ id }) => id)

  it('are listed across bots, last active first, with what a list shows', async () => {
    const [one, other] = [await makeBot(), await makeBot()]
    const first = await chat(one, 'Ann', 'Good morning')
    const second = await chat(other, 'Bob', 'Hello there')
    const { message } = { message: await first.say('Where is my order?') }
    const { conversations, meta } = await admin.listWorkspaceConversations({ pageSize: 2 })
    expect(conversations.map(({ id }) => id)).toEqual([first.id, second.id])
    expect(conversations[0]).toMatchObject({
      botId: one.id,
      integration: 'chat',
      messageCount: 2,
      lastActivityAt: message.createdAt,
      lastMessage: {
        id: message.id,
        type: 'text',
        direction: 'incoming',
        author: { id: first.userId, role: 'user', name: 'Ann' },
        text: 'Where is my order?',
      },
      participants: [{ id: first.userId, role: 'user', name: 'Ann' }],
      hasMoreParticipants: false,
      hasFailedDelivery: false,
      hasPendingDelivery: false,
    })
    expect(meta.total).toEqual({ count: expect.any(Number), accuracy: 'exact' })
    expect(await idsOf({ botId: other.id })).toEqual([second.id])
  })

  it('are narrowed by all filters together', async () => {
    const bot = await makeBot()
    const { id: botId, own } = bot
    const create = async (channel: string, tags: Record<string, string>, integration: string) => {
      const wanted = { channel, tags, integrationName: integration }
      return (await own.createConversation(wanted)).conversation.id
    }
    const mail = await create('mail', { topic: 'tea' }, 'post')
    const tea = await create('web', { topic: 'tea', lang: 'en' }, 'chat')
    const milk = await create('web', { topic: 'milk', lang: 'en' }, 'chat')
    const { user } = await own.createUser({ tags: {} })
    await own.addParticipant({ id: tea, userId: user.id })
    await own.addParticipant({ id: mail, userId: user.id })
    expect(await idsOf({ botId })).toEqual([milk, tea, mail])
    expect(await idsOf({ botId, channel: 'web' })).toEqual([milk, tea])
    expect(await idsOf({ botId, integration: 'post' })).toEqual([mail])
    expect(await idsOf({ botId, tags: { topic: 'tea' } })).toEqual([tea, mail])
    expect(await idsOf({ botId, tags: { topic: 'tea', lang: 'en' } })).toEqual([tea])
    expect(await idsOf({ userId: user.id })).toEqual([tea, mail])
    expect(await idsOf({ userId: user.id, channel: 'web' })).toEqual([tea])
    expect(await idsOf({ botId, until: '2020-01-01' })).toEqual([])
    expect(await idsOf({ botId, since: '2020-01-01' })).toEqual([milk, tea, mail])
    expect(await idsOf({ botId, hasFailedDelivery: false })).toEqual([milk, tea, mail])
    expect(await idsOf({ botId, hasFailedDelivery: true })).toEqual([])
  })

  it('say which deliveries failed or wait, and are found by that', async () => {
    const bot = await makeBot((await startHttpBot('refusing')).url)
    const { id: botId } = bot
    const failing = await chat(bot, 'Ann', 'hello')
    const summary = async () =>
      (await admin.listWorkspaceConversations({ botId, hasFailedDelivery: true })).conversations
    await vi.waitFor(async () => expect(await summary()).toHaveLength(1))
    expect((await summary())[0]).toMatchObject({
      id: failing.id,
      hasFailedDelivery: true,
      hasPendingDelivery: false,
    })
    await admin.pauseDeliveries({ id: botId })
    const waiting = await chat(bot, 'Bob', 'hello')
    const { conversations } = await admin.listWorkspaceConversations({
      botId,
      hasFailedDelivery: false,
    })
    expect(conversations).toMatchObject([{ id: waiting.id, hasPendingDelivery: true }])
  })

  it('show at most five participants, and say that there are more', async () => {
    const { id: botId, own } = await makeBot()
    const { conversation } = await own.createConversation({ channel: 'web', tags: {} })
    for (let at = 0; at < 6; at++) {
      const { user } = await own.createUser({ tags: {}, name: `User ${at}` })
      await own.addParticipant({ id: conversation.id, userId: user.id })
    }
    const { conversations } = await admin.listWorkspaceConversations({ botId })
    expect(conversations[0]?.participants.map(({ name }) => name)).toEqual(
      Array.from({ length: 5 }, (_, at) => `User ${at}`),
    )
    expect(conversations[0]?.hasMoreParticipants).toBe(true)
  })

  it('are found by words that were said in them', async () => {
    const bot = await makeBot()
    const first = await chat(bot, 'Ann', 'Where is my Größe 42?', 'Hello?')
    const second = await chat(bot, 'Bob', 'my order is where?')
    const found = async (text: string, of: { id: string } | undefined = bot) => {
      const query = { text, ...(of && { botId: of.id }) }
      const { conversations } = await server().client().listWorkspaceConversations(query)
      return conversations.map(({ id }) => id)
    }
    expect(await found('where')).toEqual([second.id, first.id])
    expect(await found('WHERE order')).toEqual([second.id])
    expect(await found('"where is" groesse')).toEqual([first.id])
    expect(await found('where hello')).toEqual([])
    expect(await found('where', await makeBot())).toEqual([])
    await expect(found('?!')).rejects.toMatchObject({
      type: 'InvalidQuery',
      message: 'query.text must have a letter or a digit.',
    })
  })

  it('are exported as JSON lines, with their messages on request', async () => {
    const bot = await makeBot()
    const first = await chat(bot, 'Ann', 'one', 'two')
    const second = await chat(bot, 'Bob', 'three')
    const exported = async (query: string) => {
      const response = await server().fetch(
        `/v1/admin/conversations/export?botId=${bot.id}${query}`,
        {
          headers: {
            authorization: `Bearer ${server().token}`,
            'x-workspace-id': server().workspaceId,
          },
        },
      )
      expect(response.headers.get('content-type')).toBe('application/x-ndjson')
      const lines = (await response.text()).trimEnd().split('\n')
      return lines.map((line) => JSON.parse(line))
    }
    expect(await exported('')).toMatchObject([
      { kind: 'conversation', conversation: { id: first.id, lastMessage: { text: 'two' } } },
      { kind: 'conversation', conversation: { id: second.id } },
      { kind: 'end', conversations: 2 },
    ])
    expect(await exported(`&messages=true&userId=${first.userId}`)).toMatchObject([
      { kind: 'conversation', conversation: { id: first.id } },
      { kind: 'message', message: { payload: { text: 'one' } } },
      { kind: 'message', message: { payload: { text: 'two' } } },
      { kind: 'end', conversations: 1 },
    ])
  })

  describe('in pages', () => {
    let botId: string
    let expected: string[]

    beforeAll(async () => {
      const bot = await makeBot()
      botId = bot.id
      const made: string[] = []
      for (let at = 0; at < 7; at++) {
        const wanted = { channel: 'web', tags: { number: `${at}` } }
        made.unshift((await bot.own.createConversation(wanted)).conversation.id)
      }
      expected = made
    })

    const page = (query: object) =>
      admin.listWorkspaceConversations({ botId, pageSize: 3, ...query })

    it('go forward and back', async () => {
      const pages: string[][] = []
      let { conversations, meta } = await page({})
      expect(meta.total).toEqual({ count: 7, accuracy: 'exact' })
      for (;;) {
        pages.push(conversations.map(({ id }) => id))
        if (meta.nextToken === undefined) break
        ;({ conversations, meta } = await page({ nextToken: meta.nextToken }))
        expect(meta.total).toBeUndefined()
      }
      expect(pages).toEqual([expected.slice(0, 3), expected.slice(3, 6), expected.slice(6)])
      const back = await page({ previousToken: meta.previousToken })
      expect(back.conversations.map(({ id }) => id)).toEqual(pages[1])
      const again = await page({ nextToken: back.meta.nextToken })
      expect(again.conversations.map(({ id }) => id)).toEqual(pages[2])
      const first = await page({ previousToken: back.meta.previousToken })
      expect(first.conversations.map(({ id }) => id)).toEqual(pages[0])
      // Nothing has become active since, and from there the list goes on with its first page.
      const none = await page({ previousToken: first.meta.previousToken })
      expect(none.conversations).toEqual([])
      const whole = await page({ nextToken: none.meta.nextToken })
      expect(whole.conversations.map(({ id }) => id)).toEqual(pages[0])
    })

    it('begin behind and end before a conversation, inside the filter', async () => {
      const [, second, third, fourth] = expected
      expect(await idsOf({ botId, pageSize: 1, afterId: second })).toEqual([third])
      expect(await idsOf({ botId, pageSize: 1, beforeId: fourth })).toEqual([third])
      const tagged = { botId, tags: { number: '0' }, pageSize: 1 }
      expect(await idsOf({ ...tagged, afterId: second })).toEqual([expected[6]])
      expect(await idsOf({ ...tagged, beforeId: second })).toEqual([])
    })

    it('refuse tokens of other lists, unknown ids and two places at once', async () => {
      const { meta } = await page({})
      const { nextToken, previousToken } = meta
      const refused = { type: 'InvalidQuery' }
      await expect(page({ nextToken, channel: 'web' })).rejects.toMatchObject(refused)
      await expect(page({ nextToken: previousToken })).rejects.toMatchObject(refused)
      await expect(page({ nextToken, previousToken })).rejects.toMatchObject(refused)
      for (const field of ['afterId', 'beforeId', 'botId']) {
        await expect(page({ [field]: 'conv_none' })).rejects.toMatchObject({
          type: 'ReferenceNotFound',
          message: expect.stringContaining(`query.${field}`),
        })
      }
    })
  })
})
