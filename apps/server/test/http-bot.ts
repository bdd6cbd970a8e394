import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { freePort } from './ports.js'

/** A call as a bot got it. */
interface BotCall {
  headers: Record<string, string>
  /** The body as text, as it was signed. */
  body: string
}

export interface HttpBot {
  url: string
  port: number
  /** Every call so far, but for pings and registrations. */
  calls(): Promise<BotCall[]>
  /** Texts of the messages of a conversation in the order of the calls, with the attempt of each. */
  received(conversationId?: string): Promise<{ text: string; attempt: number }[]>
  kill(): Promise<void>
}

type Manner =
  | 'echo'
  | 'slow'
  | 'gathering'
  | 'shaky'
  | 'refusing'
  | 'crashing'
  | 'hanging'
  | 'garbage'
  | 'babbling'
  | 'endless'
  | 'dripping'

const script = fileURLToPath(new URL('./fixtures/http-bot.mjs', import.meta.url))

/** Starts a bot in a process of its own, which ends with the test. */
export async function startHttpBot(manner: Manner = 'echo', port?: number): Promise<HttpBot> {
  const { end, ...bot } = await spawnBot(manner, port)
  onTestFinished(end)
  return bot
}

/** A process for all tests of the surrounding `describe`, in which each bot has a path of its own. */
export function useHttpBots(): { as(manner?: Manner): HttpBot } {
  let running: Awaited<ReturnType<typeof spawnBot>> | undefined
  let bots = 0
  beforeAll(async () => {
    running = await spawnBot('echo')
  })
  afterAll(async () => {
    await running?.end()
  })
  return {
    as(manner = 'echo') {
      if (running === undefined) throw new Error('The bots are there only while a test runs')
      bots += 1
      return running.at(`/${manner}/${bots}`)
    },
  }
}

async function spawnBot(manner: Manner, given?: number) {
  const port = given ?? (await freePort())
  const folder = await mkdtemp(join(tmpdir(), 'botstead-bot-'))
  const file = join(folder, 'calls.jsonl')
  const child = spawn(process.execPath, [script, file, manner, String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }
  await once(child.stdout, 'data')

  function at(path: string): HttpBot {
    async function calls(): Promise<BotCall[]> {
      const text = await readFile(file, 'utf8').catch(() => '')
      const all = text.split('\n').filter((row) => row !== '')
      return all
        .map((row): BotCall & { url: string } => JSON.parse(row))
        .filter(
          ({ url, headers }) =>
            url.replace(/\/$/, '') === path &&
            !/^(ping|register)$/.test(headers['x-bp-operation'] ?? ''),
        )
    }
    return {
      url: `http://127.0.0.1:${port}${path}`,
      port,
      calls,
      kill,
      async received(conversationId) {
        const received = (await calls()).map(({ headers, body }) => {
          // An event for a bot, or a signal for the webhook of a chat.
          const { event, data } = JSON.parse(body)
          const { payload } = event === undefined ? data : (event.payload?.message ?? {})
          return {
            conversationId: (event ?? data).conversationId,
            text: String(payload?.text),
            attempt: Number(headers['x-botstead-attempt']),
          }
        })
        return received
          .filter((call) => conversationId === undefined || call.conversationId === conversationId)
          .map(({ text, attempt }) => ({ text, attempt }))
      },
    }
  }

  return {
    ...at('/bot'),
    at,
    async end() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
