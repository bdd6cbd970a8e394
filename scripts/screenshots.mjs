import { spawn } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

// Pictures of the dashboard from the data of the demonstration. Without an argument: those of README and guide.
// With a folder: every screen, light and dark, wide and narrow, to be looked at before a release.

const root = fileURLToPath(new URL('../', import.meta.url))
const pictures = join(root, 'docs/guides/images')
const port = 8899
const wide = { width: 1280, height: 800 }
const narrow = { width: 390, height: 844 }
const phone = { width: 400, height: 600 }

/** Screens by their name, with what opens an item and the address of that, and what is typed. */
const screens = [
  { name: 'home', path: 'home' },
  { name: 'conversations', path: 'conversations' },
  { name: 'conversation', path: 'conversations', open: 'main table a' },
  { name: 'deliveries', path: 'deliveries' },
  { name: 'delivery', path: 'deliveries?status=failed', open: 'main table a' },
  { name: 'logs', path: 'logs' },
  { name: 'files', path: 'files', ofBot: true },
  { name: 'file', path: 'files', ofBot: true, open: 'main table a' },
  { name: 'search', path: 'search?q=How+does+the+server+stop%3F', ofBot: true },
  { name: 'evaluation', path: 'search?tab=sets', ofBot: true },
  { name: 'bots', path: 'bots' },
  { name: 'bot', path: 'bots', open: 'main table a' },
  { name: 'issues', path: 'bots/{bot}?tab=issues', ofBot: true },
  {
    name: 'web-chat-settings',
    path: 'bots/{bot}?tab=webchat',
    ofBot: true,
    size: { width: 1600, height: 900 },
    fill: [
      ['Title', 'Guide to Botstead'],
      ['Description', 'Answers from the manual, with page and link.'],
      ['Colour', '#7a2f8f'],
      ['Greeting', 'Hello! What would you like to **know**?'],
      ['Suggested questions', 'How does the server stop?\nWhere are files kept?'],
    ],
  },
  { name: 'try', path: 'try', ofBot: true },
  { name: 'integrations', path: 'integrations' },
  { name: 'data', path: 'data', ofBot: true },
  { name: 'jobs', path: 'jobs' },
  { name: 'workspace', path: 'workspace' },
]

/** Pictures of the documents. */
const documented = [
  ['conversation', 'light'],
  ['conversation', 'dark'],
  ['search', 'light'],
  ['home', 'light'],
  ['delivery', 'dark'],
  ['web-chat-settings', 'light'],
]

async function startDemo() {
  const demo = spawn(
    process.execPath,
    ['apps/server/bin/botstead.js', 'demo', '--port', `${port}`],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let written = ''
  const link = await new Promise((resolve, reject) => {
    demo.stdout.setEncoding('utf8').on('data', (text) => {
      written += text
      const found = /http\S+\/dashboard\/sign-in#\S+/.exec(written)
      if (found !== null && written.includes('Ctrl-C')) resolve(found[0])
    })
    demo.once('exit', () => reject(new Error(`The demonstration ended:\n${written}`)))
  })
  return { demo, link }
}

async function takeAll(page, base, taken) {
  const bot = await firstBot(page)
  for (const { screen, theme, size, file } of taken) {
    await page.setViewportSize(size)
    await page.emulateMedia({ colorScheme: theme })
    await page.goto(`${base}/${screen.ofBot ? bot : 'all'}/${screen.path.replace('{bot}', bot)}`)
    await settled(page)
    if (screen.open !== undefined) {
      await page.locator(screen.open).first().click()
      await settled(page)
    }
    for (const [label, text] of screen.fill ?? []) {
      await page.getByLabel(label, { exact: true }).fill(text)
    }
    if (screen.fill !== undefined) {
      await page.locator('main input').first().focus()
      await settled(page)
    }
    await mkdir(dirname(file), { recursive: true })
    await page.screenshot({ path: file })
    process.stdout.write(`${file}\n`)
  }
}

/** Takes a picture of the web chat of the demonstration, with a question and its answer. */
async function takeWidget(page, base, file) {
  const bot = await firstBot(page)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.goto(`${base}/all/bots/${bot}?tab=webchat`)
  const link = await page.locator('main a[href*="/webchat/"]').getAttribute('href')
  await page.setViewportSize(phone)
  await page.goto(link)
  await page.getByRole('textbox', { name: 'Message' }).fill('How does the server stop?')
  await page.keyboard.press('Enter')
  // The question is a message of its own.
  await page.locator('[role=log] .message').nth(1).waitFor()
  await settled(page)
  await page.screenshot({ path: file })
  process.stdout.write(`${file}\n`)
}

/** Waits until nothing is loaded. Screens that show news never end their streams, so that it has a limit. */
async function settled(page) {
  await page.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => undefined)
  await page.waitForTimeout(500)
}

/** Id of the bot of the demonstration, from the list in which the reader chooses one. */
async function firstBot(page) {
  return await page.locator('select[aria-label="Bot"] option').nth(1).getAttribute('value')
}

function everyPicture(folder) {
  return screens.flatMap((screen) =>
    ['light', 'dark'].flatMap((theme) =>
      Object.entries({ wide, narrow }).map(([name, size]) => ({
        screen,
        theme,
        size,
        file: join(folder, `${screen.name}-${theme}-${name}.png`),
      })),
    ),
  )
}

const documentedPictures = documented.map(([name, theme]) => ({
  screen: screens.find((screen) => screen.name === name),
  theme,
  size: screens.find((screen) => screen.name === name).size ?? wide,
  file: join(pictures, `${name}-${theme}.png`),
}))

const folder = process.argv[2]
const { demo, link } = await startDemo()
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
})
try {
  const page = await browser.newPage({ viewport: wide })
  await page.goto(link)
  await page.waitForURL(/\/all\/home$/)
  const base = page.url().replace(/\/all\/home$/, '')
  await page.locator('select[aria-label="Bot"] option').nth(1).waitFor({ state: 'attached' })
  await takeAll(page, base, folder === undefined ? documentedPictures : everyPicture(folder))
  await takeWidget(page, base, join(folder ?? pictures, 'web-chat.png'))
} finally {
  await browser.close()
  demo.kill()
}
