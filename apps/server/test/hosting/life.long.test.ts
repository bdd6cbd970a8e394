import { describe, expect, it, vi } from 'vitest'
import { createCommandPlace } from '../command-place.js'
import { describeEachEngine } from '../engines.js'
import { existingClient, type ReachableServer } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { eventually } from '../jobs.js'
import { startServerProcess } from '../processes.js'
import {
  deployBot,
  deployIntegration,
  isRunning,
  metricsOf,
  openRequests,
  program,
  untilRegistered,
} from './hosted.js'

const token = 'a-token-for-tests-only'
const pidOnly = program('return { pid: process.pid }')
/** Says in its log which process it is, as soon as it is loaded. */
const announcing = program(
  'if (input.end) process.exit(7); return { pid: process.pid }',
  'console.log("loaded by " + process.pid)',
)

/** The processes that ran the code, by its log, the latest first. */
async function loadedBy(logs: () => Promise<string[]>): Promise<number[]> {
  const lines = await logs()
  return lines.flatMap((line) => /loaded by (\d+)/.exec(line)?.[1] ?? []).map(Number)
}

describe('a bot that is always alive', () => {
  const server = useServer()

  it('never rests, from its first deployment on, while others do', async () => {
    const other = await deployBot(server(), pidOnly)
    const { call } = await deployBot(server(), pidOnly, { alwaysAlive: true })
    const { pid: resting } = await other.call()
    const { pid } = await call()
    await eventually(() => {
      server().clock.advance(6 * 60_000)
      expect(isRunning(resting)).toBe(false)
    })
    server().clock.advance(6 * 60_000)
    expect(await call()).toEqual({ pid })
    expect(isRunning(pid)).toBe(true)
  })

  it('starts again by itself when it ends, after pauses that grow', async () => {
    const { admin, bot, call, logs } = await deployBot(server(), announcing, { alwaysAlive: true })
    await call()
    const latestOf = async (starts: number) =>
      await eventually(async () => {
        const pids = await loadedBy(logs)
        expect(pids).toHaveLength(starts)
        return Number(pids[0])
      })
    for (const pause of [1, 2]) {
      process.kill(await latestOf(pause), 'SIGKILL')
      const said = `with signal SIGKILL. It is started again in ${pause} s.`
      await eventually(async () =>
        expect(await logs()).toContainEqual(expect.stringContaining(said)),
      )
      server().clock.advance(2000)
      await latestOf(pause + 1)
    }
    await admin.deleteBot({ id: bot.id })
  })

  it('starts and rests as its declaration is changed', async () => {
    const { admin, bot, logs } = await deployBot(server(), announcing)
    const [first = 0] = await eventually(async () => {
      const pids = await loadedBy(logs)
      expect(pids).toHaveLength(1)
      return pids
    })
    await eventually(() => {
      server().clock.advance(6 * 60_000)
      expect(isRunning(first)).toBe(false)
    })
    await admin.updateBot({ id: bot.id, alwaysAlive: true })
    const [second = 0] = await eventually(async () => {
      const pids = await loadedBy(logs)
      expect(pids).toHaveLength(2)
      return pids
    })
    await admin.updateBot({ id: bot.id, alwaysAlive: false })
    await eventually(() => {
      server().clock.advance(6 * 60_000)
      expect(isRunning(second)).toBe(false)
    })
  })
})

describeEachEngine('bots that are always alive', (engine) => {
  it('start with the server', async () => {
    await using place = await createCommandPlace(engine)
    const environment = { ...place.environment, BOTSTEAD_ADMIN_TOKEN: token, LOG_LEVEL: 'error' }
    const programsOf = async (process: { url: string }) =>
      (await metricsOf(process)).get('botstead_hosting_programs')
    const first = await startServerProcess(environment)
    await using _first = first
    const { workspaces } = await existingClient(at(first.url, '')).listWorkspaces({})
    const here = (url: string) => at(url, workspaces[0]?.id ?? '')
    const alive = await Promise.all(
      [1, 2].map(() => deployBot(here(first.url), announcing, { alwaysAlive: true })),
    )
    await deployBot(here(first.url), announcing)
    // A registration that is interrupted would start its program at the second server.
    await untilRegistered(first)
    expect(await first.stop()).toBe(0)

    await using second = await startServerProcess(environment)
    await vi.waitFor(async () => expect(await programsOf(second)).toBe(2), { timeout: 15_000 })
    for (const { bot } of alive) {
      const client = existingClient(here(second.url), { botId: bot.id })
      const { output } = await client.callAction({ type: 'act', input: {} })
      const admin = existingClient(here(second.url))
      const logs = async () =>
        (await admin.getBotLogs({ id: bot.id, timeStart: '2000-01-01T00:00:00Z' })).logs.map(
          ({ message }) => message,
        )
      // The first request found it running: one process of the first server, and one of the second.
      await eventually(async () => expect((await loadedBy(logs))[0]).toBe(output.pid))
      expect(await loadedBy(logs)).toHaveLength(2)
    }
    expect(await second.stop()).toBe(0)
  })
})

describe('code whose owner is deleted', () => {
  const server = useServer()

  it('ends at once with its bot, also in the middle of a request', async () => {
    const { admin, bot, call } = await deployBot(
      server(),
      program('if (input.wait) await new Promise(() => {}); return { pid: process.pid }'),
    )
    const { pid } = await call()
    await untilRegistered(server())
    const waiting = expect(call({ wait: true })).rejects.toThrow()
    await eventually(async () => expect(await openRequests(server())).toBe(1))
    await admin.deleteBot({ id: bot.id })
    await eventually(() => expect(isRunning(pid)).toBe(false))
    await waiting
  })

  it('ends at once with its integration', async () => {
    const { admin, id, installed } = await deployIntegration(server(), pidOnly)
    const [inBot] = installed
    const { pid } = { ...(await inBot?.call()) }
    await inBot?.remove()
    await admin.deleteIntegration({ id })
    await eventually(() => expect(isRunning(pid)).toBe(false))
  })

  it('ends at once with its workspace', async () => {
    const { id } = await existingClient(server()).createWorkspace({ name: 'Another' })
    const there = { ...server(), workspaceId: id }
    const bot = await deployBot(there, pidOnly)
    const { installed } = await deployIntegration(there, pidOnly)
    const pids = [await bot.call(), await installed[0]?.call()].map((output) => output?.pid)
    expect(pids.map(isRunning)).toEqual([true, true])
    await existingClient(server()).deleteWorkspace({ id })
    await eventually(() => expect(pids.map(isRunning)).toEqual([false, false]))
  })

  it.each(['bot', 'workspace'])(
    'ends at once with its %s, also if it was replaced before',
    async (owner) => {
      const { id } = await existingClient(server()).createWorkspace({ name: 'Another' })
      const { admin, bot, call, redeploy } = await deployBot(
        { ...server(), workspaceId: id },
        program('if (input.wait) await new Promise(() => {}); return { pid: process.pid }'),
      )
      const { pid } = await call()
      await untilRegistered(server())
      const waiting = expect(call({ wait: true })).rejects.toThrow()
      await eventually(async () => expect(await openRequests(server())).toBe(1))
      await redeploy(pidOnly)
      expect(isRunning(pid)).toBe(true)
      if (owner === 'bot') await admin.deleteBot({ id: bot.id })
      else await admin.deleteWorkspace({ id })
      await eventually(() => expect(isRunning(pid)).toBe(false))
      await waiting
    },
  )
})

describe('code of an integration', () => {
  const server = useServer()

  it('runs in one process for all bots, for actions and webhooks', async () => {
    const { installed } = await deployIntegration(
      server(),
      program(
        'return { pid: process.pid, bot: request.headers["x-bot-id"], query: input.webhook?.query }',
      ),
      { bots: 3 },
    )
    const outputs = await Promise.all(installed.map(({ call }) => call()))
    const responses = await Promise.all(
      installed.map(async ({ webhookUrl }) => {
        const output: Record<string, unknown> = Object(
          await (await fetch(`${webhookUrl}?a=1`)).json(),
        )
        return output
      }),
    )
    const ids = installed.map(({ botId }) => botId)
    expect(outputs.map(({ bot }) => bot)).toEqual(ids)
    expect(responses.map(({ bot, query }) => [bot, query])).toEqual(ids.map((id) => [id, 'a=1']))
    expect(new Set([...outputs, ...responses].map(({ pid }) => pid)).size).toBe(1)
  })

  it('does not run while the integration is one in development, which has an address', async () => {
    const admin = existingClient(server())
    const code = program('', 'throw new Error("never loaded")')
    const { integration } = await admin.createIntegration({
      name: 'developed',
      version: '1.0.0',
      dev: true,
      url: 'http://127.0.0.1:9',
      code,
    })
    await admin.updateIntegration({ id: integration.id, code })
    const again = await admin.getIntegration({ id: integration.id })
    expect(again.integration.url).toBe('http://127.0.0.1:9')
  })

  it('runs in a new process when its secrets are changed', async () => {
    const code = program('return { pid: process.pid, key: process.env.SECRET_KEY }')
    const { admin, id, installed } = await deployIntegration(server(), code, {
      secrets: { KEY: 'one' },
    })
    const former = await installed[0]?.call()
    expect(former?.key).toBe('one')
    await admin.updateIntegration({ id, secrets: { KEY: 'two' } })
    const output = await installed[0]?.call()
    expect(output?.key).toBe('two')
    expect(output?.pid).not.toBe(former?.pid)
    await eventually(() => expect(isRunning(former?.pid)).toBe(false))
  })
})

function at(url: string, workspaceId: string): ReachableServer {
  return { url, token, workspaceId }
}
