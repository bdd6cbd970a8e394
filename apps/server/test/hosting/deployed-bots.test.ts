import { expect, it } from 'vitest'
import { describeEachEngine } from '../engines.js'
import { makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { bundleCode, echoBot, talkTo } from '../hosted-code.js'
import { eventually } from '../jobs.js'

const versions = [{ name: '@botpress/sdk' }, { name: 'sdk7' }]

describeEachEngine('bots that are deployed', (engine) => {
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

  it('answer every message once and in order while they are deployed again and again', async () => {
    const { admin, bot, webhookId } = await makeBot(server())
    const code = async (number: number) => await bundleCode(echoBot('@botpress/sdk', `${number}: `))
    await admin.updateBot({ id: bot.id, code: await code(0) })
    const talks = await Promise.all([1, 2, 3].map(() => talkTo(server(), webhookId)))
    for (let deployed = 1; deployed <= 20; deployed++) {
      const next = await code((deployed % 3) + 1)
      const saying = talks.map(async ({ say }) => {
        for (let number = 0; number < 5; number++) await say(`${deployed}.${number}`)
      })
      await Promise.all([admin.updateBot({ id: bot.id, code: next }), ...saying])
    }
    for (const { replies, said } of talks) {
      await eventually(async () => {
        const heard = (await replies()).map((text) => text.replace(/^\d: /, ''))
        // What was being answered when its program was replaced may be answered again.
        const once = heard.filter((text, at) => text !== heard[at - 1])
        expect(once).toEqual(said())
      })
    }
  })
})
