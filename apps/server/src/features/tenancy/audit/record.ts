import type { AccountActor, Authority, Origin, WorkspaceActor } from '../../../domain/actor.js'
import type { Browser } from '../../../domain/browser.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { encodeJson } from '../../../platform/db/columns.js'
import type { Tx } from '../../../platform/db/schema.js'
import { justBeforeCommit } from '../../../platform/db/transaction.js'
import type { Ids } from '../../../platform/ids.js'
import { hashOf } from './chain.js'
import * as store from './store.js'
import type { AuditAuthority, AuditRow } from './table.js'

/** What recording needs; every slice has it. */
export interface AuditDeps {
  clock: Clock
  ids: Ids
}

/** Values of a field before and after. Empty where they are kept out, because they may contain secrets. */
export interface Change {
  from?: unknown
  to?: unknown
}

/** What was done, and to what. */
export interface Act {
  resourceId?: string | undefined
  resourceName?: string | null | undefined
  /** By the name of the field. Never a secret. */
  changes?: Readonly<Record<string, Change>>
}

/** Who acted, and from where. */
export interface Acting {
  operation: string
  accountId?: string
  authority: AuditAuthority
  tokenId?: string
  tokenNote?: string
  address?: string
}

/** An act of a transaction that is recorded at its end. */
interface Pending {
  /** The workspaces whose logs have it; read at the end, because the transaction may change them. */
  workspaces: (tx: Tx) => Promise<readonly string[]>
  acting: Acting
  act: Act
}

const pending = new WeakMap<Tx, Pending[]>()
/** Workspaces whose heads are locked and moved by one statement each. */
const workspacesAtOnce = 500
/** Characters of a name, a note or a value that a record keeps. */
const maxText = 500

/** Records an act of a caller in their workspace, or another one; nothing in calls of operations without records. */
export function recordAct(
  deps: AuditDeps,
  tx: Tx,
  actor: WorkspaceActor | AccountActor,
  act: Act & { workspaceId?: string },
): void {
  const { origin } = actor
  if (origin === undefined) return
  const workspaceId = act.workspaceId ?? ('workspaceId' in actor ? actor.workspaceId : undefined)
  if (workspaceId === undefined)
    throw new Error(`${origin.operation} names no workspace to record in`)
  recordIn(deps, tx, async () => [workspaceId], actingOf(actor, origin), act)
}

/** Records an act in the logs of some workspaces, which are read at the end of the transaction. */
export function recordIn(
  deps: AuditDeps,
  tx: Tx,
  workspaces: Pending['workspaces'],
  acting: Acting,
  act: Act,
): void {
  const waiting = pending.get(tx)
  if (waiting !== undefined) {
    waiting.push({ workspaces, acting, act })
    return
  }
  const acts: Pending[] = [{ workspaces, acting, act }]
  pending.set(tx, acts)
  justBeforeCommit(tx, () => writeActs(deps, tx, acts))
}

/** The caller of an operation, as a record has it. */
export function actingOf(
  { accountId, tokenId, authority }: { accountId: string; tokenId: string; authority: Authority },
  { operation, address }: Origin,
): Acting {
  const { kind, note } = authority
  return { operation, accountId, authority: kind, tokenId, tokenNote: note, address }
}

/** Somebody whose browser begins a session. */
export function browsing(
  accountId: string,
  { operation, address }: Pick<Browser, 'operation' | 'address'>,
  sessionId?: string,
): Acting {
  const session = sessionId === undefined ? {} : { tokenId: sessionId }
  return { operation, accountId, authority: 'session', address, ...session }
}

/** The changes of fields that may be shown, of those that differ. */
export function changesBetween<Row extends object>(
  before: Partial<Row>,
  after: Partial<Row>,
  fields: readonly (keyof Row & string)[],
): Record<string, Change> {
  const changes: Record<string, Change> = {}
  for (const field of fields) {
    const [from, to] = [before[field] ?? null, after[field] ?? null]
    if (encodeJson(from) !== encodeJson(to)) changes[camelCase(field)] = { from, to }
  }
  return changes
}

/** The name of a column as the interface has it. */
function camelCase(column: string): string {
  return column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** The fields of a request by name alone. */
export function fieldsOf(body: object): Record<string, Change> {
  const given = Object.entries(body).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given.map(([name]) => [name, {}]))
}

/** Locks the heads last and in one order, so that transactions cannot deadlock over them. */
async function writeActs(deps: AuditDeps, tx: Tx, acts: readonly Pending[]): Promise<void> {
  const byWorkspace = new Map<string, Pending[]>()
  for (const act of acts) {
    for (const workspaceId of await act.workspaces(tx)) {
      const ofWorkspace = byWorkspace.get(workspaceId) ?? []
      byWorkspace.set(workspaceId, [...ofWorkspace, act])
    }
  }
  const ids = [...byWorkspace.keys()].sort()
  for (let start = 0; start < ids.length; start += workspacesAtOnce) {
    const heads = await store.lockHeads(tx, ids.slice(start, start + workspacesAtOnce))
    const links = heads.map((head) => linksOf(deps, head, byWorkspace.get(head.workspace_id) ?? []))
    await store.insertRecords(
      tx,
      links.flatMap(({ rows }) => rows),
    )
    await store.moveHeads(
      tx,
      links.map(({ head }) => head),
    )
  }
}

type Head = Awaited<ReturnType<typeof store.lockHeads>>[number]

/** The records of some acts behind the head of a workspace, and the new head. */
function linksOf(
  { clock, ids }: AuditDeps,
  head: Head,
  acts: readonly Pending[],
): { rows: AuditRow[]; head: Head } {
  const now = isoTime(clock.now())
  // Clocks of processes differ; the order of the records does not.
  const recordedAt = now > head.recorded_at ? now : head.recorded_at
  let last = { sequence: Number(head.sequence), hash: head.hash }
  const rows = acts.map(({ acting, act }) => {
    const record = {
      workspace_id: head.workspace_id,
      sequence: last.sequence + 1,
      id: ids.next('audit'),
      recorded_at: recordedAt,
      operation: acting.operation,
      account_id: acting.accountId ?? null,
      authority: acting.authority,
      token_id: acting.tokenId ?? null,
      token_note: shortened(acting.tokenNote),
      address: acting.address ?? null,
      resource_id: act.resourceId ?? null,
      resource_name: shortened(act.resourceName),
      changes: act.changes && Object.keys(act.changes).length > 0 ? textOf(act.changes) : null,
    }
    const row = { ...record, hash: hashOf(record, last.hash) }
    last = row
    return row
  })
  const { sequence, hash } = last
  const { workspace_id } = head
  return { rows, head: { workspace_id, recorded_at: recordedAt, sequence, hash } }
}

function shortened(text: string | null | undefined): string | null {
  if (text === undefined || text === null || text === '') return null
  return text.length > maxText ? `${text.slice(0, maxText).toWellFormed()}…` : text
}

function textOf(changes: Readonly<Record<string, Change>>): string {
  return JSON.stringify(changes, (_, value: unknown) =>
    typeof value === 'string' ? (shortened(value) ?? '') : value,
  )
}
