import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '@botstead/contract'
import { loadConfig } from '../../config.js'
import { createLog } from '../../platform/log.js'

/** A bot on a server, into which the documents go. */
export interface Target extends AsyncDisposable {
  client: Client
}

export interface TargetOptions {
  url?: string
  token?: string
  bot?: string
  /** Legs of a temporary server; all if undefined. */
  legs?: readonly string[]
}

/** The server that the options name, or a temporary one, which is gone afterwards. */
export async function openTarget(options: TargetOptions): Promise<Target> {
  if (options.url === undefined) return await startTemporary(options.legs)
  const { url, token, bot } = options
  if (token === undefined || bot === undefined) {
    throw new Error('With --url, give --token and --bot too: the bot that gets the documents.')
  }
  if (options.legs !== undefined) {
    throw new Error('--legs is for the temporary server: leave out --url.')
  }
  return {
    client: createClient({ baseUrl: url, token, botId: bot }),
    [Symbol.asyncDispose]: async () => {},
  }
}

async function startTemporary(legs: readonly string[] | undefined): Promise<Target> {
  const dataDir = await mkdtemp(join(tmpdir(), 'botstead-eval-'))
  try {
    // What ranks is taken from the caller's settings, where the data lies is not.
    const { config } = loadConfig({
      ...embeddingsSettings(),
      BOTSTEAD_DATA_DIR: dataDir,
      PORT: '0',
      BOTSTEAD_RATE_LIMIT: 'off',
    })
    const log = await createLog({ level: 'warn', destination: process.stderr })
    const { startServer } = await import('../../container.js')
    const server = await startServer({ config, log, ...(legs && { legs }) })
    const first = server.firstStart
    if (first === undefined) throw new Error('A new data folder makes a first start')
    const as = { baseUrl: server.address, token: first.token, workspaceId: first.workspaceId }
    const { bot } = await createClient(as).createBot({ name: 'evaluation' })
    return {
      client: createClient({ ...as, botId: bot.id }),
      async [Symbol.asyncDispose]() {
        await server.stop(config.shutdownTimeoutMs)
        await rm(dataDir, { recursive: true, force: true })
      },
    }
  } catch (error) {
    await rm(dataDir, { recursive: true, force: true })
    throw error
  }
}

function embeddingsSettings(): Record<string, string> {
  const { config } = loadConfig(undefined, { envFile: '.env' })
  const { embeddingsUrl, embeddingsModel, embeddingsApiKey } = config
  if (embeddingsUrl === undefined || embeddingsModel === undefined) return {}
  return {
    BOTSTEAD_EMBEDDINGS_URL: embeddingsUrl,
    BOTSTEAD_EMBEDDINGS_MODEL: embeddingsModel,
    ...(embeddingsApiKey !== undefined && { BOTSTEAD_EMBEDDINGS_API_KEY: embeddingsApiKey }),
  }
}
