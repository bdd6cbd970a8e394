import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { checkout, withoutProxies } from '../documents.js'

const command = join(checkout, 'apps/server/bin/botstead.js')
const run = promisify(execFile)

/** Where the demonstration makes its temporary folder. */
let temporary = ''
beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'botstead-demo-test-'))
})
afterAll(async () => {
  await rm(temporary, { recursive: true })
})

interface Demo {
  status: number | null
  output: string
}

/**
 * Runs the demonstration.
 * @param meanwhile called when it waits for Ctrl-C, with what it has written
 */
async function runDemo(
  options: readonly string[],
  environment: Record<string, string> = {},
  meanwhile?: (output: string) => Promise<void>,
): Promise<Demo> {
  const child = spawn(process.execPath, [command, 'demo', ...options], {
    env: { ...withoutProxies(process.env), TMPDIR: temporary, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
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
      child.kill('SIGINT')
    }
  }
  const [status] = await closed
  return { status, output }
}

interface LineAnswer {
  messages?: unknown[]
}

/** Pastes a line; the one that reads the conversation again, until the bot has answered. */
async function runLine(line: string): Promise<LineAnswer> {
  const { stdout } = await run('sh', ['-c', line], { env: withoutProxies(process.env) })
  const answer: LineAnswer = JSON.parse(stdout)
  if (answer.messages !== undefined) expect(answer.messages).toHaveLength(4)
  return answer
}

describe('the demonstration', () => {
  it('makes every call and ends with status 0', async () => {
    const { status, output } = await runDemo(['--once', '--port', '0'])
    expect(status, output).toBe(0)
    expect(output).toMatch(/PUT \/uploads\/\S+ {2}200 {2}\d+ ms/)
    expect(output).toMatch(/1\. 0\.\d\d {2}ARCHITECTURE\.md › Architecture › What happens/)
    expect(output.match(/POST \/chat\/[\w-]+\/messages {2}201/g)).toHaveLength(3)
    expect(output).toMatch(/GET \/chat\/\S+\/listen {2}200/)
    expect(output).toMatch(
      /Guide answers, \d+ ms after the question:\n {4}“[^”]+”\n {4}— ARCHITECTURE\.md › /,
    )
    expect(output).not.toContain('\u001b')
    expect(await readdir(temporary)).toEqual([])
  })

  it('gives lines that work as pasted, and removes its folder after Ctrl-C', async () => {
    const answers: unknown[] = []
    let botAddress = ''
    const { status } = await runDemo(['--port', '0'], {}, async (output) => {
      for (const [line] of output.matchAll(/^ {2}curl .*$/gm)) {
        const answer = await vi.waitFor(() => runLine(line), { timeout: 15_000, interval: 50 })
        answers.push(answer)
      }
      botAddress = /listens at (\S+)/.exec(output)?.[1] ?? ''
      expect(await (await fetch(`${botAddress}/health`)).text()).toBe('ok')
    })
    expect(answers).toMatchObject([
      { passages: [{ file: { key: 'ARCHITECTURE.md' } }] },
      { message: { payload: { type: 'text', text: 'How does the server stop?' } } },
      {
        messages: [
          { payload: { text: expect.stringContaining('— ARCHITECTURE.md › ') } },
          ...[{ payload: { text: 'How does the server stop?' } }, {}, {}],
        ],
      },
      { bots: [{ name: 'Guide' }] },
    ])
    expect(status).toBe(0)
    await expect(fetch(`${botAddress}/health`)).rejects.toThrow('fetch failed')
    expect(await readdir(temporary)).toEqual([])
  })

  it('takes a free port when its own is in use', async () => {
    const occupant = createServer().listen(0, '127.0.0.1')
    await once(occupant, 'listening')
    const address = occupant.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const { status, output } = await runDemo(['--once', '--port', String(port)])
    occupant.close()
    expect(status, output).toBe(0)
    expect(output).toContain(`Port ${port} is in use, so a free one is taken.`)
  })

  it('says what to do when a step fails, and ends with status 1', async () => {
    // Nothing listens behind this proxy, so no call reaches the server.
    const { status, output } = await runDemo(['--once', '--port', '0'], {
      HTTP_PROXY: 'http://127.0.0.1:9',
      http_proxy: 'http://127.0.0.1:9',
      NO_PROXY: '',
      no_proxy: '',
    })
    expect(status).toBe(1)
    expect(output).toContain('1  Create a bot')
    expect(output).toMatch(/✗ .*ECONNREFUSED/)
    expect(output.replaceAll(/\s+/g, ' ')).toContain('If this machine uses a proxy')
    expect(output).not.toContain('Open a conversation')
  })
})
