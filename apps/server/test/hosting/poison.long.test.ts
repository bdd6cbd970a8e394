import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from '@botstead/contract'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createCommandPlace } from '../command-place.js'
import { describeEachEngine, sqliteEngine } from '../engines.js'
import { existingClient } from '../existing-clients.js'
import { type TestServer, useServer } from '../harness.js'
import { talkTo } from '../hosted-code.js'
import { freePort } from '../ports.js'
import { startServerProcess } from '../processes.js'
import { inDatabase } from '../tenancy/seed.js'
import {
  deployBot,
  deployIntegration,
  echo,
  isRunning,
  untilStarts,
  withoutPauses,
} from './hosted.js'

const poisons = `
  if (text === 'exit') process.exit(3)
  if (text === 'loop') for (;;);
  if (text === 'memory') for (const kept = []; ; ) kept.push(new Array(1e6).fill(Math.random()))
`

/** The address of a server and the token of a caller. */
type Place = Pick<TestServer, 'url' | 'token' | 'workspaceId'>

/** The deliveries to a bot that were given up, as an operator sees them. */
async function failedOf(server: Place, botId: string) {
  const { url: baseUrl, token, workspaceId } = server
  const admin = createClient({ baseUrl, token, workspaceId })
  return (await admin.listDeliveries({ id: botId, status: 'failed' })).deliveries
}

const givenUp =
  'the message is given up after it ended the code three times, while others are answered: %s'

/** The test of that name. */
const giveUp = (server: () => TestServer) => async (text: string, reason: RegExp) => {
  const eventually = withoutPauses(server)
  const { admin, bot, webhookId, logs } = await deployBot(server(), echo(poisons))
  const [poisonous, ...others] = await Promise.all(
    [1, 2, 3, 4].map(() => talkTo(server(), webhookId)),
  )
  for (const other of others) await other.say('hello')
  await eventually(async () => {
    for (const other of others) expect(await other.replies()).toEqual(['hello!'])
  })

  // The others are open in the program when it ends, and more follow.
  const said = Promise.all([poisonous?.say(text), ...others.flatMap((other) => [other.say('one')])])
  await said
  await poisonous?.say('after')
  for (const other of others) await other.say('two')
  await eventually(async () => {
    for (const other of others) {
      expect([...new Set(await other.replies())]).toEqual(['hello!', 'one!', 'two!'])
    }
  })
  const [failed, ...rest] = await eventually(async () => {
    const found = await failedOf(server(), bot.id)
    expect(found).not.toEqual([])
    return found
  })
  expect(rest).toEqual([])
  expect(failed).toMatchObject({
    orderKey: poisonous?.conversationId,
    lastError: expect.stringMatching(/^Given up, because it ended the code 3 times\. /),
  })
  expect(failed?.lastError).toMatch(reason)
  // Once more if others were open the first time; some more during a pause.
  expect(failed?.attempts).toBeLessThan(8)
  // The conversation goes on.
  await eventually(async () => expect(await poisonous?.replies()).toEqual(['after!']))
  expect(await logs()).toContainEqual(
    expect.stringContaining(`given up (${failed?.id}). Given up, because it ended the code`),
  )
  const issue = await eventually(async () => {
    const { issues } = await admin.listBotIssues({ id: bot.id })
    const found = issues.find(({ code }) => code === 'delivery_ended_code')
    expect(found).toMatchObject({ category: 'limits' })
    return found
  })
  const { issueEvents } = await admin.listBotIssueEvents({
    id: bot.id,
    issueId: issue?.id ?? '',
  })
  expect(issueEvents[0]?.data.delivery?.raw).toBe(failed?.id)
  await admin.deleteBot({ id: bot.id })
}

describeEachEngine('a message that ends the code of its bot', (engine) => {
  const server = useServer(engine, { BOTSTEAD_HOSTING_MEMORY_BYTES: '64MiB' })
  const eventually = withoutPauses(server)

  it.concurrent.each([['exit', /exit code 3/] as const])(givenUp, giveUp(server), 600_000)

  it.concurrent('a replay sends the message again, and succeeds once the code is corrected', async () => {
    const { bot, webhookId, redeploy, admin } = await deployBot(server(), echo(poisons))
    const talk = await talkTo(server(), webhookId)
    await talk.say('exit')
    const replay = async () => {
      const [failed] = await eventually(async () => {
        const found = await failedOf(server(), bot.id)
        expect(found).toHaveLength(1)
        return found
      })
      await server()
        .client()
        .replayDelivery({ id: bot.id, deliveryId: failed?.id ?? '' })
      return failed
    }
    // Counted anew: one more end does not suffice. Attempts during the pause after an end come besides.
    const first = await replay()
    const again = await eventually(async () => {
      const [found] = await failedOf(server(), bot.id)
      expect(found).toBeDefined()
      return found
    })
    expect(again?.attempts).toBeGreaterThanOrEqual((first?.attempts ?? 0) + 3)
    await redeploy(echo(''))
    await replay()
    await eventually(async () => expect(await talk.replies()).toEqual(['exit!']))
    expect(await failedOf(server(), bot.id)).toEqual([])
    await admin.deleteBot({ id: bot.id })
  }, 300_000)

  it.concurrent('messages that were open at the same time are not blamed', async () => {
    const { bot, webhookId, admin } = await deployBot(server(), echo(poisons))
    const talks = await Promise.all(Array.from({ length: 12 }, () => talkTo(server(), webhookId)))
    // Three ends by three messages, with the others in the same program each time.
    for (const [at, talk] of talks.entries()) void talk.say(at % 4 === 0 ? 'exit' : `${at}`)
    await eventually(async () => {
      for (const [at, talk] of talks.entries()) {
        expect([...new Set(await talk.replies())]).toEqual(at % 4 === 0 ? [] : [`${at}!`])
      }
      expect(await failedOf(server(), bot.id)).toHaveLength(3)
    })
    await admin.deleteBot({ id: bot.id })
  }, 300_000)

  it.concurrent('the message is given up too if it ends the code by a signal', async () => {
    const { bot, webhookId, admin } = await deployBot(
      server(),
      echo(`
        if (text === 'SIGABRT') process.abort()
        if (text.startsWith('SIG')) {
          process.kill(process.pid, text)
          await new Promise((resolve) => setTimeout(resolve, 60_000))
        }
      `),
    )
    const signals = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGABRT']
    for (const signal of signals) await (await talkTo(server(), webhookId)).say(signal)
    await eventually(async () => {
      const reasons = (await failedOf(server(), bot.id)).map(({ lastError }) => lastError)
      expect(reasons.toSorted()).toEqual(
        signals
          .toSorted()
          .map((signal) =>
            expect.stringMatching(`^Given up, because it ended .* signal ${signal}`),
          ),
      )
    })
    await admin.deleteBot({ id: bot.id })
  }, 300_000)
})

// Each of these ends takes ten seconds and more to notice.
describe('a message that holds the code of its bot', () => {
  const server = useServer(sqliteEngine, { BOTSTEAD_HOSTING_MEMORY_BYTES: '64MiB' })
  it.each([
    ['loop', /endless loop/],
    ['memory', /memory/],
  ] as const)(givenUp, giveUp(server), 600_000)
})

/** Responds to requests of code once it is opened. */
async function startGate() {
  const waiting: (() => void)[] = []
  let isOpen = false
  const server = createServer((_, response) => {
    if (isOpen) response.end()
    else waiting.push(() => response.end())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.close().closeAllConnections()
  })
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open() {
      isOpen = true
      for (const respond of waiting) respond()
    },
  }
}

/** Code that says which process it is, and answers the text `slow` when the gate at `__GATE__` opens. */
const announcing = (before: string, poison: string) => `
  console.log('loaded by ' + process.pid)
  ${before}
  ${echo(`
    if (text === 'slow') {
      console.log('begun by ' + process.pid)
      globalThis.isSlow = true
      await fetch('__GATE__')
    }
    ${poison}
  `)}
`

/** The processes that did something, by the log of the bot, the latest first. */
async function processesOf(logs: () => Promise<string[]>, did: 'loaded' | 'begun') {
  const lines = await logs()
  return lines.flatMap((line) => new RegExp(`${did} by (\\d+)`).exec(line)?.[1] ?? []).map(Number)
}

describeEachEngine('a message that is open when something else ends the code', (engine) => {
  const server = useServer(engine)
  const eventually = withoutPauses(server)

  /** A bot that gets a message which takes until `answer` is called. */
  async function startSlow(code: string) {
    const gate = await startGate()
    const deployed = await deployBot(server(), code.replace('__GATE__', gate.address))
    const talk = await talkTo(server(), deployed.webhookId)
    const begun = () => processesOf(deployed.logs, 'begun')
    const delivery = async () => {
      const { deliveries } = await server().client().listDeliveries({
        id: deployed.bot.id,
        conversationId: talk.conversationId,
      })
      return deliveries[0]
    }
    return { ...deployed, talk, begun, delivery, answer: gate.open }
  }

  it('the message is not given up when signals of others end the code', async () => {
    const { admin, bot, talk, begun, delivery, answer } = await startSlow(announcing('', ''))
    await talk.say('slow')
    for (let times = 1; times <= 4; times += 1) {
      const pids = await eventually(async () => {
        const found = await begun()
        expect(found).toHaveLength(times)
        return found
      })
      process.kill(pids[0] ?? 0, 'SIGTERM')
    }
    answer()
    await eventually(async () => expect(await talk.replies()).toEqual(['slow!']))
    await eventually(async () => expect((await delivery())?.status).toBe('delivered'))
    await admin.deleteBot({ id: bot.id })
  }, 300_000)

  it('the message is not given up when the code ends some time after each start', async () => {
    // The ping of the deployment stops the timer, so that the first program lives.
    const crashing = announcing(
      `const timer = setTimeout(() => process.exit(4), 1000)`,
      '',
    ).replace(
      "!== 'event_received')",
      "!== 'event_received' && headers['x-bp-operation'] === 'ping') clearTimeout(timer)\n  if (headers['x-bp-operation'] !== 'event_received')",
    )
    const { admin, bot, talk, logs, delivery, redeploy, answer } = await startSlow(crashing)
    const [first] = await eventually(async () => {
      const found = await processesOf(logs, 'loaded')
      expect(found).toHaveLength(1)
      return found
    })
    // The server ends it because it is idle, so that no crash is known yet.
    await eventually(() => {
      server().clock.advance(6 * 60_000)
      expect(isRunning(first)).toBe(false)
    })
    await talk.say('slow')
    await eventually(async () => expect((await delivery())?.attempts).toBeGreaterThan(3))
    expect((await delivery())?.status).toBe('pending')
    answer()
    await redeploy(echo(''))
    await eventually(async () => expect(await talk.replies()).toEqual(['slow!']))
    await admin.deleteBot({ id: bot.id })
  }, 300_000)

  it('the message is not blamed for the timer of one that was answered before', async () => {
    const { admin, bot, webhookId, talk, begun, delivery, answer } = await startSlow(
      announcing(
        '',
        `if (text === 'later') setInterval(() => globalThis.isSlow && process.exit(5), 200)`,
      ),
    )
    const other = await talkTo(server(), webhookId)
    await other.say('later')
    await eventually(async () => expect(await other.replies()).toEqual(['later!']))
    await talk.say('slow')
    await eventually(async () => expect(await begun()).toHaveLength(2))
    const { id = '' } = { ...(await delivery()) }
    const row = await inDatabase(server(), ({ db }) =>
      db.selectFrom('deliveries').select('code_ends').where('id', '=', id).executeTakeFirst(),
    )
    expect(row).toEqual({ code_ends: 0 })
    answer()
    await eventually(async () => expect(await talk.replies()).toEqual(['slow!']))
    await admin.deleteBot({ id: bot.id })
  }, 300_000)
})

/** An integration that notes in its log what it sends. */
const sender = (poison: string) => `
exports.handler = async ({ headers, body }) => {
  if (headers['x-bp-operation'] !== 'message_created') return { body: '{}' }
  const { text } = JSON.parse(body).payload
  ${poison}
  await new Promise((resolve) => setTimeout(resolve, 20))
  return { body: '{}' }
}
`

describeEachEngine('a message that ends the code of an integration', (engine) => {
  const server = useServer(engine)
  const eventually = withoutPauses(server)

  it('the message is given up after three times, while others are sent, also those of other bots', async () => {
    const { admin, id, installed, redeploy } = await deployIntegration(server(), sender(poisons), {
      bots: 2,
      channels: { direct: { messages: { text: { schema: {} } } } },
    })
    const conversations = await Promise.all(
      installed.flatMap(({ botId }) =>
        [1, 2].map(async () => {
          const tool = { botId, integrationId: id, integrationAlias: 'tool' }
          const { conversation } = await existingClient(server(), tool).createConversation({
            channel: 'direct',
            tags: {},
          })
          const bot = existingClient(server(), { botId })
          const say = async (text: string) => {
            const message = { conversationId: conversation.id, userId: botId, tags: {} }
            await bot.createMessage({ ...message, type: 'text', payload: { text } })
          }
          const statuses = async () => {
            const { deliveries } = await server()
              .client()
              .listDeliveries({ id: botId, integration: 'tool', conversationId: conversation.id })
            const sent = deliveries.filter(({ kind }) => kind === 'message_created')
            return sent.map(({ status }) => status).reverse()
          }
          return { botId, say, statuses }
        }),
      ),
    )
    const [poisonous, ...others] = conversations
    const botId = poisonous?.botId ?? ''
    await poisonous?.say('exit')
    await poisonous?.say('after')
    for (const text of ['one', 'two']) for (const other of others) await other.say(text)
    await eventually(async () => {
      for (const other of others) expect(await other.statuses()).toEqual(['delivered', 'delivered'])
      expect(await poisonous?.statuses()).toEqual(['failed', 'delivered'])
    })
    const [failed, ...rest] = await failedOf(server(), botId)
    expect(rest).toEqual([])
    expect(failed).toMatchObject({
      integration: 'tool',
      lastError: expect.stringMatching(/^Given up, because it ended the code 3 times\. .*code 3/),
    })
    await eventually(async () => {
      const { issues } = await admin.listBotIssues({ id: botId })
      expect(issues.map(({ code }) => code)).toContain('delivery_ended_code')
    })
    await redeploy(sender(''))
    await server()
      .client()
      .replayDelivery({ id: botId, deliveryId: failed?.id ?? '' })
    await eventually(async () =>
      expect(await poisonous?.statuses()).toEqual(['delivered', 'delivered']),
    )
  }, 300_000)
})

const token = 'a-token-for-tests-only'

describeEachEngine('the ends of code, and a server that is killed', (engine) => {
  it('a server counts the ends that a message caused before and after it was killed', async () => {
    await using place = await createCommandPlace(engine)
    const environment = {
      ...place.environment,
      // The same address after each start.
      PORT: String(await freePort()),
      BOTSTEAD_ADMIN_TOKEN: token,
      BOTSTEAD_JOB_LEASE_MS: '2s',
      LOG_LEVEL: 'error',
    }
    let process = await startServerProcess(environment)
    try {
      const { url } = process
      const { workspaces } = await existingClient({ url, token, workspaceId: '' }).listWorkspaces(
        {},
      )
      const server = { url, token, workspaceId: workspaces[0]?.id ?? '' }
      const admin = createClient({ baseUrl: url, token, workspaceId: server.workspaceId })
      // Says that it has begun, so that the server can be killed meanwhile.
      const { bot, webhookId, logs } = await deployBot(
        server,
        echo(`
          if (text === 'wait') {
            console.log('begun')
            await new Promise((resolve) => setTimeout(resolve, 3000))
          }
          if (text === 'exit') process.exit(3)
        `),
      )
      const innocent = await talkTo(server, webhookId)
      const poisonous = await talkTo(server, webhookId)
      const begun = async () => (await logs()).filter((line) => line.includes('begun')).length
      const restart = async () => {
        await process.kill()
        process = await startServerProcess(environment)
      }

      await innocent.say('wait')
      for (let times = 1; times <= 4; times += 1) {
        await untilStarts(async () => expect(await begun()).toBeGreaterThanOrEqual(times))
        await restart()
      }
      await untilStarts(async () => expect(await innocent.replies()).toContain('wait!'))
      expect(await failedOf(server, bot.id)).toEqual([])

      await poisonous.say('exit')
      const endsOf = async () => {
        const { deliveries } = await admin.listDeliveries({
          id: bot.id,
          conversationId: poisonous.conversationId,
        })
        const deliveryId = deliveries[0]?.id ?? ''
        const { delivery } = await admin.getDelivery({ id: bot.id, deliveryId })
        const ends = delivery.attemptLog.filter(({ error }) => error?.includes('exit code 3'))
        return { status: delivery.status, count: ends.length }
      }
      await untilStarts(async () => expect((await endsOf()).count).toBeGreaterThan(0))
      await restart()
      await untilStarts(async () => expect((await endsOf()).status).toBe('failed'))
      expect((await endsOf()).count).toBeLessThanOrEqual(4)
      expect(await process.stop()).toBe(0)
    } finally {
      await process[Symbol.asyncDispose]()
    }
  }, 600_000)
})
