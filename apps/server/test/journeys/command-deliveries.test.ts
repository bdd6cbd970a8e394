import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { checkout, withoutProxies } from '../documents.js'
import { useServer } from '../harness.js'
import { useHttpBots } from '../http-bot.js'
import { eventually } from '../jobs.js'
import { runCommand } from '../processes.js'

describe('botstead deliveries', () => {
  const server = useServer()
  const bots = useHttpBots()

  /** A bot that received some messages in one conversation. */
  async function sendTo(url: string, count: number) {
    const admin = server().client()
    const { bot } = await admin.createBot({ url })
    const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
    const { key: userKey } = await server().client({ webhookId }).chatCreateUser({})
    const chat = server().client({ webhookId, userKey })
    const { conversation } = await chat.chatCreateConversation({})
    const conversationId = conversation.id
    for (let i = 0; i < count; i++) {
      await chat.chatCreateMessage({ conversationId, payload: { type: 'text', text: `m${i}` } })
    }
    const environment = {
      BOTSTEAD_URL: server().url,
      BOTSTEAD_TOKEN: server().token,
      BOTSTEAD_BOT: bot.id,
    }
    const deliveries = (...words: string[]) => runCommand(['deliveries', ...words], environment)
    const untilOver = () =>
      eventually(async () => {
        const listed = (await admin.listDeliveries({ id: bot.id })).deliveries
        expect(listed.filter(({ status }) => status !== 'pending')).toHaveLength(count)
        return listed.toReversed()
      })
    return { id: bot.id, admin, conversationId, deliveries, untilOver }
  }

  it('lists, shows, replays, pauses, resumes and tests', async () => {
    const bot = bots.as('refusing')
    const { id, admin, conversationId, deliveries, untilOver } = await sendTo(bot.url, 2)
    const [first] = await untilOver()
    const firstId = first?.id ?? ''
    const [listed, shown, tried] = await Promise.all([
      deliveries('list', '--status', 'failed', '--conversation', conversationId),
      deliveries('show', firstId),
      deliveries('test'),
    ])
    const line = (of: string) =>
      new RegExp(
        `^${of}  \\S+Z  failed +event_received, 1 attempt  Status 400: I do not want this.$`,
      )
    expect(listed.stdout.trimEnd().split('\n')).toEqual([
      expect.stringMatching(line('delivery_\\w+')),
      expect.stringMatching(line(firstId)),
    ])
    expect(shown.stdout).toContain(`"id": "${firstId}"`)
    expect(shown.stdout).toMatch(
      /^1\. \S+Z {2}\d+ ms {2}Status 400: I do not want this\.\n {3}\{"code":400/m,
    )
    expect(tried).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/^Failed after \d+ ms/),
    })

    // With the bot fixed, failed deliveries are sent again.
    const good = bots.as()
    await admin.updateBot({ id, url: good.url })
    expect(await deliveries('pause')).toMatchObject({
      status: 0,
      stdout: 'Deliveries are paused.\n',
    })
    const one = await deliveries('replay', firstId)
    expect(one).toMatchObject({ status: 0, stdout: `${firstId} is pending again.\n` })
    const [again, rest, paused] = await Promise.all([
      deliveries('replay', firstId),
      deliveries('replay', 'failed'),
      deliveries('list'),
    ])
    expect(again).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('is already pending'),
    })
    expect(rest).toMatchObject({ status: 0, stdout: '1 delivery is pending again.\n' })
    expect(paused.stdout).toMatch(/^! bot: paused \(operator\)\n/)
    expect(await good.calls()).toEqual([])
    expect(await deliveries('resume')).toMatchObject({ stdout: 'Deliveries are resumed.\n' })
    await untilOver()
    expect(await good.received()).toEqual([
      { text: 'm0', attempt: 2 },
      { text: 'm1', attempt: 2 },
    ])
  })

  it('reports an unknown bot and an unreachable server', async () => {
    const environment = { BOTSTEAD_TOKEN: server().token, BOTSTEAD_BOT: crypto.randomUUID() }
    const [stranger, nowhere] = await Promise.all([
      runCommand(['deliveries', 'list'], { ...environment, BOTSTEAD_URL: server().url }),
      runCommand(['deliveries', 'list'], { ...environment, BOTSTEAD_URL: 'http://127.0.0.1:9' }),
    ])
    expect(stranger).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('There is no bot'),
    })
    expect(nowhere.status).toBe(1)
    expect(nowhere.stderr).not.toContain('no bot')
  })

  it('the example rotates a secret without a refused call', async () => {
    const { url, token } = server()
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [join(checkout, 'examples/rotate-secret.mjs')],
      { env: { ...withoutProxies(process.env), BOTSTEAD_URL: url, BOTSTEAD_TOKEN: token } },
    )
    expect(stdout.trimEnd().split('\n')).toEqual([
      'before the rotation: accepted, 200',
      'the bot knows the old secret: accepted, 200',
      'the bot knows both: accepted, 200',
      'the bot knows the new secret: accepted, 200',
      'the bot knows none: refused, 401',
    ])
  })
})
