import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/** A call as a bot got it. */
interface BotCall {
  headers: Record<string, string>
  /** The body as text, as it was signed. */
  body: string
}

export interface HttpBot {
  url: string
  port: number
  /** Every call so far, but for pings. */
  calls(): Promise<BotCall[]>
  /** Texts of the messages of a conversation in the order of the calls, with the attempt of each. */
  told(conversationId?: string): Promise<{ text: string; attempt: number }[]>
  kill(): Promise<void>
}

type Manner = 'echo' | 'slow' | 'shaky' | 'refusing' | 'crashing' | 'hanging' | 'garbage'

const script = fileURLToPath(new URL('./fixtures/http-bot.mjs', import.meta.url))

/** Starts a bot in a process of its own, which ends with the test. */
export async function startHttpBot(manner: Manner = 'echo', port = 0): Promise<HttpBot> {
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
  onTestFinished(async () => {
    await kill()
    await rm(folder, { recursive: true, force: true })
  })
  const [line] = await once(child.stdout, 'data')
  const own = Number(String(line))
  async function calls(): Promise<BotCall[]> {
    const text = await readFile(file, 'utf8').catch(() => '')
    const all = text.split('\n').filter((row) => row !== '')
    return all
      .map((row): BotCall => JSON.parse(row))
      .filter(({ headers }) => headers['x-bp-operation'] !== 'ping')
  }
  return {
    url: `http://127.0.0.1:${own}/bot`,
    port: own,
    calls,
    kill,
    async told(conversationId) {
      const told = (await calls()).map(({ headers, body }) => {
        // An event for a bot, or a signal for the webhook of a chat.
        const { event, data } = JSON.parse(body)
        const { payload } = event === undefined ? data : (event.payload?.message ?? {})
        return {
          conversationId: (event ?? data).conversationId,
          text: String(payload?.text),
          attempt: Number(headers['x-botstead-attempt']),
        }
      })
      return told
        .filter((call) => conversationId === undefined || call.conversationId === conversationId)
        .map(({ text, attempt }) => ({ text, attempt }))
    },
  }
}
