import { expect, it, vi } from 'vitest'
import { describeEachEngine } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { installMail } from '../../../../test/remote/integration.js'
import { type RemoteRequest, useRemote } from '../../../../test/remote/server.js'

const creation = { enabled: true, requiredTags: ['thread'] }

describeEachEngine('integrations that declare it', (engine) => {
  const server = useServer(engine)
  const remote = useRemote()
  const install = () => installMail(server(), remote())
  type Mail = Awaited<ReturnType<typeof install>>

  const refusal = async (call: Promise<unknown>) => {
    const { type, message } = Object(await call.then(Object, (error: unknown) => error))
    return `${type}: ${message}`
  }

  /** Makes the integration create the requested object by calling back. */
  const makeWhatIsAsked = ({ inMail }: Mail) =>
    remote().behave(async ({ headers, json }: RemoteRequest) => {
      const { tags, channel } = Object(json)
      const discriminateByTags = Object.keys(tags ?? {})
      switch (headers['x-bp-operation']) {
        case 'create_conversation': {
          const wanted = { channel, tags, discriminateByTags }
          return {
            body: { conversation: (await inMail.getOrCreateConversation(wanted)).conversation },
          }
        }
        case 'create_user':
          return { body: { user: { id: (await inMail.getOrCreateUser({ tags })).user.id } } }
        default:
          return {}
      }
    })

  it('create conversations and users for bots', async () => {
    const mail = await install()
    const { admin, integration, inBot } = mail
    const ask = (tags: Record<string, string>, channel = 'inbox') => ({
      channel,
      tags,
      integrationName: integration.name,
      properties: { mood: 'good' },
    })
    const wanted = ask({ thread: '7', 'mail:subject': 'Pump', empty: '' })
    expect(await refusal(inBot.createConversation(wanted))).toMatch(
      'Forbidden: body.integrationName: mail does not let bots create conversations in the channel inbox',
    )
    await admin.updateIntegration({
      id: integration.id,
      channels: { inbox: { conversation: { creation } } },
      user: { creation: { enabled: true, requiredTags: [] } },
    })
    expect(await refusal(inBot.createConversation(ask({ thread: '' })))).toBe(
      'InvalidPayload: body.tags.thread is required by mail for conversations in the channel inbox.',
    )
    expect(await refusal(inBot.createConversation(ask({ thread: '7' }, 'attic')))).toBe(
      'ReferenceNotFound: body.channel: mail has no channel attic; it has inbox.',
    )
    expect(await refusal(inBot.createConversation(wanted))).toMatch(
      'Runtime: mail did not return {"conversation": {"id": "..."}}',
    )
    expect(remote().requestsOf('create_conversation')).toHaveLength(1)

    makeWhatIsAsked(mail)
    const { conversation } = await inBot.createConversation(wanted)
    expect(conversation).toMatchObject({
      channel: 'inbox',
      integration: 'mail',
      properties: { mood: 'good' },
      tags: { 'mail:thread': '7', 'mail:subject': 'Pump' },
    })
    const request = remote().requestsOf('create_conversation').at(-1)
    expect(request?.json).toEqual({ channel: 'inbox', tags: { thread: '7', subject: 'Pump' } })
    expect(request?.headers).toMatchObject({ 'x-integration-alias': 'mail' })
    expect(await inBot.getOrCreateConversation(wanted)).toMatchObject({
      conversation: { id: conversation.id },
    })
    const made = { tags: { address: 'ada@example.com' }, name: 'Ada', integrationName: 'mail' }
    const { user } = await inBot.createUser(made)
    expect(user).toMatchObject({ name: 'Ada', tags: { 'mail:address': 'ada@example.com' } })
    expect(await inBot.getOrCreateUser({ ...made, name: 'Else' })).toMatchObject({
      user: { id: user.id },
    })

    remote().behave(() => ({ status: 400, body: { type: 'Runtime', message: 'No such mailbox' } }))
    expect(await refusal(inBot.createUser(made))).toBe('Runtime: No such mailbox')
    remote().behave(() => ({ body: { user: { id: mail.bot.id } } }))
    expect(await refusal(inBot.createUser(made))).toMatch('Runtime: mail made no user')
    await mail.install({ enabled: false })
    expect(await refusal(inBot.createUser(made))).toMatch('mail is switched off')
  })

  it('are notified of changes by others, in the order in which they happened', async () => {
    const mail = await install()
    const { admin, integration, inBot, inMail, bot } = mail
    const { conversation } = await inMail.createConversation({ channel: 'inbox', tags: {} })
    const place = { conversationId: conversation.id, userId: bot.id }
    const { message } = await inBot.createMessage({
      ...place,
      type: 'text',
      payload: { text: 'a' },
      tags: {},
    })
    const updateBoth = async (client: typeof inBot, n: string) => {
      await client.updateMessage({ id: message.id, tags: { n }, payload: { text: n } })
      await client.updateConversation({ id: conversation.id, tags: { n } })
    }
    await updateBoth(inBot, 'unheard')
    await admin.updateIntegration({
      id: integration.id,
      extraOperations: {
        message_updated: { enabled: true },
        conversation_updated: { enabled: true },
      },
    })
    await updateBoth(inMail, 'own')
    await updateBoth(inBot, 'heard')
    await updateBoth(inBot, 'heard')
    const { message: later } = await inBot.createMessage({
      ...place,
      type: 'text',
      payload: { text: 'last' },
      tags: {},
    })
    await vi.waitFor(() =>
      expect(remote().requestsOf('message_created').at(-1)?.json.message).toMatchObject({
        id: later.id,
      }),
    )
    const sent = remote().requests.filter(({ headers }) =>
      /^(message|conversation)_/.test(headers['x-bp-operation'] ?? ''),
    )
    expect(sent.map(({ headers }) => headers['x-bp-operation'])).toEqual([
      ...['message_created', 'message_updated', 'conversation_updated', 'message_created'],
    ])
    expect(sent[1]?.json).toMatchObject({
      type: 'text',
      payload: { text: 'heard' },
      conversation: { id: conversation.id },
      user: { id: bot.id },
      previousMessage: { id: message.id, payload: { text: 'own' }, tags: { n: 'own' } },
      currentMessage: { id: message.id, payload: { text: 'heard' } },
    })
    expect(sent[2]?.json).toEqual({
      currentConversation: expect.objectContaining({ id: conversation.id }),
      previousConversation: expect.objectContaining({ tags: { n: 'own' } }),
    })
    const { deliveries } = await server()
      .client()
      .listDeliveries({ id: bot.id, kind: 'message_updated' })
    expect(deliveries).toMatchObject([{ integration: 'mail', orderKey: conversation.id }])
  })
})
