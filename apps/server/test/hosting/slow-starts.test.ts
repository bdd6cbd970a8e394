import { availableParallelism } from 'node:os'
import { describe, expect, it } from 'vitest'
import { useServer } from '../harness.js'
import { eventually } from '../jobs.js'
import { deployBot, isRunning, metricsOf, program } from './hosted.js'

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
