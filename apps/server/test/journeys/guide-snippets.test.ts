import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { checkout } from '../documents.js'
import { connect, makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { addAccount } from '../tenant.js'

const server = useServer()

/** Loads the parts of a guide that `npm run docs` copies into it. */
async function partsOf(guide: string) {
  return await import(join(checkout, 'apps/server/test/guides', `${guide}.mjs`))
}

async function plainHandler(): Promise<string> {
  return await readFile(join(checkout, 'apps/server/test/guides/plain-handler.cjs'), 'utf8')
}

/** A bot with its addresses. */
async function made() {
  const { admin, bot, client, integrationId, webhookId } = await makeBot(server())
  return { admin, botId: bot.id, client, integrationId, webhookId }
}

it('code of the guide to bots keeps versions, lists issues and counts', async () => {
  const { versions, issuesOf, figures } = await partsOf('bots')
  const { admin, botId, client, webhookId } = await made()
  await admin.updateBot({
    id: botId,
    code: `exports.handler = async ({ headers }) => {
      if (headers['x-bp-operation'] === 'event_received') throw new Error('Nothing on the menu')
      return { body: '{}' }
    }`,
  })
  const { version, url } = await versions({ client: admin, botId })
  expect(version.name).toBe('Before the new menu')
  expect(await (await fetch(url)).text()).toContain('Nothing on the menu')

  const ada = await connect(server(), webhookId)
  const { conversation } = await ada.createConversation({})
  await ada.createMessage({
    conversationId: conversation.id,
    payload: { type: 'text', text: 'The menu?' },
  })
  await vi.waitFor(async () => {
    const { issues, issueEvents } = await issuesOf({ client: admin, botId })
    expect(issues[0].title).toContain('Nothing on the menu')
    expect(issueEvents).not.toHaveLength(0)
  })
  await vi.waitFor(async () => {
    const { customEvents } = await figures({ client, admin, botId })
    expect(customEvents.sold).toBeGreaterThan(0)
  })
})

it('code of the guide to developing answers and goes back', async () => {
  const { goBack } = await partsOf('developing')
  const { admin, botId, client } = await made()
  const code = await plainHandler()
  await admin.updateBot({ id: botId, code })
  const deployOther = () => admin.updateBot({ id: botId, code: `${code}// the sale` })
  await goBack({ client: admin, id: botId, deployOther })
  const [last] = (await admin.listBotVersions({ id: botId })).versions
  const { url } = await admin.getBotVersion({ id: botId, versionId: last?.id ?? '' })
  expect(await (await fetch(url)).text()).toBe(code)
  await client.createEvent({ type: 'custom', payload: {} })
  await vi.waitFor(async () => {
    const { logs } = await admin.getBotLogs({
      id: botId,
      timeStart: new Date(0).toISOString(),
      timeEnd: new Date(Date.now() + 60_000).toISOString(),
    })
    expect(logs.map(({ message }) => message).join('\n')).toContain('POST / ')
  })
})

it('code of the guide to chat sets the chat up and talks from a page', async () => {
  const { setKey, setWebhook, talk } = await partsOf('chat')
  const { admin, botId, client, integrationId, webhookId } = await made()
  const chatAddress = `${server().url}/chat/${webhookId}`
  const localStorage: { userKey?: string } = {}
  const heard: unknown[] = []
  const show = (...shown: unknown[]) => heard.push(shown)
  const { conversation, listener } = await talk({ chatAddress, localStorage, show })
  onTestFinished(() => listener.disconnect())
  await client.createMessage({
    conversationId: conversation.id,
    userId: botId,
    type: 'text',
    payload: { text: 'Hello to you' },
    tags: {},
  })
  await vi.waitFor(() => expect(heard).toContainEqual([true, 'Hello to you']))
  const again = await talk({ chatAddress, localStorage, show })
  onTestFinished(() => again.listener.disconnect())
  expect((await client.listUsers({})).users).toHaveLength(1)

  const settings = async () =>
    (await admin.getBot({ id: botId })).bot.integrations[integrationId]?.configuration
  await setWebhook({ client: admin, botId, integrationId })
  expect(await settings()).toMatchObject({ webhookUrl: 'https://app.example.com/signals' })
  await setKey({ client: admin, botId, integrationId })
  await expect(connect(server(), webhookId)).rejects.toThrow()
})

it('code of the guide to the web chat makes keys, calls actions and lists messages', async () => {
  const { userKey, show, program } = await partsOf('web-chat')
  const { botId, client, webhookId } = await made()
  const at = { apiUrl: `${server().url}/webchat`, clientId: webhookId }
  const { secret } = await server().client().setChatAdminSecret({ id: botId })
  const key = await userKey({ ...at, adminSecret: secret })
  const ada = program({ ...at, userKey: key })
  expect((await ada.getUser()).user.id).toBe('ada')
  const { conversation } = await ada.createConversation()
  await show({ client, conversationId: conversation.id })
  await expect(show({ client, conversationId: 'conv_of_nobody' })).rejects.toThrow()
})

it('code of the first steps, of compatibility and of errors runs', async () => {
  const { search } = await partsOf('getting-started')
  const { write } = await partsOf('first-message')
  const { list } = await partsOf('compatibility')
  const { find } = await partsOf('errors')
  const { botId, client, webhookId } = await made()
  const { url: apiUrl, token, workspaceId } = server()
  await client.uploadFile({ key: 'stop.txt', index: true, content: 'The server stops gently.' })
  await vi.waitFor(async () => {
    const passages = await search({ apiUrl, token, botId })
    expect(passages[0]?.content).toContain('stops gently')
  })
  const { conversation } = await client.createConversation({ channel: 'channel', tags: {} })
  const conversationId = conversation.id
  await write({ webhookUrl: `${apiUrl}/chat/${webhookId}`, conversationId })
  expect((await client.listMessages({ conversationId })).messages).toHaveLength(1)
  const bots: { id: string }[] = await list({ apiUrl, token, workspaceId, botId })
  expect(bots.map(({ id }) => id)).toContain(botId)
  await find({ client })
  const broken = { getFile: () => Promise.reject(new Error('another')) }
  await expect(find({ client: broken })).rejects.toThrow('another')
})

it('code of the guide to teams invites, limits a bot and makes a token', async () => {
  const { invite, limit, quota, readingToken } = await partsOf('team')
  const { admin, botId } = await made()
  const { token, workspaceId, url } = server()
  const member = await invite({ client: admin })
  const code = new URL(member.invitationUrl).hash.slice(1)
  const guest = await addAccount(server())
  await server().client(guest).acceptInvitation({ code })
  const asGuest = server().client({ ...guest, workspaceId })
  const idsOf = async () => (await asGuest.listBots()).bots.map(({ id }) => id)
  expect(await idsOf()).toContain(botId)
  await expect(asGuest.createBot({})).rejects.toMatchObject({ type: 'Forbidden' })

  const { account } = await server().client().getAccount()
  await limit({ client: admin, botId, accountId: account.id })
  expect(await idsOf()).not.toContain(botId)
  expect(await quota({ api: url, token, workspaceId, client: admin, botId })).toMatchObject({
    quota: 10_000,
  })

  const pat = await readingToken({ api: url, token, workspaceId })
  expect(pat).toMatchObject({ readOnly: true, workspaceId })
  const reader = server().client({ token: pat.value, workspaceId })
  expect((await reader.listBots()).bots.map(({ id }) => id)).toContain(botId)
  await expect(reader.createBot({})).rejects.toMatchObject({ type: 'Forbidden' })
})

it('code of the guide to teams chooses a password, with which its person signs in', async () => {
  const { choosePassword } = await partsOf('team')
  const ann = await addAccount(server())
  await choosePassword({ api: server().url, token: ann.token })
  const page = server().client({ token: undefined, headers: { origin: server().url } })
  const { session } = await page.signInWithPassword({
    email: 'ann@example.com',
    password: 'seven green teapots',
  })
  expect(session?.current).toBe(true)
})

it('code of the guide to files uploads and reads', async () => {
  const { uploadFilm, uploadFromPage, read } = await partsOf('files')
  const { client } = await made()
  // In Node, the library takes no `File` as browsers have it.
  const bytes = Buffer.from('a film')
  const film = Object.assign(bytes, { size: bytes.length })
  await new Promise<void>((onSuccess, onError) => {
    uploadFilm({ client, film, onSuccess, onError }).catch(onError)
  })
  const content = 'Trips are booked by the office.'
  const key = 'handbook/travel.txt'
  const { file } = await client.upsertFile({ key, size: content.length })
  await uploadFromPage({ uploadUrl: file.uploadUrl, input: { files: [new Blob([content])] } })
  expect(Buffer.from(await read({ client })).toString()).toBe(content)
  await vi.waitFor(async () => {
    const { file: shown } = await client.getFile({ id: 'films/tour.mp4' })
    expect(shown.status).toBe('upload_completed')
  })
})

it('code of the guide to the runtime defines a recurring event', async () => {
  const { everyMorning } = await partsOf('runtime')
  const { admin, botId } = await made()
  await everyMorning({ client: admin, botId })
  expect((await admin.getBot({ id: botId })).bot.recurringEvents).toMatchObject({
    daily: { type: 'morning', schedule: { cron: '0 7 * * 1-5' } },
  })
})

it('code of the guide to search uploads, waits and leaves out low scores', async () => {
  const { uploadAndWait, findAnswers } = await partsOf('search')
  const { client } = await made()
  const picture = '<p>The harbour has two piers.</p><p><img src="piers.png"></p>'
  const read = await uploadAndWait({ client, key: 'harbour.html', content: picture })
  expect(read).toMatchObject({ status: 'indexing_completed', indexingOmissions: 1 })
  await expect(uploadAndWait({ client, key: 'broken.zip', content: 'no archive' })).rejects.toThrow(
    'Files of type application/zip (.zip) cannot be indexed.',
  )
  const answers = await findAnswers({ client, question: 'How many piers has the harbour?' })
  expect(answers.map(({ file }: { file: { key: string } }) => file.key)).toEqual(['harbour.html'])
  const query = 'When was the harbour of Honfleur painted?'
  // The package does not send the lowest score.
  const { passages } = await client.searchFiles({ query, ...{ minScore: 0.4 } })
  expect(passages).toMatchObject([{ score: expect.any(Number) }])
  expect(await findAnswers({ client, question: query })).toEqual([])
})
