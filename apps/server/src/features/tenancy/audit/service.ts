import { Readable } from 'node:stream'
import type { contract, Query } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { notFound } from '../../../domain/refusals.js'
import type { Standing } from '../../../domain/standing.js'
import { timeOf } from '../../../domain/times.js'
import type { Authorities, Guard } from '../../../platform/authorities.js'
import { bound } from '../../../platform/bound.js'
import { isoTime } from '../../../platform/clock.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page } from '../../../platform/db/paginate.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import { chainStart } from './chain.js'
import { type AuditDeps, recordAct, recordIn } from './record.js'
import * as store from './store.js'
import { type AuditRow, retentionOperation } from './table.js'
import { csvHeader, type ShownRecord, toCsvLine, toRecord } from './view.js'

export interface AuditServiceDeps extends AuditDeps {
  db: Db
  run: Run
  pager: Pager
  workspaces: {
    /** Throws unless the caller has the permission in a workspace, which may be another one than that of the call. */
    require(actor: WorkspaceActor, id: string, permission: 'audit:read'): Promise<unknown>
  }
  accounts: {
    findMany(ids: readonly string[]): Promise<ReadonlyMap<string, { email: string }>>
  }
  authorities: Pick<Authorities, 'guard'>
  standing: Standing
  /** Milliseconds for which records are kept. */
  retentionMs: number
}

interface AuditParts extends AuditServiceDeps {
  guard: Guard<WorkspaceActor>
}

type Listing = Query<typeof contract.audit.list>
type Exporting = Query<typeof contract.audit.export>

/** Records that an export reads at a time. */
const exportedAtOnce = 500
/** Records that one transaction of the retention deletes. */
const deletedAtOnce = 2000

export function createAuditService(deps: AuditServiceDeps) {
  const guard = deps.authorities.guard(deps.standing.untilOf)
  return bound(
    { ...deps, guard },
    { list: listRecords, export: exportRecords, sweep: sweepRecords },
  )
}

async function listRecords(
  deps: AuditServiceDeps,
  actor: WorkspaceActor,
  workspaceId: string,
  { nextToken, pageSize, ...filter }: Listing,
): Promise<Page<ShownRecord>> {
  await deps.workspaces.require(actor, workspaceId, 'audit:read')
  const page = deps.pager.page({
    operation: 'getAuditRecords',
    scope: workspaceId,
    filter,
    sort: 'sequence',
    direction: 'desc',
    nextToken,
    pageSize,
  })
  const found = await store.pageRecords(deps.db, workspaceId, toFilter(filter), page)
  return { rows: await withEmails(deps, found.rows), nextToken: found.nextToken }
}

/** Records of a filter as text, oldest first, as long as the caller may read them. The export itself is recorded before. */
async function exportRecords(
  deps: AuditParts,
  actor: WorkspaceActor,
  workspaceId: string,
  { format = 'jsonl', ...given }: Exporting,
): Promise<{ open(): Promise<Readable> }> {
  // What stays open ends with the rights in the workspace of the call.
  if (workspaceId !== actor.workspaceId)
    throw notFound(
      'workspace',
      workspaceId,
      'in this call: the header x-workspace-id names another one',
    )
  const filter = toFilter(given)
  await deps.run(async (tx) => recordAct(deps, tx, actor, { workspaceId }))
  const head = (await store.findHead(deps.db, workspaceId)) ?? chainStart
  return {
    open: async () => {
      const lines = linesOf(deps, workspaceId, filter, format, Number(head.sequence))
      const opened = Readable.from(lines, { highWaterMark: 1 })
      // It reads as long as its reader takes what was read.
      const unwatch = deps.guard.watch({
        authority: actor,
        grounds: deps.standing.groundsOf(actor),
        end: () => opened.destroy(),
      })
      return opened.once('close', unwatch)
    },
  }
}

async function* linesOf(
  deps: AuditServiceDeps,
  workspaceId: string,
  filter: store.AuditFilter,
  format: 'jsonl' | 'csv',
  end: number,
): AsyncGenerator<string> {
  if (format === 'csv') yield csvHeader
  const toLine = (shown: ShownRecord) =>
    format === 'csv' ? toCsvLine(toRecord(shown)) : `${JSON.stringify(toRecord(shown))}\n`
  let after = 0
  for (;;) {
    const rows = await store.listAfter(deps.db, workspaceId, filter, after, exportedAtOnce)
    const wanted = rows.filter(({ sequence }) => Number(sequence) <= end)
    yield (await withEmails(deps, wanted)).map(toLine).join('')
    after = Number(rows.at(-1)?.sequence ?? end)
    if (rows.length < exportedAtOnce || after >= end) return
  }
}

function toFilter({ userId, operation, afterDate, beforeDate }: Omit<Exporting, 'format'>) {
  return {
    accountId: userId,
    operation,
    since: timeOf('afterDate', afterDate, 'beginning'),
    until: timeOf('beforeDate', beforeDate, 'end'),
  }
}

async function withEmails(
  { accounts }: AuditServiceDeps,
  rows: readonly AuditRow[],
): Promise<ShownRecord[]> {
  const known = await accounts.findMany([...new Set(rows.flatMap((row) => row.account_id ?? []))])
  return rows.map((row) => ({ row, email: known.get(row.account_id ?? '')?.email }))
}

/**
 * Deletes the oldest expired records of one workspace. A new record of the chain has the place up to which they were
 * deleted, so that what is left can be checked from there.
 */
async function sweepRecords(deps: AuditServiceDeps, tx: Tx): Promise<number> {
  const before = isoTime(deps.clock.now() - deps.retentionMs)
  const workspaceId = await store.findExpired(tx, before)
  if (workspaceId === undefined) return 0
  // First, so that nobody else deletes from this chain meanwhile.
  await store.lockHeads(tx, [workspaceId])
  const last = await store.findLastExpired(tx, workspaceId, before, deletedAtOnce)
  if (last === undefined) return 0
  await store.deleteThrough(tx, workspaceId, last.sequence)
  const acting = { operation: retentionOperation, authority: 'server' } as const
  recordIn(deps, tx, async () => [workspaceId], acting, {
    changes: { through: { to: last.sequence }, hash: { to: last.hash }, before: { to: before } },
  })
  return last.count
}
