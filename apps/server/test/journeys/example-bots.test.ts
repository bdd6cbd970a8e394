import { expect, it, onTestFinished, vi } from 'vitest'
import { startBotProcess } from '../bot-processes.js'
import { connect, existingClient } from '../existing-clients.js'
import { useServer } from '../harness.js'

const server = useServer()

/** Starts an example as its guide says; answers its chat address, which the example prints. */
async function startExample(name: string, environment: Record<string, string> = {}) {
  const words = [`examples/${name}/main.mjs`]
  const bot = await startBotProcess(server(), words, /botstead chat --bot/, environment)
  onTestFinished(() => bot.kill())
  const [address = '', webhookId = ''] = /http\S+\/chat\/(\S+)/.exec(bot.output()) ?? []
  return { ...bot, address, webhookId }
}

/** Says something to a bot, in a new conversation, and waits for its answer. */
async function ask(webhookId: string, text: string) {
  const ada = await connect(server(), webhookId)
  const { conversation } = await ada.createConversation({})
  const conversationId = conversation.id
  await ada.createMessage({ conversationId, payload: { type: 'text', text } })
  return await vi.waitFor(
    async () => {
      const { messages } = await ada.listMessages({ conversationId })
      const [answer] = messages.filter(({ userId }) => userId !== ada.user.id)
      if (answer === undefined) throw new Error(`There is no answer to "${text}"`)
      return answer
    },
    { timeout: 15_000, interval: 50 },
  )
}

it('starts the hello bot with one command, and finds its bot again at the next start', async () => {
  const first = await startExample('hello-bot')
  const { payload } = await ask(first.webhookId, 'hello')
  expect(payload).toEqual({ type: 'text', text: 'Hello! Try "story", "bloc" or "metadata".' })
  await first.kill()

  const second = await startExample('hello-bot')
  expect(second.address).toBe(first.address)
  expect((await ask(second.webhookId, 'Anybody?')).payload).toMatchObject({ text: 'Anybody?' })
  const { bots } = await existingClient(server()).listBots({})
  expect(bots.map(({ name }) => name)).toEqual(['Hello bot'])
}, 60_000)
