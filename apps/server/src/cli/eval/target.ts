import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '@botstead/contract'
import type { Server } from '../../app/container.js'
import { loadConfig } from '../../config/config.js'
import type { RetrieverWeights } from '../../domain/retriever-weights.js'
import { createLog } from '../../platform/telemetry/log.js'
import { connect } from '../connection.js'
import { notices } from '../terminal.js'

/** A bot on a server that receives the documents. */
export interface Target extends AsyncDisposable {
  readonly client: Client
  /** Changes the ranking of the same passages from now on; only a temporary server can do this. */
  setWeights(weights: RetrieverWeights): Promise<void>
}

export interface TargetOptions {
  url?: string
  token?: string
  bot?: string
  /** Whether the documents are files that the bot has. */
  skipUpload?: boolean
  /** Weights of the retrievers of a temporary server; the default ones if undefined. */
  weights?: RetrieverWeights
}

/**
 * Opens the server that the options name, or a temporary one, which is removed afterwards. Files that a bot has are on
 * the server of this folder, unless another is named.
 */
export async function openTarget(options: TargetOptions): Promise<Target> {
  const { url, token, bot, skipUpload = false } = options
  if (url === undefined && !skipUpload) return await startTemporary(options.weights)
  if (bot === undefined && !skipUpload) {
    throw new Error('With --url, give --bot too: the bot that gets the documents.')
  }
  if (options.weights !== undefined) {
    throw new Error(
      '--legs and --weights are for the temporary server: leave out --url and --skip-upload.',
    )
  }
  const named = { ...(url && { url }), ...(token && { token }), ...(bot && { bot }) }
  return {
    client: (await connect(named)).client,
    setWeights: () => Promise.reject(new Error('Only a temporary server can use other weights.')),
    [Symbol.asyncDispose]: async () => {},
  }
}

async function startTemporary(weights: RetrieverWeights | undefined): Promise<Target> {
  const dataDir = await mkdtemp(join(tmpdir(), 'botstead-eval-'))
  const remove = () => rm(dataDir, { recursive: true, force: true })
  try {
    let running = await startOn(dataDir, weights)
    const first = running.firstStart
    if (first === undefined) throw new Error('A new data folder makes a first start')
    const { token, workspaceId } = first
    const admin = createClient({ baseUrl: running.address, token, workspaceId })
    const { bot } = await admin.createBot({ name: 'evaluation' })
    return {
      get client() {
        return createClient({ baseUrl: running.address, token, workspaceId, botId: bot.id })
      },
      async setWeights(next) {
        await stop(running)
        running = await startOn(dataDir, next)
      },
      async [Symbol.asyncDispose]() {
        await stop(running)
        await remove()
      },
    }
  } catch (error) {
    await remove()
    throw error
  }
}

async function startOn(dataDir: string, weights: RetrieverWeights | undefined): Promise<Server> {
  // The ranking follows the caller's settings, the location of the data does not.
  const { config } = loadConfig({
    ...embeddingsSettings(),
    BOTSTEAD_DATA_DIR: dataDir,
    PORT: '0',
    BOTSTEAD_RATE_LIMIT: 'off',
  })
  // Warnings about files that are not indexed: the command says that itself, in words.
  const log = await createLog({ level: 'error', destination: notices.stream })
  const { startServer } = await import('../../app/container.js')
  return await startServer({ config, log, ...(weights && { weights }) })
}

async function stop(server: Server): Promise<void> {
  await server.stop(server.config.shutdownTimeoutMs)
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
