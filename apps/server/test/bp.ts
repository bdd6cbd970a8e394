import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll } from 'vitest'
import { checkout, withoutProxies } from './documents.js'
import type { TestServer } from './harness.js'
import { waitUntil } from './patience.js'

// The command line of the platform, unmodified, as developers install it from the registry.
const script = createRequire(import.meta.url).resolve('@botpress/cli/bin.js')

/** The outcome of a command that has ended. */
interface BpResult {
  /** Exit status; null if a signal ended it. */
  status: number | null
  /** Output to both streams, without colours. */
  output: string
  stdout: string
}

/** A command that runs until it is ended, such as `bp dev`. */
interface BpProcess {
  child: ChildProcess
  /** Its output so far. */
  output(): string
  /** Waits until it has written something that matches; rejects if it ends before. */
  wrote(what: RegExp): Promise<void>
  ended: Promise<BpResult>
  /** Ends it and the processes that it started without any warning. */
  kill(): Promise<void>
}

/** A developer: the command with a home of its own. */
interface Bp {
  /** Folder for projects, removed after the tests. */
  folder: string
  /** Runs a command to its end. */
  run(words: readonly string[], environment?: Record<string, string>): Promise<BpResult>
  /** Like `run`; rejects unless it succeeds. */
  succeed(words: readonly string[], environment?: Record<string, string>): Promise<BpResult>
  start(words: readonly string[], environment?: Record<string, string>): BpProcess
  /** Stores the address, token and workspace of a server, as all further commands use them. */
  login(server: Pick<TestServer, 'url' | 'token' | 'workspaceId'>): Promise<BpResult>
  /**
   * Copies a project of `test/projects`, with the SDK that this version of the command requires.
   * @param name of the copy; each has a state of its own
   * @returns its folder
   */
  project(
    source: 'chat-bot' | 'echo-bot' | 'messenger' | 'messenger-bot',
    name?: string,
  ): Promise<string>
}

/** The command for the tests of the surrounding `describe`; call the returned function inside a test. */
export function useBp(): () => Bp {
  let opened: { bp: Bp; close(): Promise<void> } | undefined
  beforeAll(async () => {
    opened = await openBp()
  })
  afterAll(async () => {
    await opened?.close()
  })
  return () => {
    if (opened === undefined) throw new Error('The command is there only while a test runs')
    return opened.bp
  }
}

async function openBp(): Promise<{ bp: Bp; close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'botstead-bp-'))
  const home = join(folder, 'home')
  const running = new Set<BpProcess>()

  function start(words: readonly string[], environment = {}): BpProcess {
    const child = spawn(process.execPath, [script, ...words, '--botpressHome', home, '-y'], {
      cwd: folder,
      // A group of its own, so that the worker of `bp dev` can be ended with it.
      detached: true,
      env: { ...withoutProxies(process.env), ...offline, HOME: folder, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const begun = follow(child)
    running.add(begun)
    begun.ended.finally(() => running.delete(begun)).catch(() => {})
    return begun
  }

  async function run(words: readonly string[], environment = {}): Promise<BpResult> {
    return await start(words, environment).ended
  }

  async function succeed(words: readonly string[], environment = {}): Promise<BpResult> {
    const result = await run(words, environment)
    if (result.status === 0) return result
    throw new Error(`bp ${words.join(' ')} ended with ${result.status}:\n${result.output}`)
  }

  async function project(source: string, name = source): Promise<string> {
    const target = join(folder, 'projects', name)
    await cp(join(checkout, 'apps/server/test/projects', source), target, { recursive: true })
    const modules = join(target, 'node_modules/@botpress')
    await mkdir(modules, { recursive: true })
    for (const part of ['sdk', 'client']) await symlink(packageOf(part), join(modules, part))
    return target
  }

  const bp: Bp = {
    folder,
    run,
    succeed,
    start,
    project,
    login: ({ url, token, workspaceId }) =>
      succeed(['login', '--apiUrl', url, '--token', token, '--workspaceId', workspaceId]),
  }
  return {
    bp,
    async close() {
      await Promise.all([...running].map((each) => each.kill()))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/**
 * The command asks the registry for its newest version first, and waits for the answer. An address that
 * no request can be made to lets that fail at once, which the command ignores.
 */
const offline = { npm_config_registry: 'file:///', FORCE_COLOR: '0' }

/** The folder of a package that the command brings with it. */
function packageOf(name: string): string {
  const main = createRequire(script).resolve(`@botpress/${name}`)
  return dirname(dirname(main))
}

function follow(child: ChildProcess): BpProcess {
  let stdout = ''
  let all = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    all += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    all += text
  })
  const output = () => stripVTControlCharacters(all)
  let hasEnded = false
  const ended = once(child, 'close').then(([status]): BpResult => {
    hasEnded = true
    return { status, output: output(), stdout: stripVTControlCharacters(stdout) }
  })
  return {
    child,
    output,
    ended,
    async wrote(what) {
      await waitUntil(() => what.test(output()) || hasEnded, { timeout: 30_000, interval: 20 })
      if (!what.test(output())) throw new Error(`It ended without writing ${what}:\n${output()}`)
    },
    async kill() {
      if (child.pid !== undefined && !hasEnded) killGroup(child.pid)
      await ended
    },
  }
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // All of it has ended by itself.
  }
}
