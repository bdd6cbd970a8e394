import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { browserPath } from '../browser.js'
import { type TestServer, useServer } from '../harness.js'
import { eventually } from '../jobs.js'
import { openDashboard } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'

/** A name of a bot, or a message, by which its author wants to run commands in the shell of people who copy one. */
const hostile = `-x 'a' "b" $(touch owned) \`touch owned\`\n; touch owned #\u001b[201~\u0085 !!`

/** All commands on the page, and those that its buttons copy. */
const commandsOfPage = `(async () => {
  const shown = [...document.querySelectorAll('main figure')]
    .filter((figure) => /^(Command|curl)/.test(figure.querySelector('figcaption').innerText))
    .map((figure) => figure.querySelector('pre').textContent)
  const steps = [...document.querySelectorAll('main li code')].map((code) => code.textContent)
  const copied = []
  navigator.clipboard.writeText = async (text) => { copied.push(text) }
  for (const button of document.querySelectorAll('main button')) {
    if (button.innerText.trim() === 'Copy as curl') button.click()
  }
  return [...shown, ...steps, ...copied]
})()`

/** A folder with the files that the commands name, and a shell in it that finds `npx botstead`. */
async function useShell({ url, token }: TestServer) {
  const folder = await mkdtemp(join(tmpdir(), 'botstead-shell-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const bin = join(folder, 'bin')
  await mkdir(join(folder, 'handbook'), { recursive: true })
  await mkdir(bin)
  const programs = {
    npx: `[ "$1" = botstead ] || exit 1\nshift\nexec '${process.execPath}' '${inject('command')}' "$@"`,
    // Refusals count as failures.
    curl: `PATH=\${PATH#*:}\nexec curl --fail-with-body --silent --show-error "$@"`,
  }
  for (const [name, body] of Object.entries(programs)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${body}\n`)
    await chmod(join(bin, name), 0o755)
  }
  const content = 'Trips are paid within 30 days.\n'
  await writeFile(join(folder, 'travel.txt'), content)
  await writeFile(join(folder, 'handbook', 'travel.txt'), content)
  const before = await readdir(folder)
  return {
    run: (command: string, variables: Record<string, string>) =>
      new Promise<string>((resolve, reject) => {
        const env = { BOTSTEAD_URL: url, BOTSTEAD_TOKEN: token, HOME: folder, ...variables }
        const child = execFile(
          '/bin/sh',
          ['-c', command],
          { cwd: folder, env: { ...env, PATH: `${bin}:${process.env.PATH}` } },
          (error, stdout, stderr) =>
            error ? reject(new Error(`${command}\n${stdout}${stderr}`)) : resolve(stdout),
        )
        child.stdin?.end()
      }),
    /** Whether a command did something else. */
    created: async () => (await readdir(folder)).filter((name) => !before.includes(name)),
  }
}

describe.skipIf(browserPath === undefined)(`the commands that pages print ${title}`, () => {
  const server = useServer()

  it('send the request of a delivery again, byte by byte', async () => {
    const bodies: string[] = []
    const receiver = createServer(async (request, response) => {
      bodies.push(await textOf(request))
      response.end()
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void receiver.close())
    const address = receiver.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const { bot } = await server()
      .client()
      .createBot({ name: hostile, url: `http://127.0.0.1:${port}/{a,b}[1-2]` })
    const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
    const { key: userKey } = await server().client({ webhookId }).chatCreateUser({})
    const chat = server().client({ webhookId, userKey })
    const { conversation } = await chat.chatCreateConversation({})
    const payload = { type: 'text' as const, text: hostile }
    await chat.chatCreateMessage({ conversationId: conversation.id, payload })
    const received = await eventually(async () => {
      const { deliveries } = await server().client().listDeliveries({ id: bot.id })
      expect(deliveries.map(({ status }) => status)).toEqual(['delivered'])
      return deliveries
    })
    const { page, open } = await openDashboard(server())
    const { run, created } = await useShell(server())
    await open(`deliveries/${received[0]?.id}`, bot.id)
    await page.getByTitle('Copy the request').waitFor()
    const commands = await page.evaluate<string[]>(commandsOfPage)
    const [command = ''] = commands.filter((each) => each.includes('--data-raw'))
    // It has no characters that act on a terminal when it is pasted.
    expect(command).not.toMatch(/(?!\n)\p{Cc}/u)
    const before = bodies.length
    await run(command, {})
    expect(bodies).toHaveLength(before + 1)
    expect(bodies.at(-1)).toBe(bodies[before - 1])
    expect(await created()).toEqual([])
  })
})
