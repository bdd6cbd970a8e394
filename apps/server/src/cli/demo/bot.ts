import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { DemoError } from './explain.js'

const example = fileURLToPath(
  new URL('../../../../../examples/knowledge-bot/main.mjs', import.meta.url),
)
/** Longest wait for the bot to listen, in milliseconds. */
const startPatience = 30_000
/** What it writes when it listens. */
const ready = /listens at (\S+)\n/

/** The example bot that answers from documents, as a process of its own. */
export interface DemoBot extends AsyncDisposable {
  /**
   * Starts it; it makes itself known to the server and answers from then on.
   * @returns where the server reaches it
   */
  start(options: DemoBotOptions): Promise<string>
}

interface DemoBotOptions {
  address: string
  token: string
  /** Name of the bot to be. */
  name: string
  /** Path of the document to answer from. */
  document: string
}

/** A bot that is not started yet; disposing ends it. */
export function createDemoBot(): DemoBot {
  let child: ChildProcess | undefined
  return {
    async start({ address, token, name, document }) {
      // Nothing of the caller's environment: a demonstration asks no language model of theirs.
      const env = { BOTSTEAD_URL: address, BOTSTEAD_TOKEN: token, BOT_NAME: name, BOT_PORT: '0' }
      child = spawn(process.execPath, [example, document], {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      return await untilReady(child)
    },
    async [Symbol.asyncDispose]() {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
      child.kill()
      await once(child, 'exit')
    },
  }
}

async function untilReady(child: ChildProcess): Promise<string> {
  let written = ''
  const listens = new Promise<string>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        // What it says later, about each question, is for its own terminal.
        if (written.length < 10_000) written += text
        const address = ready.exec(written)?.[1]
        if (address !== undefined) resolve(address)
      })
    }
  })
  const ended = once(child, 'exit').then(() => undefined)
  const late = AbortSignal.timeout(startPatience)
  const isLate = once(late, 'abort').then(() => undefined)
  const address = await Promise.race([listens, ended, isLate])
  if (address !== undefined) return address
  throw new DemoError(
    `The bot did not start: ${written.trim() || 'it wrote nothing.'}`,
    'It is examples/knowledge-bot, with the bot SDK that "npm ci" installs. If this checkout has no changes, please open an issue with this output.',
  )
}
