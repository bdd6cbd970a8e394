import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import type { Server } from '../../app/container.js'
import { loadConfig } from '../../config/config.js'
import { createLog } from '../../platform/telemetry/log.js'
import { signInLink } from '../dashboard.js'
import { untilStopped } from '../start.js'
import { out } from '../terminal.js'
import { shareLinkOf } from '../text.js'
import { botPath } from './bot.js'
import { forgetDemo, recordDemo } from './place.js'
import { createPrinter, type Printer } from './print.js'
import type { TourResult } from './tour.js'

interface DemoOptions {
  once?: boolean
  port?: string
}

/** `botstead demo`: everything from an empty folder to a question with its answer, on real input. */
export function demoCommand(): Command {
  return new Command('demo')
    .description('Show the main calls on a server with an empty, temporary data folder.')
    .option('--once', 'stop after the tour; the exit status is 1 when a step failed')
    .option(
      '--port <number>',
      'port to listen on instead of PORT; if it is in use, a free one is taken',
    )
    .action(async (options: DemoOptions) => {
      const dataDir = await mkdtemp(join(tmpdir(), 'botstead-demo-'))
      try {
        // Without a home that can be written, commands do not find it, and nothing else is missing.
        await recordDemo(dataDir).catch(() => {})
        process.exitCode = await demonstrate(dataDir, options)
      } finally {
        await forgetDemo(dataDir)
        await rm(dataDir, { recursive: true, force: true })
      }
    })
}

/** Returns the exit status. */
async function demonstrate(dataDir: string, options: DemoOptions): Promise<0 | 1> {
  const { runTour } = await import('./tour.js')
  const print = createPrinter(out)
  const port = options.port ?? String(loadConfig(undefined, { envFile: '.env' }).config.port)
  const server = await startDemoServer(dataDir, port, print)
  print.title(`Botstead is running at ${server.address}, with its data in ${dataDir}.`)
  const made = await runTour(server, print)
  if (made !== undefined && !options.once) {
    suggest(print, made, server)
    print.title('The server runs until you press Ctrl-C; then its data is deleted.')
    await untilStopped(server.config, server, { onSignal: () => print.title('Stopping …') })
    return 0
  }
  await server.stop(server.config.shutdownTimeoutMs)
  if (made === undefined) return 1
  print.title('Every step succeeded. Without --once the server goes on, for calls of your own.')
  return 0
}

/** Part of the log line about the message that the bot refuses on purpose; the line is not printed. */
const refusal = 'once, for you to replay.'

async function startDemoServer(dataDir: string, port: string, print: Printer): Promise<Server> {
  const log = await createLog({
    level: 'warn',
    pretty: out.isTerminal,
    skip: (line) => line.includes(refusal),
  })
  const { startServer } = await import('../../app/container.js')
  const start = (on: string) => {
    // Without the caller's environment: a demonstration must not touch their data.
    const { config, settings } = loadConfig({ BOTSTEAD_DATA_DIR: dataDir, PORT: on })
    return startServer({ config, settings, log })
  }
  try {
    return await start(port)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error
    print.title(`Port ${port} is in use, so a free one is taken.`)
    // The first attempt has already created an account in the folder, whose token is unknown.
    await rm(dataDir, { recursive: true })
    return await start('0')
  }
}

/** Calls to try on the objects of the tour: each line works as pasted, in any order. */
function suggest(print: Printer, made: TourResult, { firstStart }: Server): void {
  const bearer = `-H 'Authorization: Bearer ${made.token}'`
  const json = "-H 'Content-Type: application/json'"
  const message = JSON.stringify({
    conversationId: made.conversationId,
    payload: { type: 'text', text: 'How does the server stop?' },
  })
  if (firstStart?.signInCode !== undefined) {
    print.title('Look at all of this in the browser:')
    print.command(
      'The link signs you in, once. The bot refused the voice message on purpose: replay its delivery there',
      signInLink(made.address, firstStart.signInCode),
    )
  }
  print.title('Talk to the bot in the browser; this is the link to share:')
  print.command('The dashboard changes how it looks: Bots, Web chat', shareLinkOf(made.chatAddress))
  print.title('Try next, in another terminal:')
  print.command(
    'Ask the document something else',
    `curl -G '${made.address}/v1/files/search' --data-urlencode 'query=How does the server stop?' -d limit=1 ${bearer} -H 'x-bot-id: ${made.botId}'`,
  )
  print.command(
    'Ask the bot, as Ada with her user key',
    `curl -X POST '${made.chatAddress}/messages' -H 'x-user-key: ${made.userKey}' ${json} -d '${message}'`,
  )
  print.command(
    'Read the conversation: the answer of the bot is the newest message',
    `curl '${made.chatAddress}/conversations/${made.conversationId}/messages' -H 'x-user-key: ${made.userKey}'`,
  )
  print.command(
    'Change the code of the bot, and deploy it again',
    `npx botstead deploy '${botPath}' --bot ${made.botId} --url ${made.address} --token ${made.token}`,
  )
  print.command(
    'List the bots',
    `curl '${made.address}/v1/admin/bots' ${bearer} -H 'x-workspace-id: ${made.workspaceId}'`,
  )
  print.command('See all operations, in the browser', `${made.address}/docs`)
}
