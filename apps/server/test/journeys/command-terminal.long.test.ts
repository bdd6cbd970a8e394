import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@botstead/contract'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type CommandPlace, createCommandPlace } from '../command-place.js'
import { runCommand, type ServerProcess, startServerProcess } from '../processes.js'
import { untilIndexed, uploadText } from '../tenant.js'

/** Clears the screen, renames the window, colours, hides and turns text around, and forges a line. */
const tricks =
  '\u001b[2J\u001b]0;owned\u0007\u009b31m\u0085\u202e\u200f\u2028\u2066\ufeff\r\nforged'
const evil = `evil${tricks}`
/** Characters that act on a terminal, besides ends of lines and tabs. */
const acting = /[^\n\t\P{Cc}]|[\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u

const token = `bp_pat_${'t'.repeat(43)}`

describe('names and texts of others', () => {
  let place: CommandPlace
  let server: ServerProcess
  let folder: string
  const bot = createServer((_, response) => {
    response.writeHead(400, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ code: 400, type: 'Unknown', message: evil, id: evil }))
  })
  /** The arguments of the commands. */
  let names: Awaited<ReturnType<typeof prepare>>

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'botstead-terminal-'))
    place = await createCommandPlace()
    server = await startServerProcess({
      ...place.environment,
      LOG_LEVEL: 'error',
      BOTSTEAD_ADMIN_TOKEN: token,
    })
    bot.listen(0, '127.0.0.1')
    await once(bot, 'listening')
    names = await prepare()
  })
  afterAll(async () => {
    bot.close()
    await server.kill()
    await place[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  async function fileOf(name: string, content: string): Promise<string> {
    await mkdir(join(folder, name, '..'), { recursive: true })
    await writeFile(join(folder, name), content)
    return join(folder, name)
  }

  async function prepare() {
    const account = createClient({ baseUrl: server.url, token })
    const [workspace] = (await account.listWorkspaces()).workspaces
    const workspaceId = workspace?.id ?? ''
    const admin = createClient({ baseUrl: server.url, token, workspaceId })
    await admin.createPersonalAccessToken({ note: evil })
    const address = bot.address()
    const url = typeof address === 'object' ? `http://127.0.0.1:${address?.port}/` : ''
    await admin.updateAccount({ displayName: evil })
    const { bot: made } = await admin.createBot({ name: evil, url })
    const botId = made.id
    const client = createClient({ baseUrl: server.url, token, botId })
    // A file with other control characters would not count as text.
    const text =
      '# Pump evil\u202e\n\nThe pump evil\u009b31m\u200f\u2066 moves water.\n\n<iframe src="evil\u202e.html"></iframe>'
    const first = await uploadText(client, `${evil}.md`, text, true)
    const other = await uploadText(client, `${evil} 2.md`, `${text} Not this.`, true)
    for (const { id } of [first, other]) {
      expect(await untilIndexed(client, id)).toMatchObject({ status: 'indexing_completed' })
    }
    const { evaluationSet } = await client.createEvaluationSet({ name: evil })
    await client.createEvaluationCase({
      id: evaluationSet.id,
      question: `What moves ${evil}?`,
      right: [{ fileId: other.id }],
    })
    const webhookId = Object.values(made.integrations)[0]?.webhookId ?? ''
    const { key: userKey } = await createClient({ baseUrl: server.url, webhookId }).chatCreateUser(
      {},
    )
    const chat = createClient({ baseUrl: server.url, webhookId, userKey })
    const { conversation } = await chat.chatCreateConversation({})
    const conversationId = conversation.id
    await chat.chatCreateMessage({ conversationId, payload: { type: 'text', text: evil } })
    const delivery = await vi.waitFor(async () => {
      const { deliveries } = await admin.listDeliveries({ id: botId, status: 'failed' })
      expect(deliveries[0]?.lastError).toContain('evil')
      return deliveries[0]?.id ?? ''
    })
    return { workspaceId, botId, delivery, evaluationSet: evaluationSet.id }
  }

  const ofServer = () => ({
    BOTSTEAD_URL: server.url,
    BOTSTEAD_TOKEN: token,
    BOTSTEAD_BOT: names.botId,
  })
  const run = (words: readonly string[], more: Record<string, string> = {}, input = '') =>
    runCommand(words, { ...place.environment, ...ofServer(), ...more }, input)

  interface Case {
    words(): string[] | Promise<string[]>
    environment?: Record<string, string>
    input?: string
  }

  const of = (...words: string[]): Case => ({ words: () => words })
  /** The text of others that each command prints; without a name if that is only its own argument. */
  const cases: Record<string, Case[]> = {
    start: [{ words: () => [], environment: { LOG_LEVEL: evil } }],
    demo: [{ words: () => ['--port', evil, '--once'] }],
    config: [
      { words: () => [], environment: { BOTSTEAD_EMBEDDINGS_MODEL: evil } },
      { words: () => [], environment: { LOG_LEVEL: evil } },
    ],
    'token create': [of(`--${evil}`)],
    'token list': [of()],
    'token revoke': [of(evil)],
    'account create': [of(evil)],
    'account reset': [of(evil)],
    'account list': [of()],
    dashboard: [{ words: () => [], environment: { BOTSTEAD_PUBLIC_URL: evil } }],
    env: [of('--workspace', evil)],
    'bots create': [of(`${evil} 3`), of(`${evil} 4`, '--json')],
    'bots list': [of(), of('--json'), of('--workspace', evil)],
    'bots get': [
      { words: () => [names.botId] },
      { words: () => [names.botId, '--json'] },
      of(evil.slice(0, -1)),
    ],
    'bots delete': [
      { words: async () => [await anotherBot(), '--yes'] },
      of(`no ${evil}`, '--yes'),
    ],
    deploy: [
      { words: async () => [await fileOf(`throwing-${evil}.cjs`, throwing)] },
      { words: async () => [await fileOf('printing.cjs', printing), '--bot', await anotherBot()] },
      {
        words: async () => [
          await fileOf('printing.cjs', printing),
          '--json',
          '--bot',
          await anotherBot(),
        ],
      },
    ],
    logs: [{ words: async () => ['--bot', await printingBot()] }, of('--json')],
    eval: [
      {
        words: () => [
          ...['--set', names.evaluationSet, '--settle', '0'],
          ...['--url', server.url, '--token', token, '--bot', names.botId],
        ],
      },
      {
        words: () => [
          ...['--set', names.evaluationSet, '--json', '-'],
          ...['--url', server.url, '--token', token, '--bot', names.botId],
        ],
      },
      of('--dataset', evil),
    ],
    'files put': [{ words: async () => [await fileOf('put.md', 'a'), evil, '--index'] }],
    'files get': [
      { words: () => [`${evil}.md`, join(folder, `got ${evil}`)] },
      of(`no ${evil}`, '-'),
    ],
    'files ls': [of(), of('--json')],
    'files rm': [of(`${evil}.md`, '--dry-run'), of(`${evil}-none`), of('-r', evil)],
    'files report': [of(`${evil}.md`), of(`${evil}.md`, '--json'), of(`no ${evil}`)],
    'files sync': [
      {
        words: async () => {
          await fileOf(`sync/${evil}.md`, 'a')
          return [join(folder, 'sync'), '--index', '--prefix', evil]
        },
      },
    ],
    search: [of('pump'), of('pump', '--json', '--explain'), of('pump', '--consolidate')],
    'deliveries list': [of()],
    'deliveries show': [{ words: () => [names.delivery] }],
    'deliveries replay': [of(evil)],
    'deliveries pause': [of('--integration', evil)],
    'deliveries resume': [of('--integration', evil)],
    'deliveries test': [of()],
    chat: [
      { words: () => ['--timeout', '1'], input: 'Hello\n' },
      { words: () => ['--conversation', evil], input: 'Hello\n' },
    ],
    reindex: [of(`${evil} 2.md`), of(evil)],
    doctor: [
      { words: () => [], environment: { LOG_LEVEL: evil } },
      { words: () => ['--json'], environment: { LOG_LEVEL: evil } },
    ],
    healthcheck: [of('--url', `http://127.0.0.1:1/${evil}`)],
    check: [{ words: () => [], environment: { LOG_LEVEL: evil } }],
    backup: [{ words: () => [join(folder, evil), '--no-encryption'] }],
    'backup list': [
      { words: () => [join(folder, evil), '--no-encryption'], environment: { LOG_LEVEL: evil } },
    ],
    'backup verify': [{ words: () => [join(folder, evil), '--backup', evil, '--no-encryption'] }],
    restore: [{ words: () => [join(folder, `none ${evil}`), '--backup', evil, '--no-encryption'] }],
  }

  const throwing = `throw new Error(${JSON.stringify(evil)})`
  const printing = `console.log(${JSON.stringify(evil)})
console.error(${JSON.stringify(evil)})
exports.handler = async () => ({ body: '{}' })`

  async function anotherBot(): Promise<string> {
    const admin = createClient({ baseUrl: server.url, token, workspaceId: names.workspaceId })
    return (await admin.createBot({ name: `${evil} again` })).bot.id
  }

  async function printingBot(): Promise<string> {
    const admin = createClient({ baseUrl: server.url, token, workspaceId: names.workspaceId })
    const id = await anotherBot()
    await admin.updateBot({ id, code: printing })
    await vi.waitFor(async () => {
      const { logs } = await admin.listLogs({ botId: id })
      expect(logs.some(({ message }) => message.includes('evil'))).toBe(true)
    })
    return id
  }

  it.each(Object.keys(cases))(
    '"%s" prints names and texts of others without control characters',
    async (command) => {
      for (const { words, environment, input } of cases[command] ?? []) {
        const { stdout, stderr } = await run(
          [...command.split(' '), ...(await words())],
          environment,
          input,
        )
        expect(stdout + stderr, `${command} printed nothing of it`).toContain('evil')
        expect(stdout).not.toMatch(acting)
        expect(stderr).not.toMatch(acting)
        expect(`${stdout}\n${stderr}`).not.toMatch(/^forged/m)
      }
    },
  )

  it('every command is tried with such names and texts', async () => {
    const partsOf = async (words: string[]): Promise<string[]> => {
      const { stdout } = await runCommand([...words, '--help'], {})
      const [, listed = ''] = stdout.split('\nCommands:\n')
      const parts = [...listed.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = '']) => name)
      return parts.filter((name) => name !== 'help')
    }
    const commands = await partsOf([])
    expect(commands.length).toBeGreaterThan(15)
    const all = await Promise.all(
      commands.map(async (name) => {
        const parts = (await partsOf([name])).map((part) => `${name} ${part}`)
        return name === 'backup' || parts.length === 0 ? [name, ...parts] : parts
      }),
    )
    expect(Object.keys(cases).sort()).toEqual(all.flat().sort())
  })
})
