import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { describeEachEngine } from '../engines.js'
import { makeBot } from '../existing-clients.js'
import { type TestServer, useServer } from '../harness.js'
import { bundleCode, talkTo } from '../hosted-code.js'
import { eventually } from '../jobs.js'
import { deployBot, deployIntegration, program } from './hosted.js'

/** The SDK that an old version of the command brings along. */
const sdkBefore1 = createRequire(
  createRequire(import.meta.url).resolve('@botpress/cli/package.json'),
).resolve('@botpress/sdk')

/** Texts of a visitor that look like what a host program or an SDK writes. */
const nested = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
const forged = [
  '{"type":"issue","code":"forged","groupBy":[{"toString":1}]}',
  `{"type":"issue","code":"forged","data":{"a":${nested}}}`,
  '{"type":"issue","code":"forged","title":{"toString":1},"data":{"__proto__":{"raw":1},"a":null}}',
  '{"type":"issue","code":"forged","category":"nonsense","title":"\\u0000\\ud800"}',
  '{"host":"failed","reason":{"toString":1}}',
  '{"host":"fault","text":{"toString":1},"about":null}',
  '{"host":"text","stream":"error","text":"forged","about":{"conversationId":"conv_other"}}',
  '{"msg":"forged","level":"error","options":{"conversationId":"conv_other"}}',
  '{"msg":"An unexpected error occurred in the bot. Error: forged","options":{}}',
  'An unexpected error occurred in the bot. Error: forged',
]

/** A bot that prints what people write, in every way. */
const printing = (sdk: string) =>
  bundleCode(`
    import { Bot } from '${sdk}'
    import { writeSync } from 'node:fs'
    const bot = new Bot({ actions: {}, plugins: {} })
    bot.on.message('*', async ({ message, client, ctx, logger }) => {
      const { text } = message.payload
      console.log(text)
      console.info(text)
      console.info(JSON.stringify(parsed(text)))
      process.stdout.write(text + '\\n')
      logger.info(text)
      logger.error(text)
      try { writeSync(1, text + '\\n') } catch {}
      await client.createMessage({
        conversationId: message.conversationId, userId: ctx.botId, type: 'text', tags: {}, payload: { text: 'printed' },
      })
    })
    function parsed(text) { try { const value = JSON.parse(text); JSON.stringify(value); return value } catch { return text } }
    export default bot
  `)

async function lives(server: TestServer): Promise<void> {
  await sleep(300)
  expect((await server.fetch('/healthz')).status).toBe(200)
}

describeEachEngine('what visitors make a bot print', (engine) => {
  const server = useServer(engine, { BOTSTEAD_HOSTING_LOG_LINES: '10000' })

  it.each(['@botpress/sdk', 'sdk7'])(
    'printed text of a visitor is a line of its request, never an issue, with %s',
    async (sdk) => {
      const { admin, bot, webhookId } = await makeBot(server())
      await admin.updateBot({ id: bot.id, code: await printing(sdk) })
      const talk = await talkTo(server(), webhookId)
      for (const [at, text] of forged.entries()) {
        await talk.say(text)
        // Anonymous visitors are answered, also after the hostile text.
        await eventually(async () => expect(await talk.replies()).toHaveLength(at + 1))
      }
      await lives(server())
      const read = async () =>
        (await admin.getBotLogs({ id: bot.id, timeStart: '2000-01-01T00:00:00Z' })).logs
      await eventually(async () =>
        expect(await read()).toContainEqual(
          expect.objectContaining({ message: forged.at(-1), conversationId: talk.conversationId }),
        ),
      )
      expect((await admin.listBotIssues({ id: bot.id })).issues).toEqual([])
      for (const line of await read()) {
        if (line.conversationId !== undefined) expect(line.conversationId).toBe(talk.conversationId)
        // Only the method `error` of the logger writes errors.
        if (line.message.includes('"host"')) expect(['info', 'error']).toContain(line.level)
      }
    },
  )

  it.each(['@botpress/sdk', 'sdk7'])(
    'loggers of SDKs keep their levels, subjects and issues, with %s',
    async (sdk) => {
      const { admin, bot, webhookId } = await makeBot(server())
      const code = await bundleCode(`
      import { Bot } from '${sdk}'
      const bot = new Bot({ actions: {}, plugins: {} })
      bot.on.message('*', async ({ logger }) => {
        logger.warn('low', 1)
        logger.withWorkflowId('wkflow_1').withConversationId('conv_other').debug('deep')
        console.warn('plain')
        logger.issue({ code: 'no_stock', category: 'limits', title: 'T', description: 'D',
          data: { __proto__: null, n: { raw: 'x\\u0000\\ud800' }, odd: { deep: [1] } }, groupBy: ['n', {}, 3] , type: 'issue' })
        throw new Error('boom')
      })
      export default bot
    `)
      await admin.updateBot({ id: bot.id, code })
      const talk = await talkTo(server(), webhookId)
      await talk.say('hello')
      await eventually(async () => {
        const { issues } = await admin.listBotIssues({ id: bot.id })
        expect(issues.map(({ code }) => code).toSorted()).toEqual(['no_stock', 'unhandled_error'])
      })
      const { conversationId } = talk
      await eventually(async () => {
        const { logs } = await admin.getBotLogs({ id: bot.id, timeStart: '2000-01-01T00:00:00Z' })
        for (const [level, message] of [
          ['warn', 'low 1'],
          ['warn', 'plain'],
          ['error', 'T: D'],
        ]) {
          expect(logs).toContainEqual(expect.objectContaining({ level, message, conversationId }))
        }
      })
    },
  )

  it('the logger of an SDK before 1.0 keeps its levels', async () => {
    const { admin, id, installed } = await deployIntegration(
      server(),
      await bundleCode(`
        import { Integration } from ${JSON.stringify(sdkBefore1)}
        export default new Integration({
          actions: {}, channels: {}, register: async () => {}, unregister: async () => {},
          handler: async ({ logger }) => {
            logger.forBot().warn('low %d', 1)
            logger.forBot().error('{"host":"ready"}')
            console.info(JSON.stringify({ msg: 'forged', visible_to_bot_owner: true }))
          },
        })
      `),
    )
    await fetch(installed[0]?.webhookUrl ?? '', { method: 'POST', body: '{}' })
    await eventually(async () => {
      const { logs } = await admin.getIntegrationLogs({ id, timeStart: '2000-01-01T00:00:00Z' })
      for (const line of [
        { level: 'warn', message: 'low 1' },
        { level: 'error', message: '{"host":"ready"}' },
        { level: 'info', message: '{"msg":"forged","visible_to_bot_owner":true}' },
      ]) {
        expect(logs).toContainEqual(expect.objectContaining(line))
      }
    })
  })
})

describeEachEngine('what a program writes past its console', (engine) => {
  const server = useServer(engine)

  const raw = (...lines: string[]) =>
    `const fs = require('fs'); for (const line of ${JSON.stringify(lines)}) fs.writeSync(1, line + '\\n')`

  it('output of code that is being loaded is text, and does not decide whether the code starts', async () => {
    const { call, logs } = await deployBot(
      server(),
      program('return { fine: true }', raw(...forged, '{"host":"ready"}')),
    )
    expect(await call()).toEqual({ fine: true })
    await eventually(async () =>
      expect(await logs()).toContainEqual('info: {"host":"failed","reason":{"toString":1}}'),
    )
    await lives(server())
  })

  it('characters and ids that cannot be stored lose no line', async () => {
    const { call, logs } = await deployBot(
      server(),
      await bundleCode(`
        import { Bot } from '@botpress/sdk'
        const bot = new Bot({ actions: { act: async ({ logger, input }) => {
          console.log('before')
          console.log('broken \\0 \\ud800 \\u2028 end')
          console.log(Buffer.from([0xff, 0, 0xc3]).toString('latin1') + ' bytes')
          process.stdout.write(Buffer.from([0x61, 0xff, 0, 0xc3, 10]))
          for (const id of ['\\0', 'a\\0b', '\\ud800', 'x'.repeat(101), ' ', 'ü']) {
            logger.withUserId(id).withConversationId(id).withWorkflowId(id).info('by ' + JSON.stringify(id))
          }
          console.log('after')
          return {}
        } }, plugins: {} })
        export default bot
      `),
    )
    await call()
    await eventually(async () => {
      const found = await logs()
      for (const line of ['before', 'after', 'by "\\u0000"', 'by "a\\u0000b"', 'by "ü"']) {
        expect(found).toContain(`info: ${line}`)
      }
      expect(found).toContainEqual(expect.stringMatching(/^info: broken .* end$/s))
    })
    await lives(server())
  })

  it('forged reports do not make code ready that cannot be loaded', async () => {
    const { admin, bot } = await makeBot(server())
    const code = `${raw('{"host":"ready"}')}; throw new Error('never')`
    await expect(admin.updateBot({ id: bot.id, code })).rejects.toThrow('Error: never')
    await lives(server())
  })

  it('issues on the connection for reports count as often as the host program reports them at most', async () => {
    const { admin, bot, call } = await deployBot(
      server(),
      program(`
        const issue = { code: 'flood', category: 'limits', title: 'T', description: 'D', data: {}, groupBy: [] }
        const line = JSON.stringify({ host: 'issue', issue, about: {} }) + '\\n'
        for (const handle of process._getActiveHandles()) {
          if (handle.constructor.name === 'Socket' && handle.writable && !handle.parser) handle.write(line.repeat(3000))
        }
      `),
    )
    await call()
    const counted = async () =>
      (await admin.listBotIssues({ id: bot.id })).issues.find(({ code }) => code === 'flood')
        ?.eventsCount ?? 0
    await eventually(async () => expect(await counted()).toBeGreaterThanOrEqual(1000))
    // Output beyond it is read within three seconds.
    await sleep(4000)
    expect(await counted()).toBeLessThan(1500)
  })

  it('a wrong report on the connection for reports ends the program with a reason, and nothing else', async () => {
    const other = await deployBot(server(), program('return { fine: true }'))
    const { call, logs } = await deployBot(
      server(),
      program(`
        let written = 0
        for (const handle of process._getActiveHandles()) {
          // Not the connection of this request, which has a parser.
          if (handle.constructor.name === 'Socket' && handle.writable && !handle.parser) {
            handle.write(input.line + '\\n')
            written += 1
          }
        }
        return { written }
      `),
    )
    const stopped = 'The code stopped: it ended with a report that was refused'
    for (const [line, reason] of [
      ['{"host":"fault","text":{"toString":1},"about":{}}', 'text must be a string'],
      [
        '{"host":"issue","issue":{"code":"c","groupBy":[{"toString":1}]},"about":{}}',
        'issue.title must be a string',
      ],
      [nested, 'report must be an object'],
      ['x'.repeat(400_000), 'it has more than 262144 bytes'],
    ] as const) {
      // The program may be ended before it has responded.
      const output = await call({ line }).catch(() => undefined)
      if (output) expect(output.written).toBeGreaterThan(0)
      await eventually(async () =>
        expect(await logs()).toContainEqual(expect.stringContaining(`${stopped}: ${reason}`)),
      )
      // Past the pause after a failure.
      server().clock.advance(120_000)
      expect(await other.call()).toEqual({ fine: true })
    }
  })

  it('garbage on all descriptors, or closing them, ends the program at most', async () => {
    const other = await deployBot(server(), program('return { fine: true }'))
    const code = program(`
        const fs = require('fs')
        let written = 0
        for (let fd = 0; fd < 64; fd++) {
          try {
            if (input.close) fs.closeSync(fd)
            else fs.writeSync(fd, Buffer.from(input.bytes, 'latin1'))
            written += 1
          } catch {}
        }
        return { written }
      `)
    const garbage = [
      '\0\0\0\x01\xff',
      '\xff'.repeat(1000),
      '\0'.repeat(100_000),
      '{"cmd":"NODE_HANDLE","type":"net.Socket"}\n',
      '\n\n[]\nnull\n{}\n',
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'.repeat(100),
    ]
    const inputs = [...garbage.map((bytes) => ({ bytes })), { close: true }]
    await Promise.all(
      inputs.map(async (input) => {
        const { call } = await deployBot(server(), code)
        await call(input).catch(() => {})
        await lives(server())
        expect(await other.call()).toEqual({ fine: true })
      }),
    )
  })
})
