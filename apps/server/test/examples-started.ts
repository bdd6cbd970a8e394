import { onTestFinished, vi } from 'vitest'
import { startBotProcess } from './bot-processes.js'
import { connect } from './existing-clients.js'
import type { TestServer } from './harness.js'

/** Starts an example as its guide describes; returns its chat address, which the example prints. */
export async function startExample(
  server: TestServer,
  name: string,
  environment: Record<string, string> = {},
  files: readonly string[] = [],
) {
  const words = [`examples/${name}/main.mjs`, ...files]
  const bot = await startBotProcess(server, words, /botstead chat --bot/, environment)
  onTestFinished(() => bot.kill())
  const [address = '', webhookId = ''] = /http\S+\/chat\/(\S+)/.exec(bot.output()) ?? []
  return { ...bot, address, webhookId }
}

/** Sends a message to a bot, in a new conversation, and waits for its reply. */
export async function ask(server: TestServer, webhookId: string, text: string) {
  const ada = await connect(server, webhookId)
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
    { interval: 50 },
  )
}
