import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { inject } from 'vitest'
import { waitUntil } from './patience.js'
import { freePort } from './ports.js'

const bundled = inject('command')

/** Milliseconds of fair time that a server takes at most to start, also on tables to be migrated. */
const startMs = 10_000

/** The real command in a process of its own, to be killed. */
export interface ServerProcess extends AsyncDisposable {
  url: string
  /** Ends the process without any warning, as a power failure would. */
  kill(): Promise<void>
  /** Asks the process to stop; returns its exit status. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
  /** The exit status, once it has ended and its output is complete. */
  exited: Promise<number | null>
  /** Output of the process so far. */
  output(): string
  child: ChildProcess
}

/**
 * Starts `botstead start` and waits until it serves, however busy the machine is.
 * @param probe path that responds with success once the server is ready
 * @param command the script to start; that of this checkout, bundled, by default
 */
export async function startServerProcess(
  environment: Record<string, string>,
  probe = '/readyz',
  command = bundled,
): Promise<ServerProcess> {
  const port = environment.PORT ?? String(await freePort())
  // No search of a test is slow by itself, but a machine may be too busy for it.
  const patient = { BOTSTEAD_SEARCH_TIMEOUT_MS: '1m' }
  const child = spawn(process.execPath, [command, 'start'], {
    env: { ...withoutSettings(process.env), PORT: port, ...patient, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit')
  // All output has been read by then, which the exit alone does not mean.
  const exited: Promise<number | null> = once(child, 'close').then(([status]) => status)
  let written = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      written += chunk
    })
  }
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  const url = `http://127.0.0.1:${port}`
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  await waitUntil(async () => hasEnded() || (await isReady(`${url}${probe}`)), {
    timeout: startMs,
    interval: 10,
  })
  if (hasEnded()) {
    throw new Error(`The server ended with status ${await exited}:\n${written}`)
  }
  return {
    url,
    child,
    exited,
    output: () => written,
    kill,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal)
      return await exited
    },
    [Symbol.asyncDispose]: kill,
  }
}

/**
 * Runs the command to its end, as at a prompt.
 * @param input what it reads, if anything
 * @param command the script to start; that of this checkout, bundled, by default
 */
export async function runCommand(
  words: readonly string[],
  environment: Record<string, string> = {},
  input = '',
  command = bundled,
): Promise<{ status: number | null; stdout: string; stderr: string }> {
  // The usual port may be in use on the machine of who runs the tests.
  const port = words[0] === 'start' ? { PORT: '0' } : {}
  const child = spawn(process.execPath, [command, ...words], {
    env: { ...withoutSettings(process.env), ...port, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.on('error', () => {}).end(input)
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { status, stdout, stderr }
}

async function isReady(probe: string): Promise<boolean> {
  try {
    return (await fetch(probe)).ok
  } catch {
    return false
  }
}

/** The settings of the person who runs the tests must not reach the server under test. */
function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const foreign = /^(BOTSTEAD_|DATABASE_URL$|PORT$|HOST$|LOG_LEVEL$)/
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !foreign.test(name)))
}
