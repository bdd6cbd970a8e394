import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { loadConfig } from '../../config.js'
import { startServer } from '../../container.js'
import { createLog } from '../../platform/log.js'
import { untilStopped } from '../start.js'
import { createPrinter } from './print.js'
import { runTour } from './tour.js'

/** `botstead demo`: the whole way from an empty folder to an answered question, on real input. */
export function demoCommand(): Command {
  return new Command('demo')
    .description('Show the main calls on a server in a temporary folder.')
    .option('--once', 'stop after the tour, with status 0, or 1 when a step failed')
    .option('--port <number>', 'port to listen on; a free one is taken when it is in use', '8787')
    .action(async (options: { once?: boolean; port: string }) => {
      const dataDir = await mkdtemp(join(tmpdir(), 'botstead-demo-'))
      const removeFolder = () => rm(dataDir, { recursive: true, force: true })
      try {
        process.exitCode = await demonstrate(dataDir, options)
      } finally {
        await removeFolder()
      }
    })
}

async function demonstrate(
  dataDir: string,
  options: { once?: boolean; port: string },
): Promise<number> {
  const print = createPrinter(process.stdout)
  const server = await startDemoServer(dataDir, options.port)
  print.title(`Botstead is running at ${server.address}, in the folder ${dataDir}`)
  const passed = await runTour(server, print)
  if (options.once) {
    await server.stop(server.config.shutdownTimeoutMs)
    return passed ? 0 : 1
  }
  print.title('The server goes on until you press Ctrl-C; its folder is then removed.')
  await untilStopped(server.config, server)
  return passed ? 0 : 1
}

async function startDemoServer(dataDir: string, port: string) {
  const log = await createLog({ level: 'warn', pretty: process.stdout.isTTY })
  const start = (on: string) => {
    // Nothing of the caller's environment: a demonstration must not touch their data.
    const { config } = loadConfig({ BOTSTEAD_DATA_DIR: dataDir, PORT: on })
    return startServer({ config, log })
  }
  try {
    return await start(port)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error
    return await start('0')
  }
}
