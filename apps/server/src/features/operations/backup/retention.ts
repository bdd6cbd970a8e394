import { setImmediate as nextTurn } from 'node:timers/promises'
import { readIndexPiece } from './content-index.js'
import { createDiskSet, type DiskSet } from './disk-collections.js'
import type { Lease } from './lease.js'
import type { Manifest } from './manifest.js'
import type { BackupTarget } from './target.js'

/**
 * Milliseconds for which pieces without a backup are left alone: a server that was restored elsewhere may be about
 * to refer to them.
 */
const leftoverAgeMs = 24 * 60 * 60 * 1000
/** Names of pieces that are remembered in one turn of the event loop. */
const addedAtOnce = 1000

export interface RetentionResult {
  backups: number
  pieces: number
}

/**
 * Removes backups that are too old, and pieces that no backup needs. The newest backup stays in any case.
 * @param before backups made before this time, in milliseconds since the Unix epoch, go
 * @param hold without which another backup could be using the pieces
 */
export async function removeOld(
  target: BackupTarget,
  before: number,
  lease: Pick<Lease, 'signal' | 'requireLease'>,
): Promise<RetentionResult> {
  // The times of pieces are those of the store.
  const leftoversBefore = Date.now() - leftoverAgeMs
  const ids = await target.listIds()
  const newest = ids.at(-1)
  const isOld = (id: string) => id !== newest && timeOf(id) < before
  // The manifest first: what is interrupted after it leaves pieces that nothing refers to, for the next time.
  let backups = 0
  for (const id of ids.filter(isOld)) {
    lease.requireLease()
    await target.removeManifest(id)
    backups += 1
  }
  using needed = createDiskSet()
  for (const id of ids) {
    if (isOld(id)) continue
    // A manifest that cannot be read may need any piece: then none is removed, and the error says which it is.
    await addPieces(target, await target.readManifest(id), needed, lease.signal)
  }
  let pieces = 0
  for await (const { key, storedAt } of target.pieces.list()) {
    lease.signal.throwIfAborted()
    if (storedAt > leftoversBefore || needed.has(key)) continue
    lease.requireLease()
    await target.pieces.remove(key)
    pieces += 1
  }
  await target.sweep(leftoverAgeMs)
  return { backups, pieces }
}

async function addPieces(
  target: BackupTarget,
  manifest: Manifest,
  needed: DiskSet,
  signal: AbortSignal,
): Promise<void> {
  let added = 0
  /** Requests have their turn in between: a database of terabytes has a million pieces. */
  const add = async (pieces: readonly string[]) => {
    for (const name of pieces) {
      needed.add(name)
      added += 1
      if (added % addedAtOnce === 0) await nextTurn()
    }
  }
  for (const { pieces } of [...manifest.database.parts, manifest.secrets]) await add(pieces)
  for (const name of manifest.contents.index) {
    signal.throwIfAborted()
    // Backups share most pieces of their lists, and a piece always lists the same contents.
    if (needed.has(name)) continue
    needed.add(name)
    for (const { pieces } of await readIndexPiece(target, name)) await add(pieces)
  }
}

/** Start of a backup, in milliseconds since the Unix epoch. */
export function timeOf(id: string): number {
  const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/.exec(id) ?? []
  return Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}Z`)
}
