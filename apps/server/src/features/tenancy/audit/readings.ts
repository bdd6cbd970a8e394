import type { NoteReading } from '../../../domain/readings.js'
import type { Run } from '../../../platform/db/schema.js'
import { createLruCache } from '../../../platform/lru-cache.js'
import type { Log } from '../../../platform/telemetry/log.js'
import { type AuditDeps, actingOf, recordIn } from './record.js'

export interface ReadingsDeps extends AuditDeps {
  run: Run
  log: Log
}

/** Milliseconds for which further readings of the same thing by the same person belong to one record. */
const coalescedFor = 10 * 60 * 1000
/** Readings that are known at a time; a person who reads more things than that leaves more records. */
const maxKnown = 10_000

/**
 * Records readings, one for each person and thing in ten minutes and process. It is recorded before the content is sent.
 * A server that cannot write, as on a full disk, still lets people read, and logs what it could not record.
 */
export function createReadings(deps: ReadingsDeps): NoteReading {
  const { run, clock, log } = deps
  const known = createLruCache<string, { at: number; recorded?: Promise<void> }>(maxKnown)
  return ({ workspaceId, reader, origin, kind, resourceId }) => {
    const { accountId, tokenId } = reader
    // With the token and the address, so that whoever stole the token does not read under the record of its owner.
    const { operation, address } = origin
    const key = JSON.stringify([accountId, tokenId, address, workspaceId, kind, resourceId])
    // An export is more than the list that was read before.
    const before = operation.startsWith('export') ? undefined : known.get(key)
    // A further request waits for the record of the first, if that is not stored yet.
    if (before !== undefined && clock.now() - before.at < coalescedFor) return before.recorded
    const entry: { at: number; recorded?: Promise<void> } = { at: clock.now() }
    entry.recorded = run(async (tx) =>
      recordIn(deps, tx, async () => [workspaceId], actingOf(reader, origin), { resourceId }),
    )
      .catch((err: unknown) => {
        known.delete(key)
        log.error({ err, workspaceId, accountId }, 'a reading was not recorded')
      })
      .finally(() => {
        delete entry.recorded
      })
    known.set(key, entry)
    return entry.recorded
  }
}
