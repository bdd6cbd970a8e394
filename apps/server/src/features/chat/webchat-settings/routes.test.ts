import { expect, it, vi } from 'vitest'
import { createChats } from '../../../../test/chats.js'
import { describeEachEngine, useDatabase } from '../../../../test/engines.js'
import { existingClient, makeBot } from '../../../../test/existing-clients.js'
import { useServer } from '../../../../test/harness.js'
import { MemorySink } from '../../../../test/listening/memory-sink.js'
import { createLocalBus } from '../../../platform/bus/local.js'
import { createLog } from '../../../platform/telemetry/log.js'

describeEachEngine('the settings of a web chat', (engine) => {
  const server = useServer(engine)

  /** A bot, with calls about its web chat. */
  async function make(name = 'Helper') {
    const client = server().client()
    const { bot } = await client.createBot({ name })
    const id = bot.id
    const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
    return {
      id,
      webhookId,
      get: async () => (await client.getBotWebchatSettings({ id })).webchat,
      update: async (patch: object) =>
        (await client.updateBotWebchatSettings({ id, ...patch })).webchat,
      served: async () => await (await server().fetch(`/webchat/${webhookId}/config`)).json(),
    }
  }

  it('follow from the bot until they are set, and again when they are unset', async () => {
    const { get, update, served, webhookId, id } = await make()
    const shareUrl = `${server().url}/webchat/${webhookId}`
    const before = await get()
    expect(before).toMatchObject({ changed: [], allowedOrigins: [], shareUrl })
    expect(before.settings).toMatchObject({ botName: 'Helper', color: '#0f5f73' })
    expect(await served()).toEqual(before.settings)

    const greeting = 'Hello <b>\n**Ünder**'
    const changed = await update({
      botName: 'Ada',
      greeting,
      suggestedQuestions: ['Who?', 'What?'],
      allowFileUpload: false,
      position: 'left',
    })
    expect(changed.settings).toEqual({
      ...before.settings,
      botName: 'Ada',
      greeting,
      suggestedQuestions: ['Who?', 'What?'],
      allowFileUpload: false,
      position: 'left',
    })
    expect(changed.changed).toHaveLength(5)
    expect(await served()).toEqual(changed.settings)
    expect(await (await server().fetch(`/webchat/${webhookId}/inject.js`)).text()).toContain(
      '"botName":"Ada","color":"#0f5f73","position":"left"',
    )

    const unset = await update({ botName: null, position: null, greeting: null, color: '#ffffff' })
    expect(unset.settings).not.toHaveProperty('greeting')
    expect(unset.settings).toMatchObject({ botName: 'Helper', position: 'right', color: '#ffffff' })
    expect(unset.changed).toEqual(['allowFileUpload', 'color', 'suggestedQuestions'])
    expect(await update({})).toEqual(unset)
    await server().client().updateBot({ id, name: 'Renamed' })
    expect(await served()).toMatchObject({ botName: 'Renamed', color: '#ffffff' })
  })

  it('lose none of two changes at the same time', async () => {
    const { get, update } = await make()
    const changes = [{ greeting: 'Hi' }, { footer: 'Bye' }, { color: '#123456' }, { botName: 'B' }]
    await Promise.all(changes.map(update))
    expect((await get()).settings).toMatchObject(Object.assign({}, ...changes))
  })

  const long = (length: number) => 'a'.repeat(length)
  const refusals: [patch: object, field: string][] = [
    [{ color: 'red' }, 'body.color'],
    [{ color: '#12345' }, 'body.color'],
    [{ botName: '' }, 'body.botName'],
    [{ botName: long(101) }, 'body.botName'],
    [{ greeting: long(2001) }, 'body.greeting'],
    [{ language: 'de"><script>' }, 'body.language'],
    [{ themeMode: 'blue' }, 'body.themeMode'],
    [{ allowFileUpload: 'yes' }, 'body.allowFileUpload'],
    [{ suggestedQuestions: Array(9).fill('Why?') }, 'body.suggestedQuestions'],
    [{ suggestedQuestions: [''] }, 'body.suggestedQuestions.0'],
    [{ allowedOrigins: Array(51).fill('https://a.example') }, 'body.allowedOrigins'],
    [{ allowedOrigins: ['https://a.example', 'a.example'] }, 'body.allowedOrigins.1 must be'],
    [{ allowedOrigins: ['https://a.example/path'] }, 'body.allowedOrigins.0 must be'],
    [{ allowedOrigins: ['https://u:p@a.example'] }, 'body.allowedOrigins.0 must be'],
    [{ allowedOrigins: ["https://a;script-src'none'"] }, 'body.allowedOrigins.0 must be'],
    [{ allowedOrigins: ['ftp://a.example'] }, 'body.allowedOrigins.0 must be'],
    [{ allowedOrigins: ['*'] }, 'body.allowedOrigins.0 must be'],
    [{ allowedOrigins: ['https://a.*.example'] }, 'body.allowedOrigins.0 must be'],
    [{ allowedOrigins: ['https://*.example'] }, 'body.allowedOrigins.0 must have at least two'],
    [{ allowedOrigins: ['https://*.127.0.0.1'] }, 'body.allowedOrigins.0 must have a name'],
    [{ greeting: 'a\u0000' }, 'body.greeting must be made of whole characters'],
  ]

  it('refuse what is not valid with the field and the rule, and change nothing', async () => {
    const { get, update } = await make()
    const before = await get()
    for (const [patch, field] of refusals) {
      const error = await update({ footer: 'Bye', ...patch }).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ type: 'InvalidPayload' })
      expect(String(error)).toContain(field)
    }
    expect(await get()).toEqual(before)
  })

  it('keep origins as browsers write them, each once', async () => {
    const { update } = await make()
    const given = ['https://Shop.Example:443', 'https://shop.example', 'http://*.A.example:80']
    const { allowedOrigins } = await update({
      allowedOrigins: [...given, 'http://[::1]:3000', 'https://bücher.example'],
    })
    expect(allowedOrigins).toEqual([
      'https://shop.example',
      'http://*.a.example',
      'http://[::1]:3000',
      'https://xn--bcher-kva.example',
    ])
    expect((await update({ allowedOrigins: null })).allowedOrigins).toEqual([])
  })

  it('are not those of other workspaces, and go with their bot', async () => {
    const { id, update, get } = await make()
    await update({ greeting: 'Hi' })
    const made = await existingClient(server()).createWorkspace({ name: 'Elsewhere' })
    const elsewhere = server().client({ workspaceId: made.id })
    const absent = { type: 'ResourceNotFound' }
    await expect(elsewhere.getBotWebchatSettings({ id })).rejects.toMatchObject(absent)
    await expect(
      elsewhere.updateBotWebchatSettings({ id, greeting: 'Taken' }),
    ).rejects.toMatchObject(absent)
    expect((await get()).settings.greeting).toBe('Hi')
    await server().client().deleteBot({ id })
    await expect(get()).rejects.toMatchObject(absent)
  })

  it('have code for pages, as the existing client gets it', async () => {
    const { admin, bot, webhookId } = await makeBot(server())
    const id = bot.id
    const address = `${server().url}/webchat/${webhookId}`
    await server().client().updateBotWebchatSettings({ id, greeting: '</script><b>' })
    const codeOf = async (type: 'preconfigured' | 'configurable' | 'fullscreen' | 'sharableUrl') =>
      (await admin.getBotWebchat({ id, type })).code
    expect(await codeOf('sharableUrl')).toBe(address)
    expect(await codeOf('preconfigured')).toBe(`<script src="${address}/inject.js" defer></script>`)
    expect(await codeOf('fullscreen')).toContain('data-selector="#webchat"')
    const configurable = await codeOf('configurable')
    expect(configurable).toContain('"greeting": "\\u003c/script>\\u003cb>"')
    expect(configurable.match(/<\/script>/g)).toHaveLength(2)
    await expect(admin.getBotWebchat({ id, type: 'other' as 'fullscreen' })).rejects.toMatchObject({
      type: 'InvalidQuery',
    })

    const [integrationId = ''] = Object.keys(bot.integrations)
    await admin.updateBot({ id, integrations: { [integrationId]: { enabled: false } } })
    await expect(codeOf('sharableUrl')).rejects.toMatchObject({ type: 'ResourceNotFound' })
    const { webchat } = await server().client().getBotWebchatSettings({ id })
    expect(webchat).not.toHaveProperty('shareUrl')
  })
})

describeEachEngine('a changed setting of a web chat', (engine) => {
  const database = useDatabase(engine)

  it('is seen at once by other processes, which remember the one before', async () => {
    const bus = createLocalBus(await createLog({ level: 'silent' }))
    const chats = await createChats(database(), { bus })
    const others = await createChats(database(), { bus })
    const { workspace } = await chats.person()
    const { bot, installations } = await chats.bots.create(workspace, {}, undefined)
    const webhookId = installations[0]?.webhook_id ?? ''
    const colorIn = async ({ slices }: typeof chats) =>
      (await slices.chat.webchatSettings.inForce(webhookId)).settings.color
    expect([await colorIn(chats), await colorIn(others)]).toEqual(['#0f5f73', '#0f5f73'])
    await chats.slices.chat.webchatSettings.update(workspace, bot.id, { color: '#ff0000' })
    expect(await colorIn(chats)).toBe('#ff0000')
    // The clock stands still: only the hint makes the other process read again.
    await vi.waitFor(async () => expect(await colorIn(others)).toBe('#ff0000'))
  })

  it('disconnects the pages that it excludes from all processes', async () => {
    const bus = createLocalBus(await createLog({ level: 'silent' }))
    const chats = await createChats(database(), { bus })
    const others = await createChats(database(), { bus })
    const { workspace } = await chats.person()
    const { bot, installations } = await chats.bots.create(workspace, {}, undefined)
    const caller = await chats.authenticator.chat(installations[0]?.webhook_id ?? '', '127.0.0.1')
    const { key } = await chats.chat.createUser(caller, {})
    const user = await chats.authenticator.chatUser(caller.chat.webhookId, key)
    const { id } = await chats.chat.createConversation(user, {}, undefined)
    async function listen(process: typeof chats, pageOrigin?: string): Promise<MemorySink> {
      const sink = new MemorySink()
      ;(await process.chat.listen(user, id, undefined, pageOrigin))(sink)
      return sink
    }
    const [excluded, allowed] = ['https://one.example', 'https://two.example']
    const ending = [await listen(chats, excluded), await listen(others, excluded)]
    const staying = [
      await listen(chats, allowed),
      await listen(others, allowed),
      await listen(others),
    ]
    const { webchatSettings } = chats.slices.chat
    await webchatSettings.update(workspace, bot.id, { allowedOrigins: [allowed] })
    await vi.waitFor(() => expect(ending.map(({ ended }) => ended)).toEqual(['end', 'end']))
    await webchatSettings.update(workspace, bot.id, { color: '#ff0000' })
    expect(staying.map(({ ended }) => ended)).toEqual([undefined, undefined, undefined])
  })
})
