import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { checkout, withoutProxies } from '../documents.js'
import { useServer } from '../harness.js'

const example = join(checkout, 'examples/five-calls.mjs')
const server = useServer()

async function runExample({ url, token } = server()): Promise<string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [example, url, token], {
    env: withoutProxies(process.env),
  })
  return stdout.trimEnd().split('\n')
}

it('makes the five calls with the client packages, and again with the same bot', async () => {
  const [bot, found, conversation, ...messages] = await runExample()
  expect(bot).toMatch(/^bot +[\w-]{36}$/)
  expect(found).toBe('found        3 passages, the best in ARCHITECTURE.md')
  expect(conversation).toMatch(/^conversation conv_\w{26}$/)
  expect(messages).toEqual([
    'message      {"type":"text","text":"Is anybody there?"}',
    'message      {"type":"audio","audioUrl":"https://example.com/hello.mp3"}',
  ])
  const [sameBot, , another] = await runExample()
  expect(sameBot).toBe(bot)
  expect(another).not.toBe(conversation)
})

it('finds the server by the file .env that the server reads too', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'botstead-example-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const { url, token } = server()
  await writeFile(join(folder, '.env'), `PORT=${new URL(url).port}\nBOTSTEAD_TOKEN=${token}\n`)
  const { PORT: _, BOTSTEAD_URL, BOTSTEAD_TOKEN, ...env } = withoutProxies(process.env)
  const { stdout } = await promisify(execFile)(process.execPath, [example], { cwd: folder, env })
  expect(stdout).toMatch(/^bot +[\w-]{36}$/m)
})

it('prints one line of advice for an unknown token', async () => {
  const failed = await runExample({ ...server(), token: 'bp_pat_of_nobody' }).catch(String)
  expect(failed).toContain(`The server at ${server().url} does not know this token`)
  expect(String(failed).length).toBeLessThan(2000)
})

it('prints advice when the port of the chat page is in use', async () => {
  const { port } = new URL(server().url)
  const page = promisify(execFile)(
    process.execPath,
    [join(checkout, 'examples/browser-chat/main.mjs')],
    { env: { ...process.env, PAGE_PORT: port } },
  )
  await expect(page).rejects.toMatchObject({
    code: 1,
    stderr: `Port ${port} is in use: PAGE_PORT=0 takes a free one.\n`,
  })
})
