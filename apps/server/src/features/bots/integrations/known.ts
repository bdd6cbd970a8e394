import type { Awaitable } from '../../../platform/awaitable.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Db } from '../../../platform/db/schema.js'
import { createFactCache } from '../../../platform/fact-cache.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import { openSigningSecrets } from '../definitions/index.js'
import { type IntegrationDefinition, readDefinition } from './definition.js'
import { findInstalled } from './store.js'

/** An integration, with what calls to it need. */
interface KnownIntegration {
  id: string
  /** Workspace of its developer. */
  workspaceId: string
  name: string
  /** Whether a development tool made it. */
  isDev: boolean
  /** Its address; undefined if it has none. */
  url: string | undefined
  /** Whether its code runs here. */
  isHosted: boolean
  /** Secrets that sign calls, the newest first. */
  secrets: readonly string[]
  /** Milliseconds that it may take for a response. */
  timeoutMs: number
  definition: IntegrationDefinition
}

/** Integrations, cached for a few seconds. */
export interface KnownIntegrations {
  of(id: string): Awaitable<KnownIntegration | undefined>
  forget(id: string): void
}

/** Seconds that a call may take: the default, and the most that an integration may declare. */
const seconds = { default: 60, max: 15 * 60 }

/** Makes the cache of what calls to integrations need: at most 1,000, with their secrets unsealed. */
export function createKnownIntegrations(deps: {
  db: Db
  clock: Clock
  sealer: Sealer
}): KnownIntegrations {
  const { db, clock, sealer } = deps
  const known = createFactCache<KnownIntegration>({
    clock,
    maxFacts: 1000,
    read: async (id) => {
      const row = await findInstalled(db, id)
      if (row === undefined) return undefined
      return {
        id,
        workspaceId: row.workspace_id,
        name: row.name,
        isDev: row.dev === 1,
        url: row.url ?? undefined,
        isHosted: row.url === null && row.deployment_id !== null,
        secrets: openSigningSecrets(
          sealer,
          {
            current: row.signing_secret,
            previous: row.former_secret,
            previousUntil: row.former_secret_until,
          },
          isoTime(clock.now()),
        ),
        timeoutMs: Math.min(row.max_execution_time || seconds.default, seconds.max) * 1000,
        definition: readDefinition(row.definition),
      }
    },
  })
  return { of: (id) => known.get(id), forget: (id) => known.forgetGroup(id) }
}
