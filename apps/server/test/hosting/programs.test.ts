import { expect, it, vi } from 'vitest'
import { describeInLong, describeInUsual } from '../engines.js'
import { existingClient, makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { eventually } from '../jobs.js'
import { deployBot, isRunning, program } from './hosted.js'

describeInUsual('the code of a bot', () => {
  const server = useServer(undefined, { BOTSTEAD_HOSTING_MEMORY_BYTES: '64MiB' })

  const deploy = (code: string, rest?: { secrets?: Record<string, string> }) =>
    deployBot(server(), code, rest)

  it('has the environment of the platform, and nothing else of the server', async () => {
    const { call, bot } = await deploy(program('return { env: process.env, cwd: process.cwd() }'), {
      secrets: { API_KEY: 'sesame' },
    })
    const { env, cwd } = await call()
    expect(env).toEqual({
      BP_API_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      BP_TOKEN: expect.stringMatching(/^bp_bak_/),
      BP_WEBHOOK_URL: `${server().url}/webhooks`,
      BP_LOG_FORMAT: 'json',
      LOG_LEVEL: 'info',
      SECRET_API_KEY: 'sesame',
    })
    expect(cwd).not.toContain(process.cwd())
    const { BP_TOKEN: token } = Object(env)
    const own = existingClient(server(), { token, botId: bot.id })
    await own.createUser({ tags: {} })
    await expect(own.listBots({})).rejects.toMatchObject({ type: 'Forbidden' })
  })

  it('is measured by the time for which it runs', async () => {
    const { call, bot } = await deploy(program('return {}'))
    await call()
    await vi.waitFor(async () => {
      await server().pass(10_000)
      const { usage } = await server().client().getUsage({ id: bot.id, type: 'hosted_time' })
      expect(usage.value).toBeGreaterThanOrEqual(20)
    })
  })

  it('cannot let Node write traces', async () => {
    const { call, logs } = await deploy(
      program(`
        require('trace_events').createTracing({ categories: ['v8', 'node.async_hooks'] }).enable()
        await new Promise(() => {})
      `),
    )
    await expect(call()).rejects.toMatchObject({ type: 'Runtime' })
    await eventually(async () =>
      expect(await logs()).toContainEqual(
        expect.stringMatching(/Traces are not written into files/),
      ),
    )
  })

  it('cannot connect to private addresses, by number or by name', async () => {
    const { call } = await deploy(
      program(`
        const failure = (promise) => promise.then(() => 'done', (error) => error.cause?.code ?? error.code)
        return {
          fetched: await failure(fetch('http://169.254.169.254/latest/meta-data')),
          requested: await failure(new Promise((resolve, reject) =>
            require('http').get('http://10.0.0.1/', resolve).on('error', reject))),
          secured: await failure(new Promise((resolve, reject) =>
            require('tls').connect(443, '192.168.0.1', resolve).on('error', reject))),
          named: await failure(new Promise((resolve, reject) =>
            require('net').connect({ host: 'somewhere', port: 80, lookup: (host, options, done) =>
              options.all ? done(null, [{ address: '10.1.2.3', family: 4 }]) : done(null, '10.1.2.3', 4) },
              resolve).on('error', reject))),
        }
      `),
    )
    expect(await call()).toEqual({
      fetched: 'EACCES',
      requested: 'EACCES',
      secured: 'EACCES',
      named: 'EACCES',
    })
  })

  it.each([
    ['throws when it is loaded', 'throw new Error("no key")', 'no key'],
    ['has no handler', 'exports.x = 1', 'exports no function named handler'],
    ['is no program', 'hello there', 'SyntaxError'],
    ['ends at once', 'process.exit(3)', 'exit code 3'],
    ['refuses a ping', 'exports.handler = async () => ({ status: 418 })', 'status 418'],
  ])('is not put into force if it %s', async (_, code, reason) => {
    const { admin, bot, call, logs } = await deploy(program('return { version: 1 }'))
    await expect(admin.updateBot({ id: bot.id, code, name: 'Changed' })).rejects.toMatchObject({
      type: 'Runtime',
      message: expect.stringContaining(reason),
    })
    expect(await call()).toEqual({ version: 1 })
    expect((await admin.getBot({ id: bot.id })).bot.name).not.toBe('Changed')
    await eventually(async () =>
      expect(await logs()).toContainEqual(
        expect.stringMatching(/^error: New code was not deployed/),
      ),
    )
  })

  it('is replaced by an address, and takes over from one', async () => {
    const { admin, bot, call, redeploy } = await deploy(program('return { version: 1 }'))
    await admin.updateBot({ id: bot.id, url: 'http://127.0.0.1:9' })
    await expect(call()).rejects.toMatchObject({ type: 'Runtime' })
    await redeploy(program('return { version: 2 }'))
    expect(await call()).toEqual({ version: 2 })
    await admin.updateBot({ id: bot.id, url: 'http://127.0.0.1:9', code: 'ignored' })
    await admin.updateBot({ id: bot.id, url: null })
    expect(await call()).toEqual({ version: 2 })
  })

  it('runs anew with secrets that were changed', async () => {
    const { admin, bot, call } = await deploy(program('return { key: process.env.SECRET_KEY }'), {
      secrets: { KEY: 'one' },
    })
    expect(await call()).toEqual({ key: 'one' })
    await admin.updateBot({ id: bot.id, secrets: { KEY: 'two' } })
    expect(await call()).toEqual({ key: 'two' })
  })

  it('code that a request ended is started again at once', async () => {
    const { call } = await deploy(
      program('if (input.end) process.exit(7); return { pid: process.pid }'),
    )
    const { pid } = await call()
    await expect(call({ end: true })).rejects.toMatchObject({
      type: 'Runtime',
      message: expect.stringContaining('The code stopped: it ended with exit code 7'),
    })
    expect((await call()).pid).not.toBe(pid)
  })

  it('ends with the reason that it wrote last, also after more lines than are read at once', async () => {
    // Each of them has its part of the lines: half of them or less.
    await deploy(program('return {}'))
    const { call } = await deploy(
      program(`
        require('fs').writeSync(2, 'noise\\n'.repeat(80) + 'Error: no tea\\n')
        process.exit(7)
      `),
    )
    await expect(call()).rejects.toMatchObject({
      type: 'Runtime',
      message: expect.stringContaining('it ended with exit code 7: Error: no tea'),
    })
  })

  it('code that ended by itself is started again after a pause', async () => {
    const { call, logs } = await deploy(
      program('if (input.end) setTimeout(() => process.exit(7), 100); return { pid: process.pid }'),
    )
    const { pid } = await call({ end: true })
    await eventually(async () =>
      expect(await logs()).toContainEqual(expect.stringContaining('exit code 7')),
    )
    await expect(call()).rejects.toMatchObject({
      message: expect.stringContaining('started again in 1 s'),
    })
    server().clock.advance(1000)
    expect((await call()).pid).not.toBe(pid)
  })

  it('may be killed', async () => {
    const { call } = await deploy(program('return { pid: process.pid }'))
    const { pid } = await call()
    process.kill(Number(pid), 'SIGKILL')
    await eventually(async () => {
      server().clock.advance(1000)
      expect((await call()).pid).not.toBe(pid)
    })
  })

  it('is ended when it uses too much memory, and harms nobody else', async () => {
    const other = await deploy(program('return { fine: true }'))
    // Large pieces reach the limit within a moment of processor time: otherwise the server may take it for an endless
    // loop on a machine that has none to spare.
    const { call, logs } = await deploy(
      program('const all = []; for (;;) all.push(new Array(1e6).fill(1))'),
    )
    await expect(call()).rejects.toMatchObject({ type: 'Runtime' })
    await eventually(async () =>
      expect(await logs()).toContainEqual(expect.stringContaining('too much memory')),
    )
    expect(await other.call()).toEqual({ fine: true })
  })

  it('writes a bounded number of lines into the log, with one about the others', async () => {
    const { admin, bot, call, logs } = await deploy(
      program('for (let at = 0; at < 5000; at++) console.log("line " + at); return {}'),
    )
    await call()
    await eventually(async () => {
      server().clock.advance(60_000)
      await call()
      expect(await logs()).toContainEqual(expect.stringMatching(/further lines were dropped/))
    })
    const { logs: lines } = await admin.getBotLogs({
      id: bot.id,
      timeStart: '2000-01-01T00:00:00Z',
      messageContains: 'line 599',
    })
    expect(lines.length).toBeGreaterThan(0)
  })

  it('ends when nobody calls it', async () => {
    const { call } = await deploy(program('return { pid: process.pid }'))
    const { pid } = await call()
    await eventually(async () => {
      server().clock.advance(6 * 60_000)
      expect(isRunning(pid)).toBe(false)
    })
    expect((await call()).pid).not.toBe(pid)
  })
})

describeInLong('the code of a bot that loops', () => {
  const server = useServer()

  it('is ended when it never responds again', async () => {
    const { admin, bot, call, logs } = await deployBot(
      server(),
      program('if (input.loop) for (;;); return { pid: process.pid }'),
    )
    await admin.updateBot({ id: bot.id, maxExecutionTime: 1 })
    const { pid } = await call()
    await expect(call({ loop: true })).rejects.toMatchObject({ type: 'Runtime' })
    await eventually(async () =>
      expect(await logs()).toContainEqual(expect.stringContaining('endless loop')),
    )
    await eventually(() => expect(isRunning(pid)).toBe(false))
    server().clock.advance(1000)
    expect((await call()).pid).not.toBe(pid)
  })

  it('is ended, and its owner told, when it never responds again after its last response', async () => {
    const { call, logs } = await deployBot(
      server(),
      program('if (input.loop) setTimeout(() => { for (;;); }); return { pid: process.pid }'),
    )
    const { pid } = await call({ loop: true })
    let questions = 0
    await vi.waitFor(
      async () => {
        // Less in all than after which an idle program ends.
        if (questions++ < 10) server().clock.advance(10_000)
        expect(await logs()).toContainEqual(expect.stringMatching(/stopped: .* endless loop/))
      },
      { interval: 500, timeout: 30_000 },
    )
    await eventually(() => expect(isRunning(pid)).toBe(false))
    server().clock.advance(10_000)
    expect((await call()).pid).not.toBe(pid)
  })
})

describeInUsual('a server that runs no code', () => {
  const server = useServer(undefined, { BOTSTEAD_HOSTING: 'off' })

  it('refuses code, says how to switch it on, and takes an address', async () => {
    const { admin, bot } = await makeBot(server())
    await expect(admin.updateBot({ id: bot.id, code: program('') })).rejects.toMatchObject({
      message: expect.stringContaining('BOTSTEAD_HOSTING'),
    })
    await admin.updateBot({ id: bot.id, url: 'http://127.0.0.1:9', code: 'ignored' })
  })
})
