import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { withoutProxies } from '../documents.js'
import { useServer } from '../harness.js'
import { bundleCode, echoBot, talkTo } from '../hosted-code.js'
import { eventually } from '../jobs.js'
import { runCommand } from '../processes.js'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botstead-deploy-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true })
})

async function fileOf(name: string, code: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, code)
  return path
}

/** Code that prints when it gets an event, and replies with its secrets. */
const secretive = `exports.handler = async ({ headers, body }) => {
  if (headers['x-bp-type'] !== 'message_created') return { body: '{}' }
  const { event } = JSON.parse(body)
  console.log('got ' + event.payload.message.payload.text)
  const { BP_API_URL, BP_TOKEN, SECRET_A, SECRET_B } = process.env
  await fetch(BP_API_URL + '/v1/chat/messages', {
    method: 'POST',
    headers: {
      authorization: 'Bearer ' + BP_TOKEN,
      'content-type': 'application/json',
      'x-bot-id': headers['x-bot-id'],
    },
    body: JSON.stringify({
      conversationId: event.conversationId,
      userId: headers['x-bot-id'],
      type: 'text',
      tags: {},
      payload: { text: SECRET_A + ' and ' + SECRET_B },
    }),
  })
  return { body: '{}' }
}`

describe('botstead deploy', () => {
  const server = useServer()
  const environment = (more: Record<string, string> = {}) => ({
    BOTSTEAD_URL: server().url,
    BOTSTEAD_TOKEN: server().token,
    ...more,
  })
  const deploy = (words: readonly string[], more?: Record<string, string>) =>
    runCommand(['deploy', ...words], environment(more))
  /** The last member of a chat address. */
  const webhookIn = (text: string) => /\/chat\/([\w-]{36})/.exec(text)?.[1] ?? ''

  it('creates a bot from a file, which answers, and updates it', async () => {
    const file = await fileOf('echo.cjs', await bundleCode(echoBot('@botpress/sdk')))
    const made = await deploy([file, '--bot', 'Echo', '--create'])
    expect(made).toMatchObject({ status: 0 })
    expect(made.stdout).toMatch(/^Deployed echo\.cjs \(\d+ kB\) to Echo \(\S+\)\.\nhttp/)
    const { say, replies } = await talkTo(server(), webhookIn(made.stdout))
    await say('hello')
    await eventually(async () => expect(await replies()).toEqual(['echo: hello']))

    await fileOf('echo.cjs', await bundleCode(echoBot('@botpress/sdk', 'changed: ')))
    const again = await deploy([file, '--bot', 'Echo', '--create', '--json'])
    expect(again).toMatchObject({ status: 0, stderr: '' })
    expect(JSON.parse(again.stdout)).toMatchObject({ name: 'Echo', deployedAt: expect.anything() })
    expect(webhookIn(again.stdout)).toBe(webhookIn(made.stdout))
    await say('again')
    await eventually(async () => expect(await replies()).toEqual(['echo: hello', 'changed: again']))
  })

  it('gives the code secrets, also from its own environment, and shows its log as it grows', async () => {
    const file = await fileOf('secretive.cjs', secretive)
    const words = [file, '--bot', 'Secretive', '--create', '--secret', 'A=one=1', '--secret', 'B']
    expect(await deploy(words)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('The environment has no B'),
    })
    const made = await deploy(words, { B: 'two' })
    expect(made).toMatchObject({ status: 0 })
    const { say, replies } = await talkTo(server(), webhookIn(made.stdout))
    await say('first')
    await eventually(async () => expect(await replies()).toEqual(['one=1 and two']))

    const logs = (...more: string[]) =>
      runCommand(['logs', '--bot', 'Secretive', ...more], environment())
    await eventually(async () =>
      expect((await logs()).stdout).toMatch(/^\S+Z {2}info {3}got first$/m),
    )
    expect(await logs('--level', 'error')).toMatchObject({ status: 0, stdout: '' })
    const [line = ''] = (await logs('--text', 'GOT', '--json')).stdout.split('\n')
    expect(JSON.parse(line)).toMatchObject({ level: 'info', message: 'got first' })

    const following = spawn(
      process.execPath,
      [inject('command'), 'logs', '--bot', 'Secretive', '--follow', '--text', 'got'],
      {
        env: { ...withoutProxies(process.env), ...environment() },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    const ended = once(following, 'close')
    let written = ''
    following.stdout.setEncoding('utf8').on('data', (text: string) => {
      written += text
    })
    await eventually(() => expect(written).toContain('got first'))
    await say('second')
    await eventually(() => expect(written).toContain('got second'))
    following.kill('SIGINT')
    await ended
    expect(written.match(/got \w+/g)).toEqual(['got first', 'got second'])
  })

  it('says what is wrong, and what runs stays', async () => {
    const file = await fileOf('works.cjs', 'exports.handler = async () => ({ body: "{}" })')
    expect(await deploy([file, '--bot', 'Careful', '--create'])).toMatchObject({ status: 0 })
    const source = await fileOf('source.mjs', "import { Bot } from '@botpress/sdk'\nnew Bot({})")
    const faulty = await fileOf('faulty.cjs', 'const words = undefined\nwords.length')
    const syntax = await fileOf('syntax.cjs', 'exports.handler = (')
    const alone = await fileOf('alone.cjs', "require('absent')")
    const empty = await fileOf('empty.cjs', '')
    const broken = await fileOf('broken.cjs', 'exports.handler = async () => ({ status: 500 })')
    for (const [words, message] of [
      [
        [source, '--bot', 'Careful'],
        `bundle it into one, and deploy that:\n  npx esbuild ${source} `,
      ],
      [[source, '--bot', 'Careful'], `  npx botstead deploy ${join(folder, 'source.cjs')} --bot `],
      [
        [faulty, '--bot', 'Careful'],
        `${faulty} was not deployed, and what ran before stays: TypeError`,
      ],
      [[faulty, '--bot', 'Careful'], '(/bundle.cjs:2:7)'],
      [[syntax, '--bot', 'Careful'], 'SyntaxError: Unexpected token'],
      [[alone, '--bot', 'Careful'], "Cannot find module 'absent'"],
      [[empty, '--bot', 'Careful'], 'The code exports no function named handler'],
      [[broken, '--bot', 'Careful'], 'what ran before stays: it responded to a ping with status'],
      [[join(folder, 'absent.cjs'), '--bot', 'Careful'], `There is no file ${folder}/absent.cjs: `],
      [[folder, '--bot', 'Careful'], `${folder} is a folder: name a file.`],
      [[file, '--bot', 'Nobody'], 'There is no bot "Nobody". Add --create to make it. '],
      [[file, '--create'], '--create needs --bot'],
      [[file, '--bot', 'Careful', '--secret', '=x'], 'A secret is written NAME=value'],
    ] as const) {
      const { status, stderr } = await deploy(words)
      expect(status).toBeGreaterThan(0)
      expect(stderr).toContain(message)
      expect(stderr).not.toMatch(/body\.code|node:|bot-host|ENOENT|EISDIR/)
    }
    const { bots } = await server().client().listBots({})
    expect(bots.filter(({ name }) => name === 'Careful')).toHaveLength(1)
  })
})
