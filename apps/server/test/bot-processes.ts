import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { checkout, withoutProxies } from './documents.js'
import type { TestServer } from './harness.js'

/** A bot as a process of its own. */
export interface BotProcess extends AsyncDisposable {
  /** Its output so far. */
  output(): string
  /** Kills it without a warning. */
  kill(): Promise<void>
}

/**
 * Starts a bot and waits until it says that it listens.
 * @param words script, from the folder of the checkout, and its arguments
 * @param until what it writes when it listens
 */
export async function startBotProcess(
  server: Pick<TestServer, 'url' | 'token'>,
  words: readonly string[],
  until: RegExp,
  environment: Record<string, string> = {},
): Promise<BotProcess> {
  const [script = '', ...rest] = words
  const child = spawn(process.execPath, [join(checkout, script), ...rest], {
    env: {
      ...withoutProxies(process.env),
      BOTSTEAD_URL: server.url,
      BOTSTEAD_TOKEN: server.token,
      BOT_PORT: '0',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const closed = once(child, 'close')
  let written = ''
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        written += text
        if (until.test(written)) resolve()
      })
    }
    closed.then(([status]) => {
      const how = `ended with status ${status} before it listened`
      reject(new Error(`${script} ${how}:\n${written}`))
    }, reject)
  })
  const kill = async () => {
    child.kill('SIGKILL')
    await closed
  }
  return { output: () => written, kill, [Symbol.asyncDispose]: kill }
}
