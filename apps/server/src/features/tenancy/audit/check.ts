import type { Db } from '../../../platform/db/schema.js'
import { type ChainFault, chainStart, checkChain } from './chain.js'
import * as store from './store.js'
import type { AuditRow, Link } from './table.js'

/** The outcome for one workspace. */
export interface CheckedLog {
  workspaceId: string
  /** The first record that is wrong; undefined if all are right. */
  fault: ChainFault | undefined
  /** Number of records that were read. */
  records: number
  /** The newest record; undefined if there is none. */
  head: Link | undefined
}

const rowsAtOnce = 1000

/**
 * Checks the audit logs of all workspaces, one after the other.
 * @param known by workspace, records that must still be part of its log
 */
export async function* checkAuditLogs(
  db: Db,
  known: ReadonlyMap<string, readonly Link[]>,
): AsyncGenerator<CheckedLog> {
  const open = new Set(known.keys())
  let after = ''
  for (;;) {
    const ids = await store.listWorkspacesAfter(db, after, rowsAtOnce)
    for (const id of ids) {
      open.delete(id)
      yield await checkLog(db, id, known.get(id))
    }
    const last = ids.at(-1)
    if (last === undefined) break
    after = last
  }
  for (const workspaceId of open) {
    const sequence = known.get(workspaceId)?.[0]?.sequence ?? 0
    const fault = { workspaceId, sequence, difference: 'the workspace has no audit log' }
    yield { workspaceId, fault, records: 0, head: undefined }
  }
}

async function checkLog(
  db: Db,
  workspaceId: string,
  known: readonly Link[] | undefined,
): Promise<CheckedLog> {
  for (;;) {
    const deletion = await store.findDeletion(db, workspaceId)
    const checked = await checkFrom(db, workspaceId, startOf(deletion), known)
    // Retention may have deleted records while they were read.
    const isLast = (await store.findDeletion(db, workspaceId))?.id === deletion?.id
    if (checked.fault === undefined || isLast) return checked
  }
}

async function checkFrom(
  db: Db,
  workspaceId: string,
  start: Link | undefined,
  known: readonly Link[] | undefined,
): Promise<CheckedLog> {
  // Before the records: what is added meanwhile is not read.
  const head = await store.findHead(db, workspaceId)
  const end = Number(head?.sequence ?? Number.MAX_SAFE_INTEGER)
  let records = 0
  const result = (fault: ChainFault | undefined) => ({ workspaceId, fault, records, head })
  if (start === undefined) {
    const difference = 'the record of the last deletion by retention cannot be read'
    return result({ workspaceId, sequence: 0, difference })
  }
  const chain = checkChain(workspaceId, start, known)
  const fault = chain.begin()
  if (fault !== undefined) return result(fault)
  let after = 0
  for (;;) {
    const rows = await store.listAfter(db, workspaceId, {}, after, rowsAtOnce)
    for (const row of rows) {
      if (Number(row.sequence) > end) break
      const found = chain.add(row)
      if (found !== undefined) return result(found)
      records += 1
    }
    after = Number(rows.at(-1)?.sequence ?? end)
    if (rows.length < rowsAtOnce || after >= end) break
  }
  return result(chain.end(head))
}

/** The last record that retention deleted; undefined if the record of that was made unreadable. */
function startOf(deletion: AuditRow | undefined): Link | undefined {
  if (deletion === undefined) return chainStart
  try {
    const { through, hash } = Object(JSON.parse(deletion.changes ?? '{}'))
    return { sequence: Number(through.to), hash: String(hash.to) }
  } catch {
    return undefined
  }
}
