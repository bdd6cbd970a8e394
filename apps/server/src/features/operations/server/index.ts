import { contract, type Output } from '@botstead/contract'
import type { SettingInForce } from '../../../config/config.js'
import { route } from '../../../http/mount.js'
import type { ReadinessCheck } from '../../../http/service-routes.js'
import { type Clock, isoTime, type Timers } from '../../../platform/clock.js'
import { databaseInfo } from '../../../platform/db/database-info.js'
import type { Db } from '../../../platform/db/schema.js'
import { diskSpaces } from '../../../platform/disk/free-space.js'
import type { Feature } from '../../feature.js'
import type { AccountsService } from '../../tenancy/accounts/index.js'

interface ServerDeps {
  db: Db
  clock: Clock
  timers: Timers
  version: string
  settings: readonly SettingInForce[]
  /** Whether file contents are in an object store. */
  hasObjectStore: boolean
  /** Folders of this machine that the server writes to. */
  folders: ReadonlyMap<'database' | 'contents', string>
  /** The address at which callers reach the server. */
  addresses: { base(): string }
  accounts: Pick<AccountsService, 'requireOperator'>
  /** The readiness checks of all features; read at each request. */
  checks: () => readonly ReadinessCheck[]
}

type WireState = Output<typeof contract.server.get>
type Part = WireState['parts'][number]

/** Milliseconds after which a part that does not respond counts as failed. */
const checkTimeout = 5000

/** The state and the settings of the server, for its operator. */
export function createServerState(deps: ServerDeps): Feature {
  const { db, clock, timers } = deps
  const startedAt = clock.now()

  async function checkPart({ name, check }: ReadinessCheck): Promise<Part> {
    let cancel = () => {}
    const late = new Promise<never>((_, reject) => {
      const error = new Error(`It does not respond within ${checkTimeout / 1000} s.`)
      cancel = timers.after(checkTimeout, () => reject(error))
    })
    try {
      const detail = await Promise.race([check(), late])
      return typeof detail === 'string'
        ? { name, status: 'degraded', detail }
        : { name, status: 'ok' }
    } catch (error) {
      return { name, status: 'failed', detail: error instanceof Error ? error.message : 'Failed.' }
    } finally {
      cancel()
    }
  }

  async function describe(): Promise<WireState> {
    return {
      version: deps.version,
      node: process.versions.node,
      address: deps.addresses.base(),
      startedAt: isoTime(startedAt),
      uptimeSeconds: Math.max(0, Math.floor((clock.now() - startedAt) / 1000)),
      memoryBytes: process.memoryUsage.rss(),
      database: await databaseInfo(db),
      contents: deps.hasObjectStore ? 's3' : 'disk',
      disks: (await diskSpaces(deps.folders)).map(({ of, freeBytes, totalBytes }) => ({
        of,
        freeBytes,
        totalBytes,
        usedBytes: Math.max(0, totalBytes - freeBytes),
      })),
      parts: await Promise.all(deps.checks().map(checkPart)),
      settings: [...deps.settings],
    }
  }

  return {
    name: 'server',
    routes: [
      route(contract.server.get, async ({ actor }) => {
        await deps.accounts.requireOperator(actor)
        return await describe()
      }),
    ],
  }
}
