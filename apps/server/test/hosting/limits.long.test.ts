import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { getPriority } from 'node:os'
import { describe, expect, it } from 'vitest'
import { createLog } from '../../src/platform/telemetry/log.js'
import { sqliteEngine } from '../engines.js'
import { startTestServer, useServer } from '../harness.js'
import { eventually } from '../jobs.js'
import { deployBot, isRunning, openRequests, program, untilRegistered } from './hosted.js'

describe('hostile code', () => {
  const server = useServer(undefined, {
    BOTSTEAD_HOSTING_MEMORY_BYTES: '64MiB',
    BOTSTEAD_MAX_ADMIN_BODY_BYTES: '200KiB',
  })

  /** Another bot works while the hostile one is at it. */
  const bystander = () => deployBot(server(), program('return { fine: true }'))

  it('cannot multiply: a fork bomb starts nothing', async () => {
    const { call } = await deployBot(
      server(),
      program(`
        const { spawn, spawnSync, fork } = require('child_process')
        const refused = {}
        for (const [name, start] of Object.entries({
          spawn: () => spawn(process.execPath, ['-e', '']),
          fork: () => fork('/bundle.cjs'),
          sync: () => spawnSync('/bin/sh', ['-c', ':']),
          cluster: () => require('cluster').fork(),
          thread: () => new (require('worker_threads').Worker)('', { eval: true }),
        })) {
          refused[name] = 0
          for (let at = 0; at < 100; at++) try { start() } catch { refused[name] += 1 }
        }
        return refused
      `),
    )
    const refused = { spawn: 100, fork: 100, sync: 100, cluster: 100, thread: 100 }
    expect(await call()).toEqual(refused)
  })

  it('that leaks memory beside the heap is ended', async () => {
    const other = await bystander()
    const { call, logs } = await deployBot(
      server(),
      program(`
        const kept = []
        setInterval(() => kept.push(Buffer.alloc(8 * 2 ** 20, 1)), 20)
        return { pid: process.pid }
      `),
    )
    const { pid } = await call()
    await eventually(async () => {
      expect(isRunning(pid)).toBe(false)
    })
    await eventually(async () =>
      expect(await logs()).toContainEqual(
        expect.stringMatching(/it used (\d+ MiB of|too much) mem/),
      ),
    )
    expect(await other.call()).toEqual({ fine: true })
  })

  it.each([
    ['is loaded', 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)', ''],
    ['responds to the ping of its deployment', '', 'await new Promise(() => {})'],
  ])('that uses much memory while it %s is ended', async (_, before, onPing) => {
    const { call, redeploy } = await bystander()
    const code = `
      const kept = Buffer.alloc(300 * 2 ** 20, 1)
      ${before}
      exports.handler = async () => { ${onPing}; return { body: String(kept.length) } }
    `
    await expect(redeploy(code)).rejects.toThrow(/it used \d+ MiB of memory/)
    expect(await call()).toEqual({ fine: true })
  })

  it('that ends during the ping of its deployment is refused with its end', async () => {
    const { redeploy } = await bystander()
    await expect(redeploy('exports.handler = async () => process.exit(7)')).rejects.toThrow(
      /it ended during a ping: exit code 7/,
    )
  })

  it('that never answers is given up, and replaced after three times in a row', async () => {
    const { call, logs } = await deployBot(
      server(),
      // Whatever the server asks besides is not for the code.
      `exports.handler = async ({ headers, body }) => {
        const operation = headers['x-bp-operation']
        if (operation === 'ping' || operation === 'register') return {}
        if (operation === undefined || JSON.parse(body).input.hang) await new Promise(() => {})
        return { body: JSON.stringify({ output: { pid: process.pid } }) }
      }`,
      // Longer than a busy machine needs for the other calls.
      { maxExecutionTime: 5 },
    )
    const { pid } = await call()
    await expect(call({ hang: true })).rejects.toThrow(/within 5000 ms/)
    expect(await call()).toEqual({ pid })
    const hanging = await Promise.allSettled([1, 2, 3].map(() => call({ hang: true })))
    expect(hanging.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    await eventually(async () =>
      expect(await logs()).toContainEqual(
        expect.stringContaining('3 requests in a row took too long'),
      ),
    )
    await eventually(() => expect(isRunning(pid)).toBe(false))
    server().clock.advance(1000)
    expect((await call()).pid).not.toBe(pid)
  })

  it('that floods its output is slowed down, and its lines are cut', async () => {
    const other = await bystander()
    const { call, logs } = await deployBot(
      server(),
      program(`
        if (input.end) return {}
        for (let at = 0; at < 40; at++) process.stdout.write('x'.repeat(65536))
        let rest = 'y'.repeat(500000) + '\\n'
        while (rest !== '') {
          try {
            rest = rest.slice(require('fs').writeSync(1, rest))
          } catch (error) {
            // While the server does not read.
            if (error.code !== 'EAGAIN') throw error
          }
        }
        return {}
      `),
    )
    const [, fine] = await Promise.all([call(), other.call()])
    expect(fine).toEqual({ fine: true })
    const lengths = await eventually(async () => {
      const lines = await logs()
      expect(lines.some((line) => line.includes('y'))).toBe(true)
      return lines.map(({ length }) => length)
    })
    expect(lengths.length).toBeGreaterThan(5)
    expect(Math.max(...lengths)).toBeLessThan(210_000)
  })

  it('that ends at every request is started again after pauses only', async () => {
    const { call } = await deployBot(server(), program('process.exit(0)'))
    await expect(call()).rejects.toMatchObject({ type: 'Runtime' })
    await eventually(async () => {
      await expect(call()).rejects.toThrow(/The code stopped once: .* exit code 0/)
    })
    server().clock.advance(1000)
    await expect(call()).rejects.toMatchObject({ type: 'Runtime' })
    await eventually(async () => {
      await expect(call()).rejects.toThrow(/The code stopped 2 times in a row/)
    })
  })

  it('that is too large is refused, with the setting that says so', async () => {
    const { redeploy, call } = await bystander()
    await expect(redeploy(program('', `// ${'x'.repeat(250_000)}`))).rejects.toMatchObject({
      type: 'PayloadTooLarge',
      message: expect.stringContaining('BOTSTEAD_MAX_ADMIN_BODY_BYTES'),
    })
    expect(await call()).toEqual({ fine: true })
  })
})

describe('code with many requests', () => {
  const server = useServer(undefined, { BOTSTEAD_HOSTING_REQUESTS: '2' })

  it('handles some at a time, ten times as many wait, and more are refused', async () => {
    const { admin, bot, call } = await deployBot(
      server(),
      program('if (input.hang) await new Promise(() => {}); return {}'),
    )
    await untilRegistered(server())
    const ended = Promise.allSettled(Array.from({ length: 22 }, () => call({ hang: true })))
    await eventually(async () => expect(await openRequests(server())).toBe(22))
    await expect(call()).rejects.toThrow(/handles 2 requests already \(BOTSTEAD_HOSTING_REQUESTS\)/)
    await admin.deleteBot({ id: bot.id })
    await ended
  })

  it('lets a request wait no longer than it may take', async () => {
    const { admin, bot, call } = await deployBot(
      server(),
      program('if (input.hang) await new Promise(() => {}); return {}'),
      { maxExecutionTime: 900 },
    )
    await untilRegistered(server())
    const ended = Promise.allSettled([1, 2].map(() => call({ hang: true })))
    await eventually(async () => expect(await openRequests(server())).toBe(2))
    await admin.updateBot({ id: bot.id, maxExecutionTime: 1 })
    await expect(call()).rejects.toThrow(/BOTSTEAD_HOSTING_REQUESTS\), and none ended within 1000/)
    await admin.deleteBot({ id: bot.id })
    await ended
  })
})

describe('a server that runs one program at a time', () => {
  const server = useServer(undefined, { BOTSTEAD_HOSTING_PROCESSES: '1' })
  const code = program('if (input.hang) await new Promise(() => {}); return { pid: process.pid }')

  it('ends the one that rests for another, and refuses others while it is busy', async () => {
    const one = await deployBot(server(), code)
    const { pid } = await one.call()
    const two = await deployBot(server(), code)
    expect((await two.call()).pid).not.toBe(pid)
    expect(isRunning(pid)).toBe(false)

    await untilRegistered(server())
    const hanging = Promise.allSettled([two.call({ hang: true })])
    await eventually(async () => expect(await openRequests(server())).toBe(1))
    const full = /runs 1 programs already \(BOTSTEAD_HOSTING_PROCESSES\), and all are busy/
    const refused = [
      expect(one.call()).rejects.toThrow(full),
      expect(one.redeploy(code)).rejects.toThrow(full),
    ]
    await eventually(async () => expect(await openRequests(server())).toBe(2))
    let isOver = false
    const over = Promise.all(refused).finally(() => {
      isOver = true
    })
    await eventually(() => {
      server().clock.advance(10_000)
      expect(isOver).toBe(true)
    })
    await over
    await two.admin.deleteBot({ id: two.bot.id })
    await hanging
    expect((await one.call()).pid).not.toBe(pid)
  })

  it('gives a request that waits the room of a program that becomes idle', async () => {
    const code = program(
      `if (input.hang) await new Promise((resolve) => { exports.resume = resolve })
      if (input.resume) exports.resume()
      return { pid: process.pid }`,
    )
    const one = await deployBot(server(), code)
    const two = await deployBot(server(), code)
    await untilRegistered(server())
    const hanging = two.call({ hang: true })
    await eventually(async () => expect(await openRequests(server())).toBe(1))
    const waiting = one.call()
    await eventually(async () => expect(await openRequests(server())).toBe(2))
    const { pid } = await two.call({ resume: true })
    expect(await hanging).toEqual({ pid })
    expect((await waiting).pid).not.toBe(pid)
    expect(isRunning(pid)).toBe(false)
  })
})

describe.skipIf(!existsSync('/proc/self/limits'))('a program', () => {
  it('has limits of the system, which the log of the server names', async () => {
    const logged: Record<string, unknown>[] = []
    const log = await createLog({
      level: 'info',
      destination: { write: (line) => logged.push(JSON.parse(line)) },
    })
    const server = await startTestServer(sqliteEngine, {}, log)
    try {
      const { call } = await deployBot(
        server,
        program(
          'return { pid: process.pid, user: process.getuid(), nice: require("os").getPriority() }',
        ),
      )
      const { pid, user, nice } = await call()
      const limits = await readFile(`/proc/${pid}/limits`, 'utf8')
      expect(limits).toMatch(/^Max core file size +0 +0 /m)
      expect(limits).toMatch(/^Max open files +1024 +1024 /m)
      expect(limits).toMatch(/^Max data size +2147483648 +2147483648 /m)
      expect(nice).toBe(Math.min(getPriority() + 5, 19))
      // If the system divides processors between sessions, the niceness of a process counts only within its own.
      if (existsSync(`/proc/${pid}/autogroup`)) {
        await eventually(async () => {
          const session = await readFile(`/proc/${pid}/autogroup`, 'utf8')
          expect(session).toMatch(new RegExp(` nice ${Math.min(getPriority() + 10, 19)}$`, 'm'))
        })
      }
      const isRoot = process.getuid?.() === 0
      if (isRoot) {
        expect(limits).toMatch(/^Max processes +128 +128 /m)
        expect(user).toBeGreaterThanOrEqual(1_000_000)
      }
      expect(logged).toContainEqual(
        expect.objectContaining({
          msg: 'deployed code has these limits',
          hosting: 'trusted',
          limits: expect.objectContaining({
            memory: expect.stringContaining('heap 256 MiB, 768 MiB in all'),
            user: isRoot ? 'one of its own' : 'that of the server',
          }),
        }),
      )
    } finally {
      await server.close()
    }
  })
})
