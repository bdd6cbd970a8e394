import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { startServer } from '../../src/app/container.js'
import { loadConfig } from '../../src/config/config.js'
import { createLog } from '../../src/platform/telemetry/log.js'
import { createCommandPlace } from '../command-place.js'
import { engines } from '../engines.js'
import { existingClient, type ReachableServer } from '../existing-clients.js'
import { createTestClock, useServer } from '../harness.js'
import { startServerProcess } from '../processes.js'
import { deployBot, deployIntegration, isRunning, program } from './hosted.js'
import { checkReplies, noting, type Reply, startTalk } from './talk.js'

const token = 'a-token-for-tests-only'
const secret = 'the secret that all processes share'
const postgres = engines.find(({ name }) => name === 'postgres')

/** Waits for processes that share a machine. */
const eventually = <T>(assertion: () => Promise<T> | T) =>
  vi.waitFor(assertion, { timeout: 20_000, interval: 100 })

/** Whether two calls of the code for one conversation overlapped. */
function overlaps(replies: readonly Reply[]): boolean {
  return replies.some(({ begin }, at) => at > 0 && begin < (replies[at - 1]?.end ?? 0))
}

describe.skipIf(!postgres)('two processes of a server that run deployed code', () => {
  it('share the work in order, switch to new code, and go on when one is killed', async () => {
    await using place = await createCommandPlace(postgres)
    const environment = {
      ...place.environment,
      BOTSTEAD_ADMIN_TOKEN: token,
      // Longer than a busy machine suspends a process.
      BOTSTEAD_JOB_LEASE_MS: '10s',
      LOG_LEVEL: 'error',
    }
    const one = await startServerProcess(environment)
    await using _one = one
    await using two = await startServerProcess(environment)
    const reaching = existingClient({ url: one.url, token, workspaceId: '' })
    const workspaceId = (await reaching.listWorkspaces({})).workspaces[0]?.id ?? ''
    const server = { url: one.url, token, workspaceId }
    const { bot, webhookId } = await deployBot(server, noting('1'))
    const talks = await Promise.all([1, 2, 3, 4].map(() => startTalk(server, webhookId)))
    const repliesOf = async (at: Pick<ReachableServer, 'url'>) =>
      await Promise.all(talks.map((talk) => talk.replies(at)))
    /**
     * Says messages at both, alternately, until the replies are as expected: no more at a time than the bot replies to, because
     * a busy machine would reply to all of those before it shows anything new.
     */
    const talkUntil = async (isEnough: (replies: Reply[]) => boolean) => {
      await eventually(async () => {
        const replies = await repliesOf(two)
        if (talks.every(({ said }, at) => said.length <= (replies[at]?.length ?? 0) + 1)) {
          await Promise.all(talks.map((talk, at) => talk.say(at % 2 === 0 ? one : two)))
          await Promise.all(talks.map((talk, at) => talk.say(at % 2 === 0 ? two : one)))
        }
        expect(isEnough(replies.flat())).toBe(true)
      })
    }

    const pidsOf = (replies: Reply[], version: string) =>
      new Set(replies.filter((reply) => reply.version === version).map(({ pid }) => pid))
    await talkUntil((replies) => pidsOf(replies, '1').size >= 2)
    const admin = existingClient({ url: two.url, token, workspaceId })
    await admin.updateBot({ id: bot.id, code: noting('2') })
    await talkUntil((replies) => pidsOf(replies, '2').size >= 2)
    await eventually(async () => {
      const all = await repliesOf(two)
      for (const [at, talk] of talks.entries()) {
        expect(checkReplies(talk.said, all[at] ?? [])).toBe(0)
        expect(overlaps(all[at] ?? [])).toBe(false)
      }
      const former = pidsOf(all.flat(), '1')
      expect([...former].filter(isRunning)).toEqual([])
    })

    const quiet = new AbortController()
    const saying = talks.map((talk) => talk.sayMany(two, quiet.signal))
    const before = (await repliesOf(two)).flat().length
    await eventually(async () =>
      expect((await repliesOf(two)).flat().length).toBeGreaterThan(before + 8),
    )
    await one.kill()
    quiet.abort()
    await Promise.all(saying)
    await eventually(async () => {
      for (const talk of talks) {
        // Only what the killed one was answering may be answered again.
        expect(checkReplies(talk.said, await talk.replies(two))).toBeLessThanOrEqual(1)
      }
    })
    expect(await two.stop()).toBe(0)
  }, 400_000)
})

describe.skipIf(!postgres)('another process of the server, whose clock stands still', () => {
  const server = useServer(postgres, { BOTSTEAD_SECRET: secret })

  it('notices deployments and deletions by hints alone', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'botstead-data-'))
    const { config } = loadConfig({
      PORT: '0',
      BOTSTEAD_DATA_DIR: dataDir,
      DATABASE_URL: server().server.config.databaseUrl,
      BOTSTEAD_SECRET: secret,
      // Any delivery would be made by the first one.
      BOTSTEAD_ROLES: 'api',
    })
    const clock = createTestClock()
    const log = await createLog({ level: 'silent' })
    const other = await startServer({ config, clock, timers: clock, log, checkResponses: true })
    try {
      // Cached facts count for five seconds, which do not pass.
      await clock.hold(async () => {
        const bot = await deployBot(server(), versioned('1'), { secrets: { KEY: 'a' } })
        const tool = await deployIntegration(server(), versioned('1'))
        const botId = tool.installed[0]?.botId
        const at = { ...server(), url: other.address }
        const call = async () =>
          (await existingClient(at, { botId: bot.bot.id }).callAction({ type: 'act', input: {} }))
            .output
        const callTool = async () =>
          (
            await existingClient(at, { ...(botId && { botId }) }).callAction({
              type: 'tool:act',
              input: {},
            })
          ).output
        expect([await call(), await callTool()]).toMatchObject([
          { version: '1', key: 'a' },
          { version: '1' },
        ])
        await bot.redeploy(versioned('2'))
        await tool.redeploy(versioned('2'))
        await vi.waitFor(async () =>
          expect([await call(), await callTool()]).toMatchObject([
            { version: '2', key: 'a' },
            { version: '2' },
          ]),
        )
        await bot.admin.updateBot({ id: bot.bot.id, secrets: { KEY: 'b' } })
        const { pid } = await vi.waitFor(async () => {
          const output = await call()
          expect(output).toMatchObject({ version: '2', key: 'b' })
          return output
        })
        await bot.admin.deleteBot({ id: bot.bot.id })
        await vi.waitFor(() => expect(isRunning(pid)).toBe(false))
      })
    } finally {
      await other.stop(5000)
      await rm(dataDir, { recursive: true, force: true })
    }
  })
})

function versioned(version: string): string {
  return program(`return { version: '${version}', key: process.env.SECRET_KEY, pid: process.pid }`)
}
