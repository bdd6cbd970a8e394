import { expect, it } from 'vitest'
import { describeEachEngine, describeInLong, describeSlow } from '../engines.js'
import { makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { bundleCode, echoBot, talkTo } from '../hosted-code.js'
import { eventually } from '../jobs.js'
import { deployIntegration, program } from './hosted.js'

const versions = [{ name: '@botpress/sdk' }, { name: 'sdk7' }]

describeSlow('bots that are deployed', (engine) => {
  const server = useServer(engine)

  it.each(versions)('answer in the chat, with $name', async ({ name }) => {
    const { admin, bot, webhookId } = await makeBot(server())
    const updated = await admin.updateBot({ id: bot.id, code: await bundleCode(echoBot(name)) })
    expect(updated.bot.deployedAt).toBeDefined()
    const { say, replies } = await talkTo(server(), webhookId)
    await say('hello')
    await eventually(async () => expect(await replies()).toEqual(['echo: hello']))
    await eventually(async () => {
      const { logs } = await admin.getBotLogs({ id: bot.id, timeStart: '2000-01-01T00:00:00Z' })
      expect(logs.map(({ message }) => message)).toContain('registered')
    })
  })
})

describeInLong('again and again', () => {
  describeEachEngine('bots that are deployed', (engine) => {
    const server = useServer(engine)

    it('answer every message once and in order while they are deployed again and again', async () => {
      const { admin, bot, webhookId } = await makeBot(server())
      const code = async (number: number) =>
        await bundleCode(echoBot('@botpress/sdk', `${number}: `))
      const codes = await Promise.all([0, 1, 2].map(code))
      await admin.updateBot({ id: bot.id, code: codes[0] })
      const talks = await Promise.all([1, 2, 3].map(() => talkTo(server(), webhookId)))
      for (let deployed = 1; deployed <= 20; deployed++) {
        const next = codes[deployed % codes.length]
        const saying = talks.map(async ({ say }) => {
          for (let number = 0; number < 5; number++) await say(`${deployed}.${number}`)
        })
        await Promise.all([admin.updateBot({ id: bot.id, code: next }), ...saying])
      }
      for (const { replies, said } of talks) {
        await eventually(async () => {
          const heard = (await replies()).map((text) => text.replace(/^\d: /, ''))
          // A message that was being answered when its program was replaced may be answered again.
          const once = heard.filter((text, at) => text !== heard[at - 1])
          expect(once).toEqual(said())
        })
      }
    })

    it('lose no action of an integration that is deployed again and again, nor a webhook', async () => {
      // Nobody repeats these: each that gets lost is an error.
      const code = (number: number) =>
        program(
          `await new Promise((resolve) => setTimeout(resolve, 30)); return { version: ${number}, key: process.env.SECRET_KEY }`,
        )
      const { admin, id, installed, redeploy } = await deployIntegration(server(), code(0), {
        bots: 2,
        secrets: { KEY: '0' },
      })
      const outputs: unknown[] = []
      let isOver = false
      const calling = installed.flatMap(({ call, webhookUrl }) => {
        const hook = async () => {
          const response = await fetch(webhookUrl)
          return response.ok ? await response.json() : { failure: response.status }
        }
        return [call, hook].map(async (use) => {
          while (!isOver) outputs.push(await use().catch((failure: unknown) => ({ failure })))
        })
      })
      for (let deployed = 1; deployed <= 10; deployed++) {
        await redeploy(code(deployed))
        // A secret is part of the deployment: the next process has both.
        await admin.updateIntegration({ id, secrets: { KEY: String(deployed) } })
        expect(await installed[0]?.call()).toEqual({ version: deployed, key: String(deployed) })
      }
      isOver = true
      await Promise.all(calling)
      const wrong = outputs.filter(
        (output) => !(typeof output === 'object' && output && 'version' in output),
      )
      expect(wrong).toEqual([])
      expect(outputs.length).toBeGreaterThan(20)
    })
  })
})
