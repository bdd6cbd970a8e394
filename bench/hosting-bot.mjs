// The bot of the measurements of hosting: as one file to deploy, and as a program behind an address.
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(import.meta.url)

/** Code of a bot that repeats what is said, with the version of it that was deployed. */
export async function bundleBot() {
  const { rolldown } = await import('rolldown')
  const name = fileURLToPath(new URL('../apps/server/bench-bot.mjs', import.meta.url))
  const source = `
    import { Bot } from '@botpress/sdk'
    const bot = new Bot({ actions: {}, plugins: {} })
    bot.on.message('*', async ({ message, client, ctx }) => {
      await client.createMessage({
        conversationId: message.conversationId,
        userId: ctx.botId,
        type: 'text',
        tags: {},
        payload: { text: 'BENCH_VERSION ' + message.payload.text },
      })
    })
    export default bot
  `
  const build = await rolldown({
    input: name,
    platform: 'node',
    logLevel: 'silent',
    plugins: [
      {
        name: 'source',
        resolveId: (id) => (id === name ? id : undefined),
        load: (id) => (id === name ? source : undefined),
      },
    ],
  })
  const { output } = await build.generate({ format: 'cjs', codeSplitting: false, minify: true })
  await build.close()
  return output[0].code
}

// As a program: loads the file that it is given, and serves it with the server of the SDK.
if (process.argv[1] === here) {
  const loaded = createRequire(here)(process.argv[2] ?? '')
  const listener = await (loaded.default ?? loaded).start(0)
  if (!listener.listening) await once(listener, 'listening')
  process.send?.({ url: `http://127.0.0.1:${listener.address().port}` })
  process.on('disconnect', () => process.exit(0))
}
