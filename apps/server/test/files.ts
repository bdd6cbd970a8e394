import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiError, type Client, type contract, createClient, type Input } from '@botstead/contract'
import type { DestinationStream } from 'pino'
import { afterAll, beforeAll, vi } from 'vitest'
import type { BotActor, Caller } from '../src/domain/actor.js'
import { createAddresses } from '../src/domain/addresses.js'
import { createEvaluation, type Evaluation } from '../src/features/evaluation/index.js'
import type { Quotas } from '../src/features/files/dependencies.js'
import { createFiles, type Files } from '../src/features/files/index.js'
import { createSearch, type Search } from '../src/features/search/index.js'
import { requireStorage } from '../src/features/tenancy/metering/index.js'
import { createApp } from '../src/http/app.js'
import type { BlobStore } from '../src/platform/blobs/blob-store.js'
import { openDiskBlobStore } from '../src/platform/blobs/disk.js'
import { createLocalBus } from '../src/platform/bus/local.js'
import type { Database } from '../src/platform/db/open.js'
import { createPager } from '../src/platform/db/pager.js'
import { createIdempotencyStore } from '../src/platform/idempotency/store.js'
import { createIds } from '../src/platform/ids.js'
import { createQueue, type Queue } from '../src/platform/jobs/queue.js'
import { createRunner, type Runner } from '../src/platform/jobs/runner.js'
import { createSealer } from '../src/platform/security/sealing.js'
import { createSigner } from '../src/platform/security/signing.js'
import { createLog } from '../src/platform/telemetry/log.js'
import { type TestEngine, useDatabase } from './engines.js'
import { createTestClock, type ServerClock } from './harness.js'
import { ManualTime } from './manual-time.js'

type UpsertInput = Input<typeof contract.files.upsert>

export const limits = {
  fileBytes: 10_000_000,
  indexedFileBytes: 200_000,
  passagesPerFile: 5000,
  evaluationCases: 50,
  searchesAtOnce: 2,
  searchTimeoutMs: 20_000,
}
export const quotas = { storage: 20_000_000, vector: 1_000_000 }

/** Applies them, to every workspace. */
export const fileQuotas: Quotas = {
  requireStorage: (tx, ...args) => {
    const serverQuotas = {
      storage_count: quotas.storage,
      knowledgebase_vector_storage: quotas.vector,
    }
    return requireStorage({ serverQuotas, domainEvents: { raise: async () => {} } }, tx, ...args)
  },
}

/** Files and search over HTTP, with everything below them real and callers that are made up. */
export interface FilesBench {
  database: Database
  blobs: BlobStore
  clock: ServerClock
  /** The timers of uploads, which stand still until a test moves them. */
  timers: ManualTime
  files: Files
  search: Search
  evaluation: Evaluation
  queue: Queue
  url: string
  /** A new bot in a new workspace, or in that of another one. */
  newBot(place?: { workspaceOf: TestBot }): TestBot
  /** Deletes a bot as far as files know. */
  forgetBot(bot: TestBot): void
  /** Ends the background jobs until they are started again. */
  pauseJobs(): Promise<void>
  startJobs(): void
}

export interface TestBot {
  id: string
  workspaceId: string
  /** A client that calls as the bot, or on behalf of an integration or a user. */
  as(caller?: Caller): Client
  /** Upserts a file and sends its content. */
  upload(input: Omit<UpsertInput, 'size'>, content: Content, caller?: Caller): Promise<Uploaded>
  /** As `upload`, and waits until the file has a final status. */
  uploadAndWait(
    input: Omit<UpsertInput, 'size'>,
    content: Content,
    caller?: Caller,
  ): Promise<Uploaded>
  /** Waits until a file has a status, and returns the file. */
  awaitStatus(idOrKey: string, status: string): Promise<Uploaded>
}

type Content = string | Uint8Array
type Uploaded = Awaited<ReturnType<Client['getFile']>>['file']

export const integration = (id: string): Caller => ({
  type: 'integration',
  id,
  name: `name of ${id}`,
  alias: `alias of ${id}`,
  authority: 'key',
})

/** Sends a content to an upload address. */
export async function send(
  uploadUrl: string,
  content: Content,
  headers: Record<string, string> = {},
): Promise<Response> {
  return await fetch(uploadUrl, { method: 'PUT', body: Buffer.from(content), headers })
}

/** Options of a bench. */
export interface BenchOptions {
  /** Destination of the lines of the log; none by default. */
  logTo?: DestinationStream
  /** Milliseconds between two reports of progress. */
  progressPauseMs?: number
}

/**
 * The bench for the tests of the surrounding `describe`; call the returned function inside a test.
 */
export function useFiles(engine: TestEngine, options: BenchOptions = {}): () => FilesBench {
  const database = useDatabase(engine)
  let bench: (FilesBench & AsyncDisposable) | undefined
  beforeAll(async () => {
    bench = await createBench(database(), options)
  })
  afterAll(async () => {
    await bench?.[Symbol.asyncDispose]()
  })
  return () => {
    if (bench === undefined) throw new Error('The bench is there only while a test runs')
    return bench
  }
}

async function createBench(
  database: Database,
  { logTo, progressPauseMs }: BenchOptions,
): Promise<FilesBench & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'botstead-files-'))
  const blobs = await openDiskBlobStore(folder)
  const log = await createLog(
    logTo === undefined ? { level: 'silent' } : { level: 'info', destination: logTo },
  )
  const { db, run, dialect } = database
  const clock = createTestClock()
  const ids = createIds()
  const bus = createLocalBus(log)
  const queue = createQueue({ db, bus, clock, ids })
  const timers = new ManualTime()
  const key = Buffer.alloc(32, 7)
  let url = ''
  const foundation = { db, run, dialect, clock, ids, bus, queue, pager: createPager(key) }

  const workspaces = new Map<string, string>()
  const callers = new Map<string, Caller>()
  const files = createFiles({
    ...foundation,
    blobs,
    timers,
    bots: {
      workspaceOf: async (botId) => workspaces.get(botId),
      keepWorkspaceOf: async (_, botId) => workspaces.get(botId),
    },
    isBackupRunning: async () => false,
    // Every caller is the key of a bot, but reaches the other bots of its workspace too.
    reach: {
      isBotKey: async () => true,
      holderIn: async () => undefined,
      requireReader: async () => {},
      writerIn: async (actor, botId) =>
        workspaces.get(botId) === actor.workspaceId ? { ...actor, botId } : undefined,
    },
    limits,
    quotas: fileQuotas,
    addresses: createAddresses(() => url),
    signer: createSigner(key, clock),
  })
  const search = createSearch({ ...foundation, database, log, files, limits, progressPauseMs })
  const { service, load } = search
  const evaluation = createEvaluation({ ...foundation, log, ask: service.ask, load, limits })

  const nobody = async (): Promise<never> => {
    throw new ApiError('Unauthorized', 'Only bots call here.')
  }
  const app = await createApp({
    routes: [...files.routes, ...search.routes, ...evaluation.routes],
    authenticator: {
      account: nobody,
      token: nobody,
      workspace: nobody,
      chat: nobody,
      chatUser: nobody,
      holderOf: nobody,
      bot: (token, botId): BotActor => {
        const workspaceId = workspaces.get(botId)
        const caller = callers.get(token)
        if (workspaceId === undefined || caller === undefined) {
          throw new ApiError('Unauthorized', 'The token is not known.')
        }
        return { kind: 'bot', workspaceId, botId, tokenId: token, caller }
      },
    },
    idempotency: createIdempotencyStore({ db, dialect, clock, sealer: createSealer(key) }),
    rateLimiter: undefined,
    throttle: () => undefined,
    exemptLoopback: true,
    allowance: 100,
    log,
    newRequestId: () => ids.next('req'),
    trustedProxies: [],
    bodyLimits: { small: { bytes: 1_000_000 }, large: { bytes: 1_000_000 } },
    allowedOrigins: undefined,
    meter: undefined,
    checkResponses: true,
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`

  let runner: Runner | undefined
  const startJobs = () => {
    runner = createRunner({
      ...foundation,
      log,
      handlers: { ...files.jobs, ...search.jobs, ...evaluation.jobs },
      pollMilliseconds: 200,
    })
    void runner.start()
  }
  const pauseJobs = async () => {
    await runner?.stop()
    runner = undefined
  }
  startJobs()

  function newBot(place?: { workspaceOf: TestBot }): TestBot {
    const botId = ids.uuid()
    const workspaceId = place?.workspaceOf.workspaceId ?? ids.uuid()
    workspaces.set(botId, workspaceId)
    const as = (caller: Caller = { type: 'bot' }) => {
      const token = JSON.stringify(caller).replaceAll(' ', '_')
      callers.set(token, caller)
      return createClient({ baseUrl: url, token, botId })
    }
    const bot: TestBot = {
      id: botId,
      workspaceId,
      as,
      async upload(input, content, caller) {
        const { file } = await as(caller).upsertFile({
          ...input,
          size: Buffer.byteLength(content),
        })
        const tagging: Record<string, string> = input.publicContentImmediatelyAccessible
          ? { 'x-amz-tagging': 'public=true' }
          : {}
        const response = await send(file.uploadUrl, content, tagging)
        if (!response.ok) throw new Error(`The upload failed: ${await response.text()}`)
        return (await as(caller).getFile({ id: file.id })).file
      },
      async uploadAndWait(input, content, caller) {
        const { id } = await bot.upload(input, content, caller)
        return await vi.waitFor(
          async () => {
            const { file } = await as(caller).getFile({ id })
            if (file.status.endsWith('_pending')) throw new Error(`The file is ${file.status}`)
            return file
          },
          { interval: 5 },
        )
      },
      async awaitStatus(idOrKey, status) {
        return await vi.waitFor(
          async () => {
            const { file } = await as().getFile({ id: idOrKey })
            if (file.status !== status) throw new Error(`The file is ${file.status}`)
            return file
          },
          { interval: 5 },
        )
      },
    }
    return bot
  }

  return {
    database,
    blobs,
    clock,
    timers,
    files,
    search,
    evaluation,
    queue,
    url,
    newBot,
    startJobs,
    pauseJobs,
    forgetBot: (bot) => void workspaces.delete(bot.id),
    async [Symbol.asyncDispose]() {
      const closed = app.close()
      // A connection that has just finished its last response would otherwise be kept for a while.
      app.server.closeAllConnections()
      await closed
      await pauseJobs()
      await search.stop(0)
      await bus[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
