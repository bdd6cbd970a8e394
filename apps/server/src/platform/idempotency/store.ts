import { createHash } from 'node:crypto'
import { type Clock, isoTime } from '../clock.js'
import type { Dialect } from '../db/dialect.js'
import { prepared } from '../db/prepared.js'
import type { Db, Tx } from '../db/schema.js'
import type { Sealer } from '../security/sealing.js'
import type { IdempotencyTable } from './table.js'

/** The scope within which an idempotency key is unique. */
interface IdempotencyScope {
  principal: string
  operation: string
  key: string
}

interface RememberedResponse {
  fingerprint: string
  /** HTTP status of the first response. */
  status: number
  response: unknown
}

/** Remembers the first response to a keyed request for 24 hours. */
export interface IdempotencyStore {
  find(scope: IdempotencyScope): Promise<RememberedResponse | undefined>
  /** In the transaction of the change itself, so that neither exists without the other. */
  save(tx: Tx, scope: IdempotencyScope, remembered: RememberedResponse): Promise<void>
  /** Whether a failed {@link save} lost to another request with the same key. */
  isTaken(error: unknown): boolean
  /** Forgets some of what has expired; returns how many there were. */
  sweep(tx: Tx): Promise<number>
}

const lifetimeMilliseconds = 24 * 60 * 60 * 1000
const sweptAtOnce = 500

const selectRemembered = prepared<{ id: string; now: string }>()((db, p) =>
  db
    .selectFrom('idempotency_keys')
    .select(['fingerprint', 'status', 'answer'])
    .where('id', '=', p('id'))
    .where('expires_at', '>', p('now')),
)

/** An expired row may stand until the next sweep; it must not block a new use of the key. */
const insertUnlessTaken = prepared<IdempotencyTable & { now: string }>()((db, p) =>
  db
    .insertInto('idempotency_keys')
    .values({
      id: p('id'),
      fingerprint: p('fingerprint'),
      status: p('status'),
      answer: p('answer'),
      expires_at: p('expires_at'),
    })
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet(({ ref }) => ({
          fingerprint: ref('excluded.fingerprint'),
          status: ref('excluded.status'),
          answer: ref('excluded.answer'),
          expires_at: ref('excluded.expires_at'),
        }))
        .where('idempotency_keys.expires_at', '<=', p('now')),
    ),
)

/** Another request with the same key was faster. */
class KeyTakenError extends Error {
  override name = 'KeyTakenError'
}

interface Options {
  db: Db
  dialect: Dialect
  clock: Clock
  sealer: Sealer
}

/** Makes the store of responses by idempotency key, sealed, for 24 hours. */
export function createIdempotencyStore(options: Options): IdempotencyStore {
  const { db, dialect, clock, sealer } = options
  return {
    find: async (scope) => {
      const now = isoTime(clock.now())
      const row = await selectRemembered.first(db, { id: idOf(scope), now })
      if (row === undefined) return undefined
      const { fingerprint, status, answer } = row
      return { fingerprint, status, response: JSON.parse(sealer.open(answer)) }
    },
    save: async (tx, scope, remembered) => {
      const now = clock.now()
      const inserted = await insertUnlessTaken.affected(tx, {
        id: idOf(scope),
        fingerprint: remembered.fingerprint,
        status: remembered.status,
        answer: sealer.seal(JSON.stringify(remembered.response)),
        expires_at: isoTime(now + lifetimeMilliseconds),
        now: isoTime(now),
      })
      if (inserted === 0) throw new KeyTakenError('The key was used by another request.')
    },
    // The other request may have made something that is unique before it stored its response.
    isTaken: (error) => error instanceof KeyTakenError || dialect.isUniqueViolation(error),
    sweep: async (tx) => {
      const result = await tx
        .deleteFrom('idempotency_keys')
        .where('id', 'in', ({ selectFrom }) =>
          selectFrom('idempotency_keys')
            .select('id')
            .where('expires_at', '<=', isoTime(clock.now()))
            .limit(sweptAtOnce),
        )
        .executeTakeFirst()
      return Number(result.numDeletedRows)
    },
  }
}

function idOf(scope: IdempotencyScope): string {
  return createHash('sha256')
    .update(JSON.stringify([scope.principal, scope.operation, scope.key]))
    .digest('base64url')
}

/**
 * Called by a service inside its transaction with what it made, so that the response is remembered in
 * the same commit as the change. Undefined when the caller sent no `Idempotency-Key`.
 */
export type Remember<Made> = ((tx: Tx, made: Made) => Promise<void>) | undefined
