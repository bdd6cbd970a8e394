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
  const known = createLruCache<string, { at: number; recorded: Promise<void> }>(maxKnown)
  return ({ workspaceId, reader, origin, kind, resourceId }) => {
    const key = JSON.stringify([reader.accountId, workspaceId, kind, resourceId])
    const before = known.get(key)
    // A second request of the same moment waits for the record of the first.
    if (before !== undefined && clock.now() - before.at < coalescedFor) {
      return before.at === clock.now() ? before.recorded : undefined
    }
    const recorded = run(async (tx) =>
      recordIn(deps, tx, async () => [workspaceId], actingOf(reader, origin), { resourceId }),
    ).catch((err: unknown) => {
      known.delete(key)
      log.error({ err, workspaceId, accountId: reader.accountId }, 'a reading was not recorded')
    })
    known.set(key, { at: clock.now(), recorded })
    return recorded
  }
}
