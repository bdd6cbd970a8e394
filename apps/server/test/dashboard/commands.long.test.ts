import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { browserPath, newPage } from '../browser.js'
import { checkout } from '../documents.js'
import { type TestServer, useServer } from '../harness.js'
import { eventually } from '../jobs.js'
import { uploadText } from '../tenant.js'
import { openDashboard } from './page.js'
import { useShell } from './shell.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'

/** A name of a bot, or a message, by which its author wants to run commands in the shell of people who copy one. */
const hostile = `-x 'a' "b" $(touch owned) \`touch owned\`\n; touch owned #\u001b[201~\u0085 !!`

/** Folder of the sources of the pages. */
const sources = join(checkout, 'apps/dashboard/src')

/** The functions that make commands, with patterns that distinguish their commands. */
const makers: Record<string, RegExp> = {
  botstead: /^npx botstead /,
  npm: /^npm /,
  curlOf: /^curl [^\n]+\n {2}-H "Authorization: Bearer \$BOTSTEAD_TOKEN"/,
  curlOfContent: /^curl -T /,
  curlOfRequest: /^curl --globoff /,
}
/** The functions that make words of commands or code, and no command. */
const makersOfWords = ['anyBot', 'botInCode']

/** Keeps what the buttons of a page copy. */
const keepCopies = `Object.defineProperty(navigator, 'clipboard', {
  value: { writeText: async (text) => { (window.copies ??= []).push(text) } },
})`

/** All commands on a page, and those that its buttons copy. */
const commandsOfPage = `(() => {
  const shown = [...document.querySelectorAll('figure')]
    .filter((figure) => /^(Command|curl)/.test(figure.querySelector('figcaption')?.innerText))
    .map((figure) => figure.querySelector('pre').textContent)
  const named = [...document.querySelectorAll('code')].map((code) => code.textContent)
    .filter((text) => /^(npx|npm|curl) /.test(text))
  for (const button of document.querySelectorAll('button')) {
    if (button.innerText.trim() === 'Copy as curl' || button.title === 'Copy the request') button.click()
  }
  return [...new Set([...shown, ...named, ...(window.copies ?? [])])]
})()`

/** A page, with the number of commands on it that each file of its source prints. */
interface Visit {
  /** Below the workspace and its bot. */
  path: string
  prints: Record<string, number>
  bot?: string
  /** Makes the page show them. */
  prepare?: (page: Page) => Promise<unknown>
}

/** The pages of a workspace without anything. */
const emptyPages: readonly Visit[] = [
  { path: 'home', prints: { 'screens/home/first-steps.tsx': 5 } },
  { path: 'files', prints: { 'ui/choose-bot.tsx': 1 } },
  { path: 'bots', prints: { 'screens/bots/bots.tsx': 2 } },
  {
    path: 'deliveries',
    prints: { 'screens/deliveries/no-deliveries.tsx': 2, 'screens/deliveries/deliveries.tsx': 1 },
  },
  { path: 'conversations', prints: { 'screens/conversations/conversations.tsx': 1 } },
  { path: 'logs', prints: { 'screens/logs/no-lines.tsx': 1, 'screens/logs/logs.tsx': 1 } },
  { path: 'integrations', prints: { 'screens/integrations/integrations.tsx': 1 } },
]

interface Ids {
  /** A bot that got a message. */
  busy: string
  /** A bot without anything. */
  quiet: string
  deliveryId: string
  setId: string
}

/** The pages of bots. */
function pagesOf({ busy, quiet, deliveryId, setId }: Ids): Visit[] {
  return [
    { path: 'home', bot: quiet, prints: {} },
    { path: 'deliveries', bot: quiet, prints: {} },
    { path: 'conversations', bot: quiet, prints: {} },
    { path: 'logs', bot: quiet, prints: {} },
    { path: 'files', bot: quiet, prints: { 'screens/files/files.tsx': 3 } },
    {
      path: 'files',
      bot: quiet,
      prints: { 'screens/files/uploads/upload-dialog.tsx': 1 },
      prepare: async (page) => {
        const buffer = Buffer.from('A')
        const files = Array.from({ length: 1000 }, (_, at) => `${at}.txt`).map((name) => ({
          name,
          mimeType: 'text/plain',
          buffer,
        }))
        await page.getByLabel('Files to upload').setInputFiles(files)
        await page.getByRole('dialog').waitFor()
      },
    },
    { path: 'search', bot: busy, prints: { 'screens/search/search.tsx': 2 } },
    { path: 'search?q=Who pays trips?', bot: busy, prints: { 'screens/search/search.tsx': 1 } },
    {
      path: 'search?tab=sets',
      bot: quiet,
      prints: { 'screens/search/evaluation/sets.tsx': 1 },
    },
    {
      path: `search/${setId}?tab=sets`,
      bot: busy,
      prints: { 'screens/search/evaluation/runs.tsx': 1 },
    },
    {
      path: 'deliveries?dialog=test&status=failed',
      bot: busy,
      prints: { 'screens/deliveries/test-dialog.tsx': 1, 'screens/deliveries/deliveries.tsx': 1 },
    },
    {
      path: 'deliveries?dialog=replay',
      bot: busy,
      prints: { 'screens/deliveries/replay-dialog.tsx': 1 },
    },
    {
      path: `deliveries/${deliveryId}`,
      bot: busy,
      prints: {
        'screens/deliveries/attempt.tsx': 1,
        'screens/deliveries/delivery-detail.tsx': 1,
        'screens/deliveries/deliveries.tsx': 1,
      },
      prepare: async (page) => {
        await page.getByRole('button', { name: 'More actions' }).click()
        await page.getByRole('menuitem', { name: 'Copy the call of the replay as curl' }).click()
      },
    },
    {
      path: 'conversations?failed=no&text=touch',
      bot: busy,
      prints: { 'screens/conversations/export-dialog.tsx': 1 },
      prepare: (page) => page.getByRole('button', { name: 'Export' }).click(),
    },
    { path: 'logs?minLevel=warn', bot: busy, prints: { 'screens/logs/logs.tsx': 1 } },
    { path: `bots/${quiet}`, prints: { 'screens/bots/talk-to-bot.tsx': 1 } },
  ]
}

/** The page for browsers that are not signed in: for a password, and for a token. */
const signIn: readonly Visit[] = [
  { path: 'sign-in', prints: { 'frame/sign-in.tsx': 2 } },
  {
    path: 'sign-in',
    prints: { 'frame/sign-in.tsx': 1 },
    prepare: (page) => page.getByRole('button', { name: 'Use a token' }).click(),
  },
]

/** The commands of pages, in the order in which they stand there. */
async function commandsOf(
  page: Page,
  open: (path: string, bot?: string) => Promise<unknown>,
  { path, bot, prints, prepare }: Visit,
): Promise<string[]> {
  await open(path, bot)
  await prepare?.(page)
  const printed = Object.values(prints).reduce((sum, count) => sum + count, 0)
  return await vi.waitFor(async () => {
    const commands = await page.evaluate<string[]>(commandsOfPage)
    expect(commands.length, `commands of ${path}`).toBeGreaterThanOrEqual(Math.max(printed, 1))
    return commands
  })
}

/** Runs each command once with what its reader has; fails unless all succeed and make nothing else in the folder. */
async function runAll(server: TestServer, commands: Iterable<string>, botId: string) {
  const { run, created } = await useShell(server)
  let uploadUrl = ''
  for (const command of new Set(commands)) {
    // It has no characters that act on a terminal when it is pasted.
    expect(command).not.toMatch(/(?!\n)\p{Cc}/u)
    expect(command).not.toMatch(/\bundefined\b/)
    const variables = { BOT: botId, UPLOAD_URL: uploadUrl }
    const isBot = command === 'npm run hello-bot'
    const { stdout } = await run(command, { variables, ...(isBot && { until: /botstead chat/ }) })
    uploadUrl = /"uploadUrl":"([^"]+)"/.exec(stdout)?.[1] ?? uploadUrl
  }
  expect(await created()).toEqual([])
}

/** Fails unless there is a command of each function. */
function expectCommandsOf(names: readonly string[], commands: readonly string[]) {
  const found = names.filter((name) => commands.some((command) => makers[name]?.test(command)))
  expect(found).toEqual(names)
}

describe.skipIf(browserPath === undefined)(`the commands of an empty workspace ${title}`, () => {
  const server = useServer()

  it('work in the shell of their reader', async () => {
    const signInPage = await newPage()
    const toSignIn = (path: string) => signInPage.goto(`${server().url}/dashboard/${path}`)
    const ofSignIn: string[] = []
    for (const visit of signIn) ofSignIn.push(...(await commandsOf(signInPage, toSignIn, visit)))
    expect(new Set(ofSignIn)).toEqual(
      new Set(['npx botstead account reset you@example.com', 'npx botstead dashboard']),
    )
    const { page, open, faults } = await openDashboard(server())
    await page.addInitScript(keepCopies)
    const printed: string[] = []
    for (const visit of emptyPages) printed.push(...(await commandsOf(page, open, visit)))
    expectCommandsOf(['botstead', 'npm', 'curlOf'], printed)
    expect(faults).toEqual([])

    // Without a bot, none can be named: that of the reader is in a variable, or is the only one.
    const ofOnly = printed.filter((each) => !each.includes('$BOT'))
    const makesBots = (each: string) => /admin\/bots' |admin\/bots \\|hello-bot/.test(each)
    const { account } = await server().client().getAccount()
    const forReader = ofSignIn.map((each) => each.replace('you@example.com', account.email))
    await runAll(server(), ['npx botstead bots create First', ...forReader], '')
    const { bots } = await server().client().listBots({})
    const botId = bots[0]?.id ?? ''
    await server()
      .client()
      .updateBot({ id: botId, url: await startReceiver(() => {}) })
    const rest = ofOnly.filter((each) => !each.startsWith('npx botstead bots create'))
    await runAll(
      server(),
      [
        ...rest.filter((each) => !makesBots(each)),
        ...printed.filter((each) => each.includes('$BOT')),
        ...rest.filter(makesBots),
      ],
      botId,
    )
    const { bots: all } = await server().client().listBots({})
    expect(all).toHaveLength(3)
  })
})

describe.skipIf(browserPath === undefined)(`the commands of bots ${title}`, () => {
  const server = useServer()

  it('work in the shell of their reader, whatever others wrote', async () => {
    const ids = await seed(server())
    const { page, open, faults } = await openDashboard(server())
    await page.addInitScript(keepCopies)
    const printed: string[] = []
    for (const visit of pagesOf(ids)) printed.push(...(await commandsOf(page, open, visit)))
    expect(printed.join('\n')).not.toContain('$BOT ')
    expectCommandsOf(Object.keys(makers), printed)
    expect(faults).toEqual([])
    await runAll(server(), printed, '')
  })

  it('send the request of a delivery again, byte by byte', async () => {
    const bodies: string[] = []
    const url = await startReceiver(async (body) => bodies.push(body))
    const { bot } = await server().client().createBot({ name: hostile, url })
    await say(server(), bot)
    const delivery = await untilDelivered(server(), bot.id)
    const { page, open } = await openDashboard(server())
    await page.addInitScript(keepCopies)
    await open(`deliveries/${delivery}`, bot.id)
    await page.getByTitle('Copy the request').waitFor()
    const commands = await page.evaluate<string[]>(commandsOfPage)
    const command = commands.find((each) => makers.curlOfRequest?.test(each)) ?? ''
    const before = bodies.length
    await runAll(server(), [command], '')
    expect(bodies).toHaveLength(before + 1)
    expect(bodies.at(-1)).toBe(bodies[before - 1])
  })
})

describe('the commands of the dashboard', () => {
  it('are made by functions that these tests know', async () => {
    const module = await readFile(join(sources, 'ui/commands.ts'), 'utf8')
    const exported = [...module.matchAll(/^export (?:async )?\w+ (\w+)/gm)].map(([, name]) => name)
    expect(exported.toSorted()).toEqual([...Object.keys(makers), ...makersOfWords].toSorted())
  })

  it('are all run: each file that prints some has a page in these tests', async () => {
    const call = new RegExp(`\\b(?:${Object.keys(makers).join('|')})\\(`, 'g')
    const printing: Record<string, number> = {}
    const foreign: string[] = []
    for (const path of await readdir(sources, { recursive: true })) {
      if (!/\.tsx?$/.test(path) || path === 'ui/commands.ts') continue
      const code = (await readFile(join(sources, path), 'utf8')).replaceAll(
        /\/\*[\s\S]*?\*\/|\/\/.*/g,
        '',
      )
      const calls = code.match(call)?.length ?? 0
      if (calls > 0) printing[path] = calls
      if (
        /\b(?:npx \w|npm (?:run|install|ci)\b|curl -|botstead (?:chat|files|bots)\b)/.test(code)
      ) {
        foreign.push(path)
      }
    }
    const ids = { busy: '', quiet: '', deliveryId: '', setId: '' }
    const shown: Record<string, number> = {}
    for (const { prints } of [...signIn, ...emptyPages, ...pagesOf(ids)]) {
      for (const [path, count] of Object.entries(prints)) {
        // The search prints other commands before a question than after it, and the sign-in for a token than for a
        // password; other files print the same on each page.
        const hasForms = ['screens/search/search.tsx', 'frame/sign-in.tsx'].includes(path)
        const before = hasForms ? (shown[path] ?? 0) : 0
        shown[path] = before + count
      }
    }
    expect(shown).toEqual(printing)
    expect(foreign).toEqual([])
  })
})

/** Listens for deliveries; its address has characters that are patterns for curl. */
async function startReceiver(take: (body: string) => unknown): Promise<string> {
  const receiver = createServer(async (request, response) => {
    await take(await textOf(request))
    response.end('{}')
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void receiver.close())
  const address = receiver.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/{a,b}[1-2]`
}

type Bot = Awaited<ReturnType<ReturnType<TestServer['client']>['createBot']>>['bot']

/** A hostile message of a new chat user. */
async function say(server: TestServer, bot: Bot): Promise<void> {
  const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
  const { key: userKey } = await server.client({ webhookId }).chatCreateUser({})
  const chat = server.client({ webhookId, userKey })
  const { conversation } = await chat.chatCreateConversation({})
  const payload = { type: 'text' as const, text: hostile }
  await chat.chatCreateMessage({ conversationId: conversation.id, payload })
}

/** The id of the delivery to a bot that got one message. */
async function untilDelivered(server: TestServer, botId: string): Promise<string> {
  return await eventually(async () => {
    const { deliveries } = await server.client().listDeliveries({ id: botId })
    expect(deliveries.map(({ status }) => status)).toEqual(['delivered'])
    return deliveries[0]?.id ?? ''
  })
}

async function seed(server: TestServer): Promise<Ids> {
  const url = await startReceiver(() => {})
  const { bot: busy } = await server.client().createBot({ name: hostile, url })
  const { bot: quiet } = await server.client().createBot({ name: hostile, url })
  await say(server, busy)
  const deliveryId = await untilDelivered(server, busy.id)
  const client = server.client({ botId: busy.id })
  const file = await uploadText(client, 'travel.txt', 'Trips are paid within 30 days.', true)
  const { evaluationSet } = await client.createEvaluationSet({ name: hostile.slice(0, 100) })
  const right = [{ fileId: file.id }]
  await client.createEvaluationCase({ id: evaluationSet.id, question: 'Who pays trips?', right })
  return { busy: busy.id, quiet: quiet.id, deliveryId, setId: evaluationSet.id }
}
