import type { Db } from '../../../platform/db/schema.js'
import { type ChainFault, chainStart, checkChain } from './chain.js'
import * as store from './store.js'
import type { Link } from './table.js'

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
 * @param known by workspace, a record that must still be part of its log
 */
export async function* checkAuditLogs(
  db: Db,
  known: ReadonlyMap<string, Link>,
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
    const sequence = known.get(workspaceId)?.sequence ?? 0
    const fault = { workspaceId, sequence, difference: 'the workspace has no audit log' }
    yield { workspaceId, fault, records: 0, head: undefined }
  }
}

async function checkLog(db: Db, workspaceId: string, known: Link | undefined): Promise<CheckedLog> {
  // Before the records: what is added meanwhile is not read.
  const head = await store.findHead(db, workspaceId)
  const start = await startOf(db, workspaceId)
  const chain = checkChain(workspaceId, start, known)
  const end = Number(head?.sequence ?? Number.MAX_SAFE_INTEGER)
  let after = 0
  let records = 0
  for (;;) {
    const rows = await store.listAfter(db, workspaceId, {}, after, rowsAtOnce)
    for (const row of rows) {
      if (Number(row.sequence) > end) break
      const fault = chain.add(row)
      if (fault !== undefined) return { workspaceId, fault, records, head }
      records += 1
    }
    after = Number(rows.at(-1)?.sequence ?? end)
    if (rows.length < rowsAtOnce || after >= end) break
  }
  return { workspaceId, fault: chain.end(head), records, head }
}

/** The place at which the log begins: after what the last retention deleted. */
async function startOf(db: Db, workspaceId: string): Promise<Link> {
  const deletion = await store.findDeletion(db, workspaceId)
  if (deletion === undefined) return chainStart
  const { through, hash } = JSON.parse(deletion.changes ?? '{}')
  return { sequence: Number(through?.to ?? 0), hash: String(hash?.to ?? '') }
}
