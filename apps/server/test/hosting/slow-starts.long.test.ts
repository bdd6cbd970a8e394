import { availableParallelism } from 'node:os'
import { describe, expect, it } from 'vitest'
import { existingClient, type ReachableServer } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { eventually } from '../jobs.js'
import {
  deployBot,
  isRunning,
  metricsOf,
  openRequests,
  program,
  untilRegistered,
} from './hosted.js'

/** As many as may start at a time. */
const slowBots = Math.max(2, availableParallelism())
const bots = slowBots + 1

describe('starts of deployed code', () => {
  const server = useServer(undefined, { BOTSTEAD_HOSTING_START_TIMEOUT: '10m' })

  it('code that loads without end does not keep others from starting, and ends when its bot is deleted', async () => {
    // The folder of a program is named after how many were started before it: the first start is quick.
    const code = (isSlow: boolean) =>
      program(
        'return { pid: process.pid }',
        isSlow ? `if (process.argv[2].split('/').at(-2) > ${bots}) for (;;);` : '',
      )
    const deployed = []
    for (let at = 0; at < bots; at++) deployed.push(await deployBot(server(), code(at < slowBots)))
    const first = await Promise.all(deployed.map(({ call }) => call()))
    await eventually(() => {
      server().clock.advance(6 * 60_000)
      for (const { pid } of first) expect(isRunning(pid)).toBe(false)
    })

    const ended: string[] = []
    const slow = deployed.slice(0, slowBots)
    const calls = slow.map(async ({ call }) => {
      ended.push(await call().then(String, String))
    })
    const started = async () => (await metricsOf(server())).get('botstead_hosting_programs')
    await eventually(async () => expect(await started()).toBe(slowBots))
    const reply = deployed.at(-1)?.call()
    await eventually(async () => {
      server().clock.advance(3000)
      expect(await Promise.race([reply, undefined])).toMatchObject({ pid: expect.any(Number) })
    })
    expect(ended).toEqual([])

    for (const { admin, bot } of slow) await admin.deleteBot({ id: bot.id })
    await Promise.all(calls)
    expect(ended).toHaveLength(slowBots)
    await eventually(async () => expect(await started()).toBe(1))
  })
})

describe('a server that runs two programs at a time', () => {
  const server = useServer(undefined, {
    BOTSTEAD_HOSTING_PROCESSES: '2',
    BOTSTEAD_HOSTING_START_TIMEOUT: '10m',
  })

  it('keeps a place from code of one workspace that loads without end', async () => {
    const { id } = await existingClient(server()).createWorkspace({ name: 'Another' })
    const there = { ...server(), workspaceId: id }
    // The first start, of the deployment, is quick: the folder of a program is named after the number of those before it.
    const slow = program('', `if (process.argv[2].split('/').at(-2) > 3) for (;;);`)
    const deploy = async (at: ReachableServer, code: string) => {
      const deployed = await deployBot(at, code)
      // A call that came after its program was ended for the next one would start it again.
      await untilRegistered(server())
      return deployed
    }
    const bots = [await deploy(server(), slow), await deploy(server(), slow)]
    const other = await deploy(there, program('return { fine: true }'))
    await eventually(async () => {
      server().clock.advance(6 * 60_000)
      expect((await metricsOf(server())).get('botstead_hosting_programs')).toBe(0)
    })

    const calls = Promise.allSettled(bots.map(({ call }) => call()))
    await eventually(async () => expect(await openRequests(server())).toBe(2))
    const reply = other.call()
    await eventually(async () => {
      expect(await Promise.race([reply, undefined])).toEqual({ fine: true })
    })
    for (const { admin, bot } of bots) await admin.deleteBot({ id: bot.id })
    await calls
  })
})
