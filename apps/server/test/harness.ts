import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@botstead/contract'
import { afterAll, beforeAll, expect, inject, vi } from 'vitest'
import { type Server, type ServerOptions, startServer } from '../src/app/container.js'
import { loadConfig } from '../src/config/config.js'
import { type Clock, maxTimeoutMs, type Timers } from '../src/platform/clock.js'
import { type Database, openDatabase } from '../src/platform/db/open.js'
import { createLog, type Log } from '../src/platform/telemetry/log.js'
import { engines, type TestEngine } from './engines.js'

/** A clock that tests move by hand; it runs with the real one in between. */
export interface TestClock extends Clock {
  advance(milliseconds: number): void
}

/** The clock of a server under test, which its timers follow. */
export interface ServerClock extends TestClock, Timers {
  /** Stops the clock during the work, however long that takes; `advance` still moves it. */
  hold<T>(work: () => Promise<T>): Promise<T>
}

interface Timer {
  /** Due time by the clock of the test. */
  readonly at: number
  readonly ring: () => void
  handle: NodeJS.Timeout
}

export function createTestClock(): ServerClock {
  let offset = 0
  let held: number | undefined
  const timers = new Set<Timer>()
  const now = () => held ?? Date.now() + offset
  return {
    now,
    after(milliseconds, callback) {
      const ring = () => {
        timers.delete(timer)
        callback()
      }
      const timer: Timer = {
        at: now() + milliseconds,
        ring,
        handle: setTimeout(ring, Math.min(milliseconds, maxTimeoutMs)),
      }
      timers.add(timer)
      return () => {
        clearTimeout(timer.handle)
        timers.delete(timer)
      }
    },
    advance(milliseconds) {
      offset += milliseconds
      if (held !== undefined) held += milliseconds
      // In the order in which they are due; timers that are set meanwhile count from now.
      for (const timer of [...timers].sort((a, b) => a.at - b.at)) {
        clearTimeout(timer.handle)
        const left = Math.max(timer.at - now(), 0)
        timer.handle = setTimeout(timer.ring, Math.min(left, maxTimeoutMs))
      }
    },
    hold: async (work) => {
      if (held !== undefined) return await work()
      held = now()
      try {
        return await work()
      } finally {
        held = undefined
      }
    },
  }
}

export interface TestServer {
  server: Server
  /** Base address, without a trailing slash. */
  url: string
  /** Personal token and workspace of the first account. */
  token: string
  workspaceId: string
  clock: ServerClock
  /** Client of the contract; `as` changes who calls. */
  client(as?: Partial<Parameters<typeof createClient>[0]>): ReturnType<typeof createClient>
  /**
   * Lets milliseconds pass once no job is running and no delivery is being sent: otherwise their leases
   * would expire, and they would be taken over and begin again.
   */
  pass(milliseconds: number): Promise<void>
  /** A plain request: path below the base address. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  close(): Promise<void>
}

/** What a test changes in a server beside its settings. */
type TestServerOptions = Pick<
  ServerOptions,
  'findEntry' | 'syncLog' | 'ports' | 'passwordCost' | 'busyTimeout'
>

/** Starts the whole product on a free port, with its own data folder and database. */
export async function startTestServer(
  engine: TestEngine,
  environment: Record<string, string> = {},
  log?: Log,
  options: TestServerOptions = {},
): Promise<TestServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'botstead-data-'))
  const place = engine.name === 'postgres' ? await engine.createPlace(true) : undefined
  if (place === undefined) await copyFile(inject('migratedFile'), join(dataDir, 'botstead.db'))
  const { config, settings } = loadConfig({
    PORT: '0',
    BOTSTEAD_DATA_DIR: dataDir,
    // Written at every start, which is for those who test a full disk.
    BOTSTEAD_DISK_RESERVE_BYTES: '0',
    // No search of a test is slow by itself, but a machine may be too busy for it.
    BOTSTEAD_SEARCH_TIMEOUT_MS: '1m',
    ...(place?.options.url && { DATABASE_URL: place.options.url }),
    ...environment,
  })
  const clock = createTestClock()
  const removePlace = async () => {
    await place?.remove()
    await rm(dataDir, { recursive: true, force: true })
  }
  const server = await startServer({
    config,
    settings,
    clock,
    timers: clock,
    log: log ?? (await createLog({ level: 'silent' })),
    checkResponses: true,
    // A four hundredth of the usual work: tests sign in hundreds of times.
    passwordCost: { logN: 9, r: 8, p: 1 },
    // By default, what waits for a connection or a lock while the machine stands still is refused after five seconds.
    ...(place && { busyTimeout: 25_000 }),
    ...options,
  }).catch(async (error: unknown) => {
    await removePlace()
    throw error
  })
  const first = server.firstStart
  if (first === undefined) throw new Error('A new data folder makes a first start')
  const url = server.address
  let opened: Promise<Database> | undefined
  return {
    server,
    url,
    token: first.token,
    workspaceId: first.workspaceId,
    clock,
    client: (as) =>
      createClient({ baseUrl: url, token: first.token, workspaceId: first.workspaceId, ...as }),
    pass: async (milliseconds) => {
      opened ??= openDatabase(place?.options ?? { file: join(config.dataDir, 'botstead.db') })
      const { db } = await opened
      await vi.waitFor(async () => {
        const jobs = db.selectFrom('jobs').select('kind').where('state', '=', 'running')
        const sent = db.selectFrom('deliveries').select('kind').where('owner', 'is not', null)
        expect([await jobs.execute(), await sent.execute()]).toEqual([[], []])
      })
      clock.advance(milliseconds)
    },
    fetch: (path, init) => fetch(`${url}${path}`, init),
    close: async () => {
      await server.stop(5000)
      await (await opened)?.close()
      await removePlace()
    },
  }
}

/**
 * A server for the tests of the surrounding `describe`; call the returned function inside a test.
 */
export function useServer(
  engine: TestEngine | undefined = engines[0],
  environment: Record<string, string> = {},
  options: TestServerOptions = {},
): () => TestServer {
  let running: TestServer | undefined
  beforeAll(async () => {
    if (engine === undefined) throw new Error('There is no engine to test on')
    running = await startTestServer(engine, environment, undefined, options)
  })
  afterAll(async () => {
    await running?.close()
  })
  return () => {
    if (running === undefined) throw new Error('The server is there only while a test runs')
    return running
  }
}
