import { createHmac } from 'node:crypto'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { pdf, sentences } from '../../../../packages/documents/test/pdf.js'
import { startBotProcess } from '../bot-processes.js'
import { checkout, readDocument } from '../documents.js'
import { connect, existingClient } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { startLanguageModel } from '../language-model.js'
import { freePort } from '../ports.js'
import { exchange, request } from '../raw-http.js'

const server = useServer()

/** Starts an example as its guide describes; returns its chat address, which the example prints. */
async function startExample(
  name: string,
  environment: Record<string, string> = {},
  files: readonly string[] = [],
) {
  const words = [`examples/${name}/main.mjs`, ...files]
  const bot = await startBotProcess(server(), words, /botstead chat --bot/, environment)
  onTestFinished(() => bot.kill())
  const [address = '', webhookId = ''] = /http\S+\/chat\/(\S+)/.exec(bot.output()) ?? []
  return { ...bot, address, webhookId }
}

/** Sends a message to a bot, in a new conversation, and waits for its reply. */
async function ask(webhookId: string, text: string) {
  const ada = await connect(server(), webhookId)
  const { conversation } = await ada.createConversation({})
  const conversationId = conversation.id
  await ada.createMessage({ conversationId, payload: { type: 'text', text } })
  return await vi.waitFor(
    async () => {
      const { messages } = await ada.listMessages({ conversationId })
      const [answer] = messages.filter(({ userId }) => userId !== ada.user.id)
      if (answer === undefined) throw new Error(`There is no answer to "${text}"`)
      return answer
    },
    { interval: 50 },
  )
}

it('refuses calls that are not from the server, when it has the secret of the bot', async () => {
  const { bot: made } = await existingClient(server()).createBot({ name: 'Signed bot' })
  const { signingSecret } = made
  const environment = { BOT_NAME: 'Signed bot', BOT_SECRET: signingSecret }
  const bot = await startExample('hello-bot', environment)
  expect((await ask(bot.webhookId, 'Anybody?')).payload).toMatchObject({ text: 'Anybody?' })

  const [, url = ''] = /listens at (\S+)/.exec(bot.output()) ?? []
  const body = '{"event":{"type":"message_created"}}'
  const time = Math.floor(Date.now() / 1000)
  const sign = (secret: string, at = time) =>
    `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')}`
  const call = async (signature: string) => {
    const headers = {
      'x-bot-id': 'any',
      'x-bp-operation': 'ping',
      'x-bp-type': 'ping',
      'x-bp-configuration': 'e30=',
      'x-botstead-signature': signature,
    }
    return (await fetch(url, { method: 'POST', body, headers })).status
  }
  expect(await call(sign(signingSecret))).toBe(200)
  expect(await call(`${sign('another')},${sign(signingSecret).split(',')[1]}`)).toBe(200)
  expect(await call(sign('another'))).toBe(401)
  expect(await call(sign(signingSecret, time - 1000))).toBe(401)
  expect(await call('')).toBe(401)
  expect(await call('t=,v1=')).toBe(401)
})

it('starts the hello bot with one command, and finds its bot again at the next start', async () => {
  const first = await startExample('hello-bot')
  const { payload } = await ask(first.webhookId, 'hello')
  expect(payload).toEqual({ type: 'text', text: 'Hello! Try "story", "bloc" or "metadata".' })
  await first.kill()

  const second = await startExample('hello-bot')
  expect(second.address).toBe(first.address)
  expect((await ask(second.webhookId, 'Anybody?')).payload).toMatchObject({ text: 'Anybody?' })
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
  expect((await ask(webhookId, 'hello')).payload).toMatchObject({ text: 'You said: hello' })
})

it('uses the token in the data folder of the server', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'botstead-data-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const environment = { BOTSTEAD_TOKEN: '', BOTSTEAD_DATA_DIR: folder, BOT_NAME: 'By folder' }
  await expect(startExample('hello-bot', environment)).rejects.toThrow(
    `There is no token in ${join(folder, 'admin-token')}`,
  )
  await writeFile(join(folder, 'admin-token'), '\n')
  await expect(startExample('hello-bot', environment)).rejects.toThrow('There is no token in')
  await writeFile(join(folder, 'admin-token'), `${server().token}\n`)
  const { webhookId } = await startExample('hello-bot', environment)
  expect((await ask(webhookId, 'Anybody?')).payload).toMatchObject({ text: 'Anybody?' })
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
  }
})

it('logs the failure of a handler with its stack, and continues', async () => {
  const bot = await startExample('hello-bot', { BOT_NAME: 'Failing bot' })
  const { bots } = await existingClient(server()).listBots({})
  const botId = bots.find(({ name }) => name === 'Failing bot')?.id ?? ''
  const [, url = ''] = /listens at (\S+)/.exec(bot.output()) ?? []
  const message = { id: 'msg_x', type: 'text', payload: { text: 'x' }, conversationId: 'conv_x' }
  const payload = { message, conversation: { id: 'conv_of_nobody' }, user: {} }
  const headers = {
    'x-bot-id': botId,
    'x-bp-operation': 'event_received',
    'x-bp-type': 'message_created',
    'x-bp-configuration': 'e30=',
  }
  const body = JSON.stringify({ event: { id: 'evt_x', type: 'message_created', payload } })
  const answer = await fetch(url, { method: 'POST', headers, body })
  expect(answer.status).toBe(400)
  await vi.waitFor(() => {
    expect(bot.output()).toMatch(
      /there is no conversation .*\n( +at .*\n)*? +at .*hello-bot\/bot\.mjs:\d+/,
    )
  })
  expect(bot.output()).not.toContain(server().token)
  expect((await ask(bot.webhookId, 'Anybody?')).payload).toMatchObject({ text: 'Anybody?' })
})

it.each(['BP_TOKEN', 'BP_API_URL'])(
  'does not listen without %s, as the guide states',
  async (missing) => {
    const guide = await readDocument('docs/guides/bots.md')
    const [, indented = ''] = /^ {2}```js\n(.*?)^ {2}```$/ms.exec(guide) ?? []
    const folder = await mkdtemp(join(tmpdir(), 'botstead-own-bot-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await symlink(join(checkout, 'node_modules'), join(folder, 'node_modules'))
    const script = join(folder, 'my-bot.mjs')
    const made = `import { Bot } from '@botpress/sdk'\nconst bot = new Bot({ actions: {}, plugins: {} })\n`
    await writeFile(script, `${made}${indented.replace('8074', '0')}`)

    const whole = { BP_API_URL: server().url, BP_TOKEN: server().token }
    const start = (environment: Record<string, string>) =>
      startBotProcess(server(), [relative(checkout, script)], /Listening/, environment)
    await using bot = await start(whole)
    expect(bot.output()).toContain('Listening')
    const error = await start({ ...whole, [missing]: '' }).catch((thrown: unknown) => thrown)
    expect(String(error)).toContain(`${missing} is empty: set it to`)
    expect(String(error)).toContain('with status 1')
    expect(String(error)).not.toContain('Listening')
  },
)

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

describe('the knowledge bot', () => {
  let folder = ''
  let manual = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'botstead-knowledge-'))
    manual = join(folder, 'manual.pdf')
    const drawn = await pdf((document) => {
      document.fontSize(20).text('The pump').fontSize(11).text(sentences('pumps', 5))
      document.addPage().fontSize(20).text('Frost').fontSize(11)
      document.text('Drain the pump before the first frost. Open both valves for it.')
    })
    await writeFile(manual, drawn)
  })
  afterAll(async () => {
    await rm(folder, { recursive: true })
  })

  /** Starts the bot and waits until its documents are searchable. */
  async function startKnowing(environment: Record<string, string> = {}) {
    const terms = join(folder, 'terms.txt')
    const sentence = `The maker replaces ${'each seal and '.repeat(40)}each ring.`
    await writeFile(terms, `7. Guarantee on Seals. ${sentence}\n`)
    const models = join(folder, 'models.md')
    await writeFile(models, '| Model | Pressure |\n|---|---|\n| Tremolo | 17 bar |\n')
    const bot = await startExample('knowledge-bot', environment, [manual, terms, models])
    const { bots } = await existingClient(server()).listBots({})
    const botId = bots.find(({ name }) => name === 'Knowledge bot')?.id ?? ''
    const client = existingClient(server(), { botId })
    await vi.waitFor(
      async () => {
        for (const id of ['manual.pdf', 'terms.txt', 'models.md']) {
          const { file } = await client.getFile({ id })
          expect(file.status).toBe('indexing_completed')
        }
      },
      { interval: 50 },
    )
    return bot
  }
  const textOf = ({ payload }: Awaited<ReturnType<typeof ask>>) =>
    payload.type === 'text' ? payload.text : ''

  it('replies with quotes, page and link, and admits when it finds nothing', async () => {
    const { webhookId } = await startKnowing()
    const answer = textOf(await ask(webhookId, 'What has to be done before frost?'))
    expect(answer).toMatch(/^“Drain the pump before the first frost\. Open both valves for it\.”\n/)
    expect(answer).toContain('— manual.pdf › Frost, page 2\n')
    const link = /http\S+#page=2$/m.exec(answer)?.[0] ?? ''
    const content = await fetch(link)
    expect(content.headers.get('content-type')).toBe('application/pdf')
    expect(Buffer.from(await content.arrayBuffer())).toEqual(await readFile(manual))

    // The best sentence is only a name there, so the text after it is quoted as well, cut between words.
    const terms = textOf(await ask(webhookId, 'Who gives the guarantee on seals?'))
    expect(terms).toMatch(
      /^“Guarantee on Seals\. The maker replaces .+ (?:each|seal|and)…”\n— terms\.txt/,
    )
    expect(terms.split('\n')[0]?.length).toBeLessThan(425)

    // A row is quoted without the bars of its table.
    const pressure = textOf(await ask(webhookId, 'Which pressure has the Tremolo?'))
    expect(pressure).toMatch(/^“Model \| Pressure; Tremolo \| 17 bar”/)

    const nothing = textOf(await ask(webhookId, 'Who won the world cup in 1998?'))
    expect(nothing).toMatch(/^I found nothing about that in my documents\./)
    const hint = textOf(await ask(webhookId, 'hi, how are you?'))
    expect(hint).toMatch(/^Ask me about something in my documents/)
  })

  it('lets a language model write the reply, and quotes when that fails', async () => {
    await using model = await startLanguageModel()
    const { webhookId } = await startKnowing({
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODEL: 'small',
    })
    model.words = ['Drain ', 'the pump', ' [1].']
    const answer = textOf(await ask(webhookId, 'What has to be done before frost?'))
    expect(answer).toMatch(
      /^Drain the pump \[1\]\.\n\n\[1\] — manual\.pdf › Frost, page 2\n {2}http/,
    )
    expect(model.calls).toMatchObject([{ authorization: 'Bearer sk-test', model: 'small' }])
    expect(model.calls[0]?.prompt).toContain('Open both valves')

    model.breaks = true
    const quoted = textOf(await ask(webhookId, 'What has to be done before frost?'))
    expect(quoted).toMatch(/^“Drain the pump before the first frost\./)

    await ask(webhookId, 'Who won the world cup in 1998?')
    expect(model.calls).toHaveLength(2)
  })
})
