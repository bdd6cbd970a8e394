import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { type Server, startServer } from '../../src/app/container.js'
import { loadConfig } from '../../src/config/config.js'
import { createLog } from '../../src/platform/telemetry/log.js'
import { engines } from '../engines.js'
import { createTestClock, type ServerClock, startTestServer, type TestServer } from '../harness.js'
import { part } from '../part.js'

const secret = 'the secret that all processes share'

/** An engine, and whether what is tested happens at another process than the change. */
export interface Place {
  name: string
  isElsewhere: boolean
}

const otherProcesses = engines
  .filter(({ name }) => name === 'postgres')
  .map(({ name }) => ({ name, isElsewhere: true }))

/** The same process on each engine, and another one where several serve a database. */
const places: readonly Place[] = [
  ...engines.map(({ name }) => ({ name, isElsewhere: false })),
  ...otherProcesses,
]

/**
 * Defines the same tests once per place. The long run has those of PostgreSQL alone; the usual one has SQLite, and
 * PostgreSQL with another process.
 */
export function describePlacesSlow(name: string, define: (place: Place) => void): void {
  const isAlone = (place: Place) => place.name === 'postgres' && !place.isElsewhere
  const chosen =
    part === 'all' ? places : places.filter((place) => isAlone(place) === (part === 'long'))
  describe.each(chosen)(name, define)
}

/** Only the places with another process. */
export const placesElsewhere: readonly Place[] = otherProcesses

/** The servers of a place. */
export interface Servers {
  first: TestServer
  /** Address of the process at which something is open; that of the first where there is no other. */
  address: string
  /** Variables by which commands and other processes find the database and the secret. */
  environment: Record<string, string>
  /** The clocks of all processes of the place. */
  clocks: readonly ServerClock[]
  /** Stops all clocks during the work, so that no cache expires, and no check of every half minute comes. */
  untimed<T>(work: () => Promise<T>): Promise<T>
}

/** Servers for the tests of the surrounding `describe`; call the returned function inside a test. */
export function useServers(place: Place, settings: Record<string, string> = {}): () => Servers {
  let servers: Servers | undefined
  let second: Server | undefined
  let folder = ''

  beforeAll(async () => {
    const engine = engines.find(({ name }) => name === place.name)
    if (engine === undefined) throw new Error('There is no such engine')
    const shared = { BOTSTEAD_SECRET: secret, ...settings }
    const first = await startTestServer(engine, shared)
    const { databaseUrl, dataDir } = first.server.config
    const environment = {
      ...shared,
      BOTSTEAD_DATA_DIR: dataDir,
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    }
    folder = await mkdtemp(join(tmpdir(), 'botstead-data-'))
    const clock = createTestClock()
    const untimed = <T>(work: () => Promise<T>) => first.clock.hold(() => clock.hold(work))
    const clocks = [first.clock, clock]
    servers = { first, address: first.url, environment, clocks, untimed }
    if (!place.isElsewhere) return
    const { config } = loadConfig({
      ...environment,
      PORT: '0',
      BOTSTEAD_DATA_DIR: folder,
      BOTSTEAD_ROLES: 'api',
    })
    const log = await createLog({ level: 'silent' })
    second = await startServer({ config, clock, timers: clock, log })
    servers = { ...servers, address: second.address }
  })

  afterAll(async () => {
    await second?.stop(5000)
    await servers?.first.close()
    await rm(folder, { recursive: true, force: true })
  })

  return () => {
    if (servers === undefined) throw new Error('The servers are there only while a test runs')
    return servers
  }
}
