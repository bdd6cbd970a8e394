import { fileURLToPath } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'
import { connect } from './existing-clients.js'
import type { TestServer } from './harness.js'

const here = fileURLToPath(new URL('./', import.meta.url))
const bundles = new Map<string, Promise<string>>()

/** The source of a program of the platform as the command bundles it: one CommonJS file. */
export function bundleCode(source: string): Promise<string> {
  const name = `${here}hosted.mjs`
  return bundle(source, name, {
    name: 'source',
    resolveId: (id) => (id === name ? id : undefined),
    load: (id) => (id === name ? source : undefined),
  })
}

/**
 * The same for a program in `test/hosting/programs`.
 * @param sdk the package that it gets as `@botpress/sdk`: that one or `sdk7`
 */
export function bundleProgram(name: 'depot' | 'shop-bot', sdk: string): Promise<string> {
  return bundle(`${name} ${sdk}`, `${here}hosting/programs/${name}.mjs`, {
    name: 'sdk',
    async resolveId(id, importer) {
      return id === '@botpress/sdk' ? await this.resolve(sdk, importer) : undefined
    },
  })
}

function bundle(key: string, input: string, plugin: Plugin): Promise<string> {
  const known = bundles.get(key) ?? makeBundle(input, plugin)
  bundles.set(key, known)
  return known
}

async function makeBundle(input: string, plugin: Plugin): Promise<string> {
  const build = await rolldown({
    input,
    platform: 'node',
    logLevel: 'silent',
    plugins: [plugin, newerClient],
  })
  const { output } = await build.generate({ format: 'cjs', codeSplitting: false, minify: true })
  await build.close()
  return output[0].code
}

/** SDK 7 asks for this when a call fails; the newest client that the registry has lacks it. */
const newerClient: Plugin = {
  name: 'newer-client',
  transform: (code, id) =>
    id.endsWith('/@botpress/client/dist/index.cjs')
      ? `${code}\nif (module.exports.axiosRetry) module.exports.http ??= { isNetworkOrIdempotentRequestError: module.exports.axiosRetry.isNetworkOrIdempotentRequestError }`
      : undefined,
}

/** A bot that repeats what users say. @param sdk `@botpress/sdk` or `sdk7` */
export const echoBot = (sdk: string, prefix = 'echo: '): string => `
import { Bot } from '${sdk}'
const bot = new Bot({ actions: {}, plugins: {}, register: async () => console.log('registered') })
bot.on.message('*', async ({ message, client, ctx }) => {
  await client.createMessage({
    conversationId: message.conversationId,
    userId: ctx.botId,
    type: 'text',
    tags: {},
    payload: { text: '${prefix}' + message.payload.text },
  })
})
export default bot
`

/** A user of a chat, and what the bot says to them, oldest first. */
export async function talkTo(server: Pick<TestServer, 'url'>, webhookId: string) {
  const user = await connect(server, webhookId)
  const { conversation } = await user.createConversation({})
  const conversationId = conversation.id
  const texts: string[] = []

  async function list(): Promise<{ userId: string; text: string }[]> {
    const found: { userId: string; text: string }[] = []
    let nextToken: string | undefined
    do {
      const page = await user.listMessages({
        conversationId,
        ...(nextToken !== undefined && { nextToken }),
      })
      for (const { userId, payload } of page.messages) {
        found.push({ userId, text: 'text' in payload ? payload.text : payload.type })
      }
      nextToken = page.meta.nextToken
    } while (nextToken !== undefined)
    return found.reverse()
  }

  return {
    conversationId,
    async say(text: string): Promise<void> {
      texts.push(text)
      await user.createMessage({ conversationId, payload: { type: 'text', text } })
    },
    said: () => texts,
    async replies(): Promise<string[]> {
      return (await list()).filter(({ userId }) => userId !== user.user.id).map(({ text }) => text)
    },
  }
}
