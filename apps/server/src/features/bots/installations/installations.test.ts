import { createHmac } from 'node:crypto'
import { expect, it, vi } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { existingClient } from '../../../../test/existing-clients.js'
import { useServer } from '../../../../test/harness.js'
import { installMail } from '../../../../test/remote/integration.js'
import { type RemoteRequest, useRemote } from '../../../../test/remote/server.js'
import { inDatabase } from '../../../../test/tenancy/seed.js'

const hour = 60 * 60 * 1000

describeSlow('installed integrations', (engine) => {
  const server = useServer(engine)
  const remote = useRemote()
  const install = () => installMail(server(), remote())

  it('are registered with headers that identify them, and shown by the bot', async () => {
    const { bot, integration, installed } = await install()
    expect(installed).toMatchObject({
      enabled: true,
      status: 'registered',
      statusReason: null,
      id: integration.id,
      name: integration.name,
      version: '1.0.0',
      configuration: { token: 'tkn' },
      webhookUrl: `${server().url}/webhooks/${installed?.webhookId}`,
    })
    const [request] = remote().requestsOf('register')
    expect(request?.json).toEqual({ webhookUrl: installed?.webhookUrl })
    expect(request?.headers).toMatchObject({
      'x-bp-type': 'register',
      'x-bot-id': bot.id,
      'x-bot-user-id': bot.id,
      'x-integration-id': integration.id,
      'x-integration-alias': 'mail',
      'x-webhook-id': installed?.webhookId,
      'x-bp-configuration': Buffer.from('{"token":"tkn"}').toString('base64'),
    })
    expect(request?.headers).not.toHaveProperty('x-bp-configuration-type')
    expect(isSigned(request, integration.signingSecret)).toBe(true)
  })

  it('show why a registration failed, and are registered again when they are installed again', async () => {
    remote().behave(() => ({ status: 400, body: { message: 'Wrong token' } }))
    const { install: again, installed, admin, integration } = await install()
    expect(installed).toMatchObject({ status: 'registration_failed', statusReason: 'Wrong token' })
    remote().behave(() => ({ breaks: true }))
    expect((await again({ enabled: true }))?.statusReason).toContain('The connection broke')
    remote().behave(() => ({}))
    expect(await again({ enabled: true })).toMatchObject({
      status: 'registered',
      statusReason: null,
    })
    // An unchanged installation is not registered again.
    expect(await again({ enabled: true })).toMatchObject({ status: 'registered' })
    expect(remote().requestsOf('register')).toHaveLength(3)
    const logs = async () => {
      const query = { id: integration.id, timeStart: '2020-01-01T00:00:00Z' }
      return (await admin.getIntegrationLogs(query)).logs
    }
    await vi.waitFor(async () => expect(await logs()).toHaveLength(3))
    expect((await logs()).map(({ level }) => level).toSorted()).toEqual(['error', 'error', 'info'])
  })

  it('show that a registration is pending when it takes long', async () => {
    let release = () => {}
    remote().behave(({ headers }) =>
      headers['x-bp-operation'] === 'register'
        ? new Promise((resolve) => {
            release = () => resolve({})
          })
        : {},
    )
    const { installed, now } = await installMail(server(), remote(), true)
    expect(installed?.status).toBe('registration_pending')
    release()
    await vi.waitFor(async () => expect((await now())?.status).toBe('registered'))
  })

  it('are unregistered when they are switched off, removed, or their bot is deleted', async () => {
    const { install: change, admin, bot, integration } = await install()
    expect(await change({ enabled: false })).toMatchObject({ status: 'unregistered' })
    expect(remote().requestsOf('unregister')).toHaveLength(1)
    await change({ enabled: true })
    await expect(admin.deleteIntegration({ id: integration.id })).rejects.toMatchObject({
      type: 'ReferenceConstraint',
    })
    const { bot: without } = await admin.updateBot({ id: bot.id, integrations: { mail: null } })
    expect(without.integrations).not.toHaveProperty('mail')
    await vi.waitFor(() => expect(remote().requestsOf('unregister')).toHaveLength(2))
    await change({ enabled: true })
    await admin.deleteBot({ id: bot.id })
    await vi.waitFor(() => expect(remote().requestsOf('unregister')).toHaveLength(3))
    await admin.deleteIntegration({ id: integration.id })
  })

  it('check their configuration', async () => {
    const { install: change, now } = await install()
    const refused = async (patch: object) => Object(await change(patch).catch((e: unknown) => e))
    expect(await refused({ configuration: { token: 7 } })).toMatchObject({
      type: 'InvalidDataFormat',
      message: expect.stringContaining('configuration.token must be a string'),
    })
    expect(await refused({ configurationType: 'none' })).toMatchObject({
      type: 'ReferenceNotFound',
    })
    expect(await refused({ configuration: { token: 'x'.repeat(20_480) } })).toMatchObject({
      type: 'LimitExceeded',
    })
    expect(await refused({ configurationType: 'sandbox' })).toMatchObject({
      type: 'InvalidDataFormat',
    })
    expect(await refused({ integrationId: 'none' })).toMatchObject({ type: 'ReferenceNotFound' })
    expect((await now())?.configuration).toEqual({ token: 'tkn' })
    await change({ configurationType: 'sandbox', configuration: { account: 'a' } })
    expect(remote().requestsOf('register').at(-1)?.headers).toMatchObject({
      'x-bp-configuration-type': 'sandbox',
    })
  })

  it('keep their webhook when another version takes their place', async () => {
    const { admin, integration, installed, install: change } = await install()
    const { integration: next } = await admin.createIntegration({
      name: integration.name,
      version: '2.0.0',
      url: remote().url,
    })
    const upgraded = await change({ integrationId: next.id })
    expect(upgraded).toMatchObject({ version: '2.0.0', webhookId: installed?.webhookId })
    await vi.waitFor(() => expect(remote().requestsOf('unregister')).toHaveLength(1))
    const ids = remote()
      .requestsOf('register')
      .map(({ headers }) => headers['x-integration-id'])
    expect(ids).toEqual([integration.id, next.id])
    const { integrations } = await admin.listIntegrations({
      name: integration.name,
      sortBy: 'installCount',
    })
    expect(integrations.map(({ id }) => id)).toEqual([next.id, integration.id])
  })

  it('are at most 30', async () => {
    const { admin, bot, integration } = await install()
    const entry = { integrationId: integration.id, enabled: false }
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`mail${i}`, entry]))
    await admin.updateBot({ id: bot.id, integrations: many(28) })
    await expect(
      admin.updateBot({ id: bot.id, integrations: { more: entry } }),
    ).rejects.toMatchObject({ type: 'LimitExceeded' })
  })

  it('may call with their own key where they are installed, and nowhere else', async () => {
    const { admin, inMail, key, keyId, bot, integration } = await install()
    const { user } = await inMail.createUser({ tags: {} })
    const { conversation } = await inMail.createConversation({ channel: 'inbox', tags: {} })
    expect(conversation.integration).toBe('mail')
    const content = { type: 'text', payload: { text: 'hi' }, tags: {} }
    const { message } = await inMail.createMessage({
      userId: user.id,
      conversationId: conversation.id,
      ...content,
    })
    expect(message.direction).toBe('incoming')
    const { bot: other } = await admin.createBot({})
    const forbidden = { type: 'Forbidden', code: 403 }
    for (const options of [
      { botId: other.id },
      { botId: '6f1c1f5e-0000-4000-8000-000000000000' },
      { botId: bot.id, integrationAlias: 'chat' },
      { botId: bot.id, integrationId: '6f1c1f5e-4c52-4d0e-9d0a-5b1d1f0c7a11' },
    ]) {
      const client = existingClient(server(), { token: key, ...options })
      await expect(client.getUser({ id: user.id })).rejects.toMatchObject(forbidden)
    }
    await expect(existingClient(server(), { token: key }).listBots({})).rejects.toMatchObject(
      forbidden,
    )
    const { iaks } = await admin.listIntegrationApiKeys({ integrationId: integration.id })
    expect(iaks.map(({ id }) => id)).toEqual([keyId])
    await admin.deleteIntegrationApiKey({ id: keyId })
    await expect(inMail.getUser({ id: user.id })).rejects.toMatchObject({ type: 'Unauthorized' })
  })

  it('are sent what the bot writes in their conversations, in order', async () => {
    const { bot, inBot, inMail } = await install()
    const { conversation } = await inMail.createConversation({ channel: 'inbox', tags: {} })
    for (const text of ['one', 'two', 'three']) {
      await inBot.createMessage({
        userId: bot.id,
        conversationId: conversation.id,
        type: 'text',
        payload: { text },
        tags: {},
      })
    }
    await vi.waitFor(() => expect(remote().requestsOf('message_created')).toHaveLength(3))
    const sent = remote().requestsOf('message_created')
    expect(sent.map(({ json }) => json.payload)).toEqual([
      { text: 'one' },
      { text: 'two' },
      { text: 'three' },
    ])
    expect(sent[0]?.json).toMatchObject({
      type: 'text',
      conversation: { id: conversation.id, channel: 'inbox' },
      user: { id: bot.id },
      message: { direction: 'outgoing' },
    })
    expect(sent[0]?.headers['x-integration-alias']).toBe('mail')
  })

  it('run their actions', async () => {
    const { inBot, install: change } = await install()
    remote().behave(({ json }) => ({ body: { output: { sent: json.input }, meta: { cost: 0 } } }))
    const { output } = await inBot.callAction({ type: 'mail:send', input: { to: 'ada' } })
    expect(output).toEqual({ sent: { to: 'ada' } })
    const [request] = remote().requestsOf('action_triggered')
    expect(request?.json).toEqual({ type: 'send', input: { to: 'ada' } })
    expect(request?.headers['x-integration-alias']).toBe('mail')
    await inBot.callAction({ type: 'mail:look', input: {} })
    expect((await inBot.callAction({ type: 'mail:look', input: {} })).meta.cached).toBe(true)
    await expect(inBot.callAction({ type: 'mail:send', input: {} })).rejects.toMatchObject({
      type: 'InvalidDataFormat',
    })
    await expect(inBot.callAction({ type: 'mail:fly', input: {} })).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
    await change({ enabled: false })
    await expect(
      inBot.callAction({ type: 'mail:send', input: { to: 'ada' } }),
    ).rejects.toMatchObject({ type: 'Runtime' })
  })

  it('set their account, and are registered again at the interval that they request', async () => {
    const { inMail, inBot, now } = await install()
    await inMail.configureIntegration({ identifier: 'acme', scheduleRegisterCall: 'hourly' })
    expect((await now())?.identifier).toBe('acme')
    await inDatabase(server(), async ({ db }) => {
      const isScheduled = async () => {
        const next = db
          .selectFrom('jobs')
          .select('id')
          .where('kind', '=', 'integrations.register-again')
          .where('state', '=', 'waiting')
          .where('due_at', '>', new Date(server().clock.now()).toISOString())
        return (await next.executeTakeFirst()) !== undefined
      }
      for (const times of [2, 3]) {
        // A call that has arrived is not stored yet: only then the next one is scheduled, from that time on.
        await vi.waitUntil(isScheduled)
        server().clock.advance(hour + 1000)
        await vi.waitFor(() => expect(remote().requestsOf('register')).toHaveLength(times))
      }
    })
    await vi.waitFor(async () => expect((await now())?.status).toBe('registered'))
    await inMail.configureIntegration({ identifier: null })
    expect(await now()).not.toHaveProperty('identifier')
    await expect(inBot.configureIntegration({ identifier: 'x' })).rejects.toMatchObject({
      type: 'Forbidden',
    })
  })

  it('are called with both secrets for a day after a rotation', async () => {
    const { admin, integration, install: change } = await install()
    const { id, signingSecret: former } = integration
    const { newSigningSecret: next } = await admin.rotateIntegrationSigningSecrets({ id })
    // A day later other integrations of this server are registered again too.
    const lastRegister = () =>
      remote()
        .requestsOf('register')
        .findLast(({ headers }) => headers['x-integration-id'] === id)
    await change({ configuration: {} })
    const during = lastRegister()
    expect([isSigned(during, former), isSigned(during, next)]).toEqual([true, true])
    server().clock.advance(24 * hour + 1000)
    await change({ configuration: {} })
    const later = lastRegister()
    expect([isSigned(later, former), isSigned(later, next)]).toEqual([false, true])
  })
})

/** Whether a request carries the signature that a secret makes. */
function isSigned(request: RemoteRequest | undefined, secret: string): boolean {
  const [time, ...macs] = request?.headers['x-botstead-signature']?.split(',') ?? []
  const hmac = createHmac('sha256', secret).update(`${time?.slice(2)}.${request?.body}`)
  return macs.includes(`v1=${hmac.digest('hex')}`)
}
