import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
} from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { createCommandPlace } from '../command-place.js'
import { checkout, withoutProxies } from '../documents.js'
import { runCommand, startServerProcess } from '../processes.js'

const server = join(checkout, 'apps/server')
const run = promisify(execFile)

/** The parent of the temporary folder of the demonstration. */
let temporary = ''
/** The home of its user, in which it says where that folder is. */
let home = ''
beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'botstead-demo-test-'))
  // As the temporary folder of a system, through which every user may go.
  await chmod(temporary, 0o711)
  home = await mkdtemp(join(tmpdir(), 'botstead-demo-home-'))
})
afterAll(async () => {
  await rm(temporary, { recursive: true })
  await rm(home, { recursive: true })
})

/** The user who starts the demonstration and whose commands find it. */
const environmentOfUser = () => ({
  ...withoutProxies(process.env),
  TMPDIR: temporary,
  HOME: home,
  XDG_STATE_HOME: '',
})

interface Demo {
  status: number | null
  output: string
}

interface DemoRun {
  /** The program; that of this checkout, bundled, by default. */
  command?: string
  /** Called with the output when the demonstration waits for Ctrl-C. */
  meanwhile?: (output: string) => Promise<void>
}

/** Runs the demonstration. */
async function runDemo(
  options: readonly string[],
  environment: Record<string, string> = {},
  { command = inject('command'), meanwhile }: DemoRun = {},
): Promise<Demo> {
  const child = spawn(process.execPath, [command, 'demo', ...options], {
    env: { ...environmentOfUser(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const closed = once(child, 'close')
  let output = ''
  const waits = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
        if (output.includes('Ctrl-C')) resolve()
      })
    }
  })
  if (meanwhile !== undefined) {
    await Promise.race([waits, closed])
    try {
      await meanwhile(output)
    } finally {
      // As Ctrl-C in a terminal, which every process of the group gets.
      process.kill(-(child.pid ?? 0), 'SIGINT')
    }
  }
  const [status] = await closed
  return { status, output }
}

/** Ids of the processes that run the code of a bot. */
async function programsOf(botId: string): Promise<string[]> {
  const { stdout } = await run('ps', ['-eo', 'pid,args'])
  const lines = stdout.split('\n').filter((line) => line.endsWith(` bot=${botId}`))
  return lines.map((line) => line.trim().split(' ')[0] ?? '')
}

/** Runs a line in the folder of a checkout, as a person pastes it; returns what it writes. */
async function paste(line: string): Promise<string> {
  // The npm of newer versions of Node would keep what it compiles in the temporary folder.
  const env = { ...environmentOfUser(), NODE_DISABLE_COMPILE_CACHE: '1' }
  const options = { cwd: checkout, env }
  return (await run('sh', ['-c', `exec 2>&1; ${line}`], options)).stdout
}

interface LineAnswer {
  messages?: unknown[]
}

/** Runs a line; the one that reads the conversation is repeated until the bot has replied. */
async function runLine(line: string): Promise<LineAnswer> {
  const { stdout } = await run('sh', ['-c', line], { env: withoutProxies(process.env) })
  const answer: LineAnswer = JSON.parse(stdout)
  if (answer.messages !== undefined) expect(answer.messages).toHaveLength(4)
  return answer
}

describe('botstead dashboard beside a demonstration', () => {
  it('prints its link in a folder without data of its own, and keeps it from other users', async () => {
    const folder = await mkdtemp(join(home, 'elsewhere-'))
    const place = join(home, '.local/state/botstead/demo')
    const dashboard = (...options: string[]) =>
      run(process.execPath, [inject('command'), 'dashboard', ...options], {
        cwd: folder,
        env: environmentOfUser(),
      })
    const { status } = await runDemo(
      ['--port', '0'],
      {},
      {
        meanwhile: async (output) => {
          const [, address = 'no address'] = /is running at (\S+),/.exec(output) ?? []
          const { stdout } = await dashboard()
          expect(stdout).toMatch(/^http:\S+\/dashboard\/sign-in#\S+\n$/)
          const [link, code = ''] = stdout.trim().split('#')
          expect(link).toBe(`${address}/dashboard/sign-in`)
          const response = await fetch(`${address}/v1/admin/sessions`, {
            method: 'POST',
            headers: { origin: address, 'content-type': 'application/json' },
            body: JSON.stringify({ code }),
          })
          expect(response.status).toBe(201)
          expect((await stat(place)).mode & 0o077).toBe(0)
          expect((await stat(await readFile(place, 'utf8'))).mode & 0o077).toBe(0)
        },
      },
    )
    expect(status).toBe(0)
    await expect(dashboard('--demo')).rejects.toThrow('No demonstration runs')
    await expect(stat(place)).rejects.toThrow('ENOENT')
  })
})

describe('commands beside a demonstration', () => {
  it('use it where the server of the folder does not run, and say so', async () => {
    await using place = await createCommandPlace()
    const environment = { ...environmentOfUser(), ...place.environment, PORT: '1' }
    const botstead = (words: string[], input = '') => runCommand(words, environment, input)
    const none = await botstead(['dashboard'])
    expect(none).toMatchObject({ status: 1, stdout: '' })
    expect(none.stderr).toMatch(
      /^No server responds at http:\/\/localhost:1, and no demon.*"npm start"/,
    )
    expect((await botstead(['bots', 'list'])).stderr).toMatch(/^No server responds at .*: start it/)
    const meanwhile = async (output: string) => {
      const [, address = 'no address'] = /is running at (\S+),/.exec(output) ?? []
      const notice = `No server of this folder runs: using the demonstration at ${address}.\n`
      const link = await botstead(['dashboard'])
      expect(link).toMatchObject({
        status: 0,
        stdout: expect.stringContaining(`${address}/dashboard/sign-in#`),
        stderr: expect.stringContaining(notice),
      })
      const [listed, said, found, variables] = await Promise.all([
        botstead(['bots', 'list']),
        botstead(['chat', '--bot', 'Guide'], 'How does the server stop?\n'),
        botstead(['search', 'How does the server stop?']),
        botstead(['env']),
      ])
      // After the search, which asks for the bot where there are two.
      const plain = join(checkout, 'examples/plain-bot.cjs')
      const deployed = await botstead(['deploy', plain, '--bot', 'P', '--create'])
      for (const { status, stderr } of [listed, said, found, deployed, variables]) {
        expect([status, stderr]).toEqual([0, expect.stringContaining(notice)])
      }
      expect(listed.stdout).toMatch(/ {2}Guide$/m)
      expect(said.stdout).toContain('Guide: “')
      expect(found.stdout).toContain('1. botstead.md')
      expect(variables.stdout).toMatch(
        new RegExp(`^API=${address}\nTOKEN=bp_pat_.+\nWORKSPACE=.+\n$`),
      )
      expect((await botstead(['logs', '--bot', 'Guide'])).stdout).toContain('passages answer')
      // Its address is enough for its token.
      const named = await botstead(['bots', 'list', '--url', address])
      expect(named).toMatchObject({ status: 0, stderr: '' })

      const { port } = new URL(address)
      expect(await runCommand(['start'], { ...environment, PORT: port })).toMatchObject({
        status: 1,
        stderr: `Port ${port} is in use by the demonstration: press Ctrl-C in its terminal, or set PORT to another port.\n`,
      })

      const own = { ...place.environment, BOTSTEAD_ADMIN_TOKEN: 'the-token-of-the-folder' }
      await using server = await startServerProcess(own)
      await vi.waitFor(async () =>
        expect(await botstead(['bots', 'list'])).toEqual({
          status: 0,
          stdout: '',
          stderr: 'There are no bots: "npx botstead bots create First" makes one.\n',
        }),
      )
      const ownLink = await botstead(['dashboard'])
      expect(ownLink.stdout).toContain(server.url.replace('127.0.0.1', 'localhost'))
      expect(ownLink.stderr).not.toContain('demonstration')
      const ofAccount = await botstead(['dashboard', '--account', 'Admin@localhost'])
      expect(ofAccount.stdout).toMatch(/\/dashboard\/sign-in#bp_code_/)
      const unknown = await botstead(['dashboard', '--account', 'nobody@example.com'])
      expect(unknown).toMatchObject({
        status: 1,
        stderr: 'There is no account with the address nobody@example.com.\n',
      })
    }
    expect((await runDemo(['--port', '0'], {}, { meanwhile })).status).toBe(0)
    expect(await botstead(['dashboard'])).toMatchObject({ status: 1, stdout: '' })
  })
})

describe('the demonstration', () => {
  it('makes every call and ends with status 0, on a free port when its own is in use', async () => {
    const occupant = createServer().listen(0, '127.0.0.1')
    await once(occupant, 'listening')
    const address = occupant.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const { status, output } = await runDemo(['--once', '--port', String(port)])
    occupant.close()
    expect(status, output).toBe(0)
    expect(output).toContain(`Port ${port} is in use, so a free one is taken.`)
    expect(output).toMatch(/PUT \/uploads\/\S+ {2}200 {2}\d+ ms/)
    expect(output).toMatch(
      /1\. (?:0\.\d\d|1\.00) {2}botstead\.md › How Botstead works › What happens/,
    )
    expect(output.match(/POST \/chat\/[\w-]+\/messages {2}201/g)).toHaveLength(3)
    expect(output).toMatch(/GET \/chat\/\S+\/listen {2}200/)
    expect(output).toMatch(/Deploy a bot .*\n {4}PUT \/v1\/admin\/bots\/\S+ {2}200/)
    expect(output).toMatch(
      /Guide answers, \d+ ms after the question:\n {4}“[^”]+”\n {4}— botstead\.md › /,
    )
    expect(output).not.toContain('\u001b')
    // The log has nothing to say of what the demonstration itself does.
    expect(output).not.toMatch(/"level":/)
    expect(await readdir(temporary)).toEqual([])
  })

  it('prints lines that work as pasted, and removes its folder after Ctrl-C', async () => {
    const answers: unknown[] = []
    let botId = ''
    const meanwhile = async (output: string) => {
      for (const [line] of output.matchAll(/^ {2}curl .*$/gm)) {
        const answer = await vi.waitFor(() => runLine(line), { interval: 50 })
        answers.push(answer)
      }
      const [shareLink = ''] = /http:\S+\/webchat\/[\w-]+$/m.exec(output) ?? []
      expect(await (await fetch(shareLink)).text()).toContain('<title>Guide</title>')
      botId = /x-bot-id: ([\w-]+)/.exec(output)?.[1] ?? ''
      expect(await programsOf(botId)).toHaveLength(1)
      const [deploy = ''] = /npx botstead deploy .+/.exec(output) ?? []
      const deployed = await paste(deploy)
      expect(deployed).toMatch(/^Deployed bot\.cjs \(\d+ kB\) to Guide/)
      const next = /^Next:\n((?: {2}.+\n)+)/m.exec(deployed)?.[1]?.trimEnd().split('\n') ?? []
      expect(next).toHaveLength(2)
      const [chat = '', logs = ''] = next
      expect(await paste(`echo 'How does the server stop?' | ${chat}`)).toContain('Guide: “')
      expect(await paste(logs)).toContain('passages answer')
    }
    const { status, output } = await runDemo(['--port', '0'], {}, { meanwhile })
    expect(output).toMatch(/\nStopping …\n$/)
    expect(answers).toMatchObject([
      { passages: [{ file: { key: 'botstead.md' } }] },
      { message: { payload: { type: 'text', text: 'How does the server stop?' } } },
      {
        messages: [
          { payload: { text: expect.stringContaining('— botstead.md › ') } },
          ...[{ payload: { text: 'How does the server stop?' } }, {}, {}],
        ],
      },
      { bots: [{ name: 'Guide' }] },
    ])
    expect(status).toBe(0)
    expect(await programsOf(botId)).toEqual([])
    expect(await readdir(temporary)).toEqual([])
  })

  it('prints advice when a step fails, and exits with status 1', async () => {
    // As behind a broken proxy: no call reaches the server.
    const refuse = `globalThis.fetch = async () => {
      throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })
    }`
    const { status, output } = await runDemo(['--once', '--port', '0'], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(refuse)}`,
    })
    expect(status).toBe(1)
    expect(output).toContain('1  Create a bot')
    expect(output).toMatch(/✗ .*ECONNREFUSED/)
    expect(output.replaceAll(/\s+/g, ' ')).toContain('If this machine uses a proxy')
    expect(output).not.toContain('Open a conversation')
  })

  it('needs nothing but the package and what it depends on', async () => {
    const command = await installPackage(join(temporary, 'installed'))
    const { status, output } = await runDemo(['--once', '--port', '0'], {}, { command })
    await rm(join(temporary, 'installed'), { recursive: true })
    expect(status, output).toBe(0)
    expect(output).toContain('Guide answers')
  })
})

interface Package {
  name: string
  files: string[]
  dependencies: Record<string, string>
}

/**
 * The server as it is installed: the files of its package, and its dependencies. Development dependencies
 * cannot be resolved from there.
 * @returns the path of its program
 */
async function installPackage(folder: string): Promise<string> {
  const text = await readFile(join(server, 'package.json'), 'utf8')
  const { name, files, dependencies }: Package = JSON.parse(text)
  const installed = join(folder, 'node_modules', name)
  for (const each of ['package.json', ...files]) {
    await cp(join(server, each), join(installed, each), { recursive: true })
  }
  for (const dependency of Object.keys(dependencies)) {
    const link = join(folder, 'node_modules', dependency)
    await mkdir(dirname(link), { recursive: true })
    await symlink(await folderOf(dependency), link)
  }
  return join(installed, 'bin/botstead.js')
}

/** The folder of a dependency of the server: its own, or that of the root. */
async function folderOf(dependency: string): Promise<string> {
  const own = join(server, 'node_modules', dependency)
  return await realpath(own).catch(() => realpath(join(checkout, 'node_modules', dependency)))
}
