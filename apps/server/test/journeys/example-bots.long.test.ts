import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createConnection, createServer } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { startBotProcess } from '../bot-processes.js'
import { checkout, readDocument } from '../documents.js'
import { ask, startExample } from '../examples-started.js'
import { existingClient } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { freePort } from '../ports.js'
import { exchange, request } from '../raw-http.js'

const server = useServer()

/** Requests to a bot, signed as the server signs them or with a fault. */
function callerOf(url: string, secret: string, headers: Record<string, string> = {}) {
  const sign = (body: string, by: string | readonly string[] = secret, age = 0) => {
    const time = Math.floor(Date.now() / 1000) - age
    const macs = [by].flat().map((key) => createHmac('sha256', key).update(`${time}.${body}`))
    return [`t=${time}`, ...macs.map((mac) => `v1=${mac.digest('hex')}`)].join(',')
  }
  const call = async (body: string, signature: string | undefined) => {
    const all = {
      'x-bot-id': 'any',
      'x-bp-operation': 'ping',
      'x-bp-type': 'ping',
      'x-bp-configuration': 'e30=',
      ...headers,
      ...(signature !== undefined && { 'x-botstead-signature': signature }),
    }
    return (await fetch(url, { method: 'POST', body, headers: all })).status
  }
  return { sign, call }
}

/** Expects that a bot accepts a request only if it was just signed with the secret, and only once. */
async function expectGuarded(url: string, secret: string): Promise<void> {
  const { sign, call } = callerOf(url, secret)
  const body = '{"event":{"type":"message_created","text":"ä"}}'
  for (const signature of [
    undefined,
    '',
    't=,v1=',
    't=NaN,v1=00',
    sign(body, 'another'),
    sign(`${body} `),
    sign(body, secret, 301),
    sign(body, secret, -1000),
    sign(body).replace('t=', 't=0'),
    sign(body).replace('v1=', 'v0='),
  ]) {
    expect([signature, await call(body, signature)]).toEqual([signature, 401])
  }
  // While secrets are rotated there is a signature of each.
  expect(await call(body, sign(body, ['another', secret]))).toBe(200)
  const recorded = sign(body, secret, 200)
  expect(await call(body, recorded)).toBe(200)
  expect(await call(body, recorded)).toBe(425)
  expect(await call(body, recorded.replace('v1=', 'v1=00,v1='))).toBe(425)
  // Equal calls in the same second have the same signature.
  await vi.waitFor(async () => {
    const now = sign(body)
    expect([await call(body, now), await call(body, now)]).toEqual([200, 200])
  })
}

/** Whether something listens at a port of an address of this machine. */
async function listens(host: string, port: number): Promise<boolean> {
  const socket = createConnection({ host, port })
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/** Expects that a program can be reached at the loopback address, and at no other of this machine. */
async function expectLoopback(url: string): Promise<void> {
  const port = Number(new URL(url).port)
  expect(await listens('127.0.0.1', port)).toBe(true)
  const others = Object.values(networkInterfaces()).flatMap((all = []) =>
    all.map(({ address, scopeid }) => (scopeid ? `${address}%${scopeid}` : address)),
  )
  for (const host of new Set(['127.0.0.2', ...others])) {
    if (host !== '127.0.0.1') expect([host, await listens(host, port)]).toEqual([host, false])
  }
}

const addressIn = (output: string) => /listens at (\S+)/.exec(output)?.[1] ?? ''

it('an example bot accepts signed requests soon, and no recorded ones, on this machine only', async () => {
  const { bot: made } = await existingClient(server()).createBot({ name: 'Signed bot' })
  const environment = { BOT_NAME: 'Signed bot', BOT_SECRET: made.signingSecret }
  const bot = await startExample(server(), 'hello-bot', environment)
  expect((await ask(server(), bot.webhookId, 'Anybody?')).payload).toMatchObject({
    text: 'Anybody?',
  })
  const url = addressIn(bot.output())
  await expectLoopback(url)
  await expectGuarded(url, made.signingSecret)
  const strange = await exchange(url, [request('GET //', ['Connection: close'])])
  expect(strange.status).toBe(401)
  expect((await ask(server(), bot.webhookId, 'Still there?')).payload).toMatchObject({
    text: 'Still there?',
  })
})

it('an example bot refuses unsigned requests without any setting, at the first start and at later ones', async () => {
  for (const _start of ['first', 'second', 'third']) {
    await using bot = await startExample(server(), 'hello-bot', { BOT_NAME: 'Guarded bot' })
    const { call, sign } = callerOf(addressIn(bot.output()), 'guessed')
    expect(await call('{}', undefined)).toBe(401)
    expect(await call('{}', sign('{}'))).toBe(401)
    expect((await ask(server(), bot.webhookId, 'Anybody?')).payload).toMatchObject({
      text: 'Anybody?',
    })
  }
})

it('startBot gives the bot a key of its own, which replaces the former one and changes nothing else', async () => {
  const folder = await mkdtemp(join(checkout, 'node_modules', '.botstead-own-key-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const script = join(folder, 'bot.mjs')
  const startBot = join(checkout, 'examples/start-bot.mjs')
  await writeFile(
    script,
    `import { Bot } from '@botpress/sdk'
import { startBot } from ${JSON.stringify(startBot)}
const { id } = await startBot(new Bot({ actions: {}, plugins: {} }), { name: 'Own key', port: 0 })
console.log(JSON.stringify({ id, key: process.env.BP_TOKEN, apiUrl: process.env.BP_API_URL }))\n`,
  )
  const start = async () => {
    await using bot = await startBotProcess(server(), [relative(checkout, script)], /^\{.*\}$/m)
    const [, line = '{}'] = /^(\{.*\})$/m.exec(bot.output()) ?? []
    return JSON.parse(line) as { id: string; key: string; apiUrl: string }
  }
  const admin = existingClient(server())
  const personal = await admin.listPersonalAccessTokens({})
  const first = await start()
  const { value: kept } = await admin.createBotApiKey({ botId: first.id, note: 'of an operator' })
  const second = await start()
  expect(second.id).toBe(first.id)
  expect(second.apiUrl).toBe(server().url)
  expect(second.key).toMatch(/^bp_bak_/)

  const by = (token: string) => existingClient(server(), { token, botId: first.id })
  for (const alive of [second.key, kept]) await by(alive).listConversations({})
  await expect(by(first.key).listConversations({})).rejects.toMatchObject({ code: 401 })
  const { baks } = await admin.listBotApiKeys({ botId: first.id })
  expect(baks).toHaveLength(2)
  expect(await admin.listPersonalAccessTokens({})).toEqual(personal)

  const stranger = existingClient(server(), { token: second.key })
  for (const call of [
    () => stranger.listBots({}),
    () => stranger.createBot({ name: 'Another' }),
    () => stranger.deleteBot({ id: first.id }),
    () => stranger.createBotApiKey({ botId: first.id, note: '' }),
    () => stranger.rotateBotSigningSecrets({ id: first.id }),
    () => stranger.listPersonalAccessTokens({}),
    () => stranger.getWorkspace({ id: server().workspaceId }),
  ]) {
    await expect(call()).rejects.toMatchObject({
      type: expect.stringMatching(/^(Forbidden|Unauthorized)$/),
    })
  }
})

it('the integration of the example accepts signed requests only, and has a key of its own', async () => {
  await using _bot = await startExample(server(), 'hello-bot', { BOT_NAME: 'Asked bot' })
  const admin = existingClient(server())
  let integrationId = ''
  for (const _start of ['first', 'second']) {
    const words = ['examples/desk-integration/main.mjs', 'Asked bot']
    await using desk = await startBotProcess(server(), words, /curl -d/)
    const [webhook = ''] = /http\S+\/ada/.exec(desk.output()) ?? []
    const answer = await fetch(webhook, { method: 'POST', body: 'Anybody?' })
    expect([answer.status, await answer.text()]).toEqual([200, 'Anybody?\n'])
    const { integration } = await admin.getIntegrationByName({ name: 'desk', version: '1.0.0' })
    integrationId = integration.id
    await expectLoopback(integration.url)
    const { call, sign } = callerOf(integration.url, 'guessed')
    expect(await call('{}', undefined)).toBe(401)
    expect(await call('{}', sign('{}'))).toBe(401)
  }
  expect((await admin.listIntegrationApiKeys({ integrationId })).iaks).toHaveLength(1)
})

it('starts the hello bot with one command, and finds its bot again at the next start', async () => {
  const first = await startExample(server(), 'hello-bot')
  const { payload } = await ask(server(), first.webhookId, 'hello')
  expect(payload).toEqual({ type: 'text', text: 'Hello! Try "story", "bloc" or "metadata".' })
  await first.kill()

  const second = await startExample(server(), 'hello-bot')
  expect(second.address).toBe(first.address)
  expect((await ask(server(), second.webhookId, 'Anybody?')).payload).toMatchObject({
    text: 'Anybody?',
  })
  const { bots } = await existingClient(server()).listBots({})
  expect(bots.filter(({ name }) => name === 'Hello bot')).toHaveLength(1)
})

it('runs the bot of the README as it is printed there', async () => {
  const [, printed = ''] = /^```js\n(.*?)^```$/ms.exec(await readDocument('README.md')) ?? []
  const folder = await mkdtemp(join(tmpdir(), 'botstead-readme-bot-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const part of ['node_modules', 'examples']) {
    await symlink(join(checkout, part), join(folder, part))
  }
  const script = join(folder, 'my-bot.mjs')
  await writeFile(script, printed)
  await using bot = await startBotProcess(server(), [relative(checkout, script)], /\/chat\/\S+\n/)
  const [, webhookId = ''] = /\/chat\/(\S+)/.exec(bot.output()) ?? []
  expect((await ask(server(), webhookId, 'hello')).payload).toMatchObject({
    text: 'You said: hello',
  })
})

it('an example leaves a bot of its name alone that has deployed code, or runs on another machine', async () => {
  const admin = existingClient(server())
  const code = 'exports.handler = async () => ({ body: "{}" })'
  const { bot: deployed } = await admin.createBot({ name: 'Deployed bot', code })
  const { bot: remote } = await admin.createBot({ name: 'Remote bot', url: 'http://192.0.2.7/' })
  const start = (name: string, environment: Record<string, string> = {}) =>
    startExample(server(), 'hello-bot', { BOT_NAME: name, ...environment })
  for (const [{ id, name }, where] of [
    [deployed, 'has code that was deployed to the server'],
    [remote, 'runs at http://192.0.2.7/'],
  ] as const) {
    const { bot: before } = await admin.getBot({ id })
    const error = String(await start(name).catch((thrown: unknown) => thrown))
    expect(error).toContain(`There is a bot "${name}" (${id}) already, which ${where}. Nothing was`)
    expect(error).toContain('BOT_NAME="Another name"')
    expect(error).not.toMatch(/^ +at /m)
    expect((await admin.getBot({ id })).bot).toEqual(before)
    expect((await admin.listBotApiKeys({ botId: id })).baks).toEqual([])
  }
  // Its own address on another machine, and what its owner asks for.
  await using _own = await start('Remote bot', { BOT_URL: 'http://192.0.2.7/' })
  await using bot = await start('Deployed bot', { BOT_TAKE_OVER: '1' })
  expect(bot.output()).toContain('Messages to "Deployed bot" went to its deployed code before')
  expect((await ask(server(), bot.webhookId, 'Anybody?')).payload).toMatchObject({
    text: 'Anybody?',
  })
})

it('an example says from where it takes messages, if a program on this machine had them', async () => {
  const admin = existingClient(server())
  const url = 'http://127.0.0.1:9/'
  await admin.createBot({ name: 'Moved bot', url })
  await using bot = await startExample(server(), 'hello-bot', { BOT_NAME: 'Moved bot' })
  expect(bot.output()).toContain(
    `Messages to "Moved bot" went to ${url} before, and come here from now on.\n`,
  )
})

it('an example says in words that its port is in use, or that a document is not there', async () => {
  const occupant = createServer().listen(0, '127.0.0.1')
  await once(occupant, 'listening')
  onTestFinished(() => void occupant.close())
  const address = occupant.address()
  const port = String(typeof address === 'object' ? address?.port : undefined)
  for (const [script, environment, files, said] of [
    [
      'hello-bot',
      { BOT_PORT: port, BOT_NAME: 'Late bot' },
      [],
      `Port ${port} is in use, perhaps by`,
    ],
    ['knowledge-bot', {}, ['absent.pdf'], 'There is no file absent.pdf: give the path'],
    ['knowledge-bot', {}, [checkout], `${checkout} is no file: give the files in it`],
    ['desk-integration', {}, ['Nobody'], 'There is no bot "Nobody": start it first'],
  ] as const) {
    const started = startExample(server(), script, environment, files)
    const error = String(await started.catch((thrown: unknown) => thrown))
    expect(error).toContain(said)
    expect(error).not.toMatch(/^ +at |node:|Node\.js/m)
  }
  const { bots } = await existingClient(server()).listBots({})
  expect(bots.some(({ name }) => name === 'Knowledge bot')).toBe(false)
})

it('an example finds the server of the checkout, whatever its port is', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'botstead-data-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'admin-token'), `${server().token}\n`)
  const note = { address: 'http://localhost:1', local: server().url, pid: process.pid }
  await writeFile(join(folder, 'server.address'), JSON.stringify(note))
  const environment = { BOTSTEAD_URL: '', BOTSTEAD_TOKEN: '', BOTSTEAD_DATA_DIR: folder }
  const bot = await startExample(server(), 'hello-bot', { ...environment, BOT_NAME: 'Found' })
  expect((await ask(server(), bot.webhookId, 'Anybody?')).payload).toMatchObject({
    text: 'Anybody?',
  })
})

it('the order bot of the guide to the SDK starts', async () => {
  const { webhookId } = await startExample(server(), 'order-bot')
  expect((await ask(server(), webhookId, 'hello')).payload).toMatchObject({
    text: 'What would you like?',
  })
})

it('uses the token in the data folder of the server', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'botstead-data-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const environment = { BOTSTEAD_TOKEN: '', BOTSTEAD_DATA_DIR: folder, BOT_NAME: 'By folder' }
  await expect(startExample(server(), 'hello-bot', environment)).rejects.toThrow(
    `There is no token in ${join(folder, 'admin-token')}`,
  )
  await writeFile(join(folder, 'admin-token'), '\n')
  await expect(startExample(server(), 'hello-bot', environment)).rejects.toThrow(
    'There is no token in',
  )
  await writeFile(join(folder, 'admin-token'), `${server().token}\n`)
  const { webhookId } = await startExample(server(), 'hello-bot', environment)
  expect((await ask(server(), webhookId, 'Anybody?')).payload).toMatchObject({ text: 'Anybody?' })
})

it('prints advice when no server responds, without the token', async () => {
  const token = 'bp_pat_of_nobody'
  const nowhere = { url: `http://127.0.0.1:${await freePort()}`, token }
  for (const [to, said] of [
    [nowhere, `No server responds at ${nowhere.url}: "npm start" starts one`],
    [{ url: server().url, token }, `The server at ${server().url} does not know this token`],
  ] as const) {
    const started = startBotProcess(to, ['examples/hello-bot/main.mjs'], /listens/)
    const error = await started.catch((thrown: unknown) => String(thrown))
    expect(error).toContain(said)
    expect(error).not.toContain(token)
    expect(error).not.toMatch(/^ +at |node:|Node\.js/m)
  }
})

it('logs the failure of a handler with its stack, and continues', async () => {
  const { bot: made } = await existingClient(server()).createBot({ name: 'Failing bot' })
  const { id: botId, signingSecret } = made
  const environment = { BOT_NAME: 'Failing bot', BOT_SECRET: signingSecret }
  const bot = await startExample(server(), 'hello-bot', environment)
  const message = { id: 'msg_x', type: 'text', payload: { text: 'x' }, conversationId: 'conv_x' }
  const payload = { message, conversation: { id: 'conv_of_nobody' }, user: {} }
  const headers = {
    'x-bot-id': botId,
    'x-bp-operation': 'event_received',
    'x-bp-type': 'message_created',
    'x-bp-configuration': 'e30=',
  }
  const body = JSON.stringify({ event: { id: 'evt_x', type: 'message_created', payload } })
  const { sign, call } = callerOf(addressIn(bot.output()), signingSecret, headers)
  expect(await call(body, sign(body))).toBe(400)
  await vi.waitFor(() => {
    expect(bot.output()).toMatch(
      /there is no conversation .*\n( +at .*\n)*? +at .*hello-bot\/bot\.mjs:\d+/,
    )
  })
  expect(bot.output()).not.toContain(server().token)
  expect((await ask(server(), bot.webhookId, 'Anybody?')).payload).toMatchObject({
    text: 'Anybody?',
  })
})

it('a bot runs without the token of a person, as the guide to production states', async () => {
  const admin = existingClient(server())
  const { bot: made } = await admin.createBot({ name: 'In production' })
  const { value: key } = await admin.createBotApiKey({ botId: made.id, note: 'production' })
  const whole = { BP_API_URL: server().url, BP_TOKEN: key, BOT_SECRET: made.signingSecret }
  const start = (environment: Record<string, string>) => {
    const without = { ...whole, BOTSTEAD_TOKEN: '', BOTSTEAD_URL: '', ...environment }
    return startBotProcess(server(), ['examples/production-bot.mjs'], /listens at/, without)
  }
  for (const missing of Object.keys(whole)) {
    const error = await start({ [missing]: '' }).catch((thrown: unknown) => thrown)
    expect(String(error)).toContain(`${missing} is empty: set it to`)
    expect(String(error)).toContain('with status 1')
    expect(String(error)).not.toContain('listens')
  }

  await using bot = await start({})
  const url = addressIn(bot.output())
  await admin.updateBot({ id: made.id, url })
  const webhookId = Object.values(made.integrations)[0]?.webhookId ?? ''
  expect((await ask(server(), webhookId, 'hello')).payload).toMatchObject({
    text: 'You said: hello',
  })
  await expectLoopback(url)
  await expectGuarded(url, made.signingSecret)
})

it('survives any request for the chat page, and logs why one failed', async () => {
  const bot = await startBotProcess(
    server(),
    ['examples/browser-chat/main.mjs'],
    /^Open http\S+$/m,
    { PAGE_PORT: '0' },
  )
  onTestFinished(() => bot.kill())
  const [, url = ''] = /^Open (\S+)$/m.exec(bot.output()) ?? []
  const { status } = await exchange(url, [request('GET //', ['Connection: close'])])
  expect(status).toBe(404)
  expect((await fetch(`${url}?chat=x`)).status).toBe(200)
})
