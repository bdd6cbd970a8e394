import type { contract, Output } from '@botstead/contract'
import type { AuditRow } from './table.js'

/** A record with the address that the account has now. */
export interface ShownRecord {
  row: AuditRow
  email: string | undefined
}

type WireRecord = Output<typeof contract.audit.list>['records'][number]

/** The kinds that clients know, by operation; an operation that is missing is `UNKNOWN` to them. */
const actions: Readonly<Record<string, WireRecord['action']>> = {
  createWorkspaceMember: 'ADD_WORKSPACE_MEMBER',
  acceptInvitation: 'ADD_WORKSPACE_MEMBER',
  signUpWithInvitation: 'ADD_WORKSPACE_MEMBER',
  deleteWorkspaceMember: 'REMOVE_WORKSPACE_MEMBER',
  updateWorkspaceMember: 'UPDATE_WORKSPACE_MEMBER',
  createWorkspace: 'CREATE_WORKSPACE',
  updateWorkspace: 'UPDATE_WORKSPACE',
  deleteWorkspace: 'CLOSE_WORKSPACE',
  createBot: 'CREATE_BOT',
  updateBot: 'UPDATE_BOT',
  deleteBot: 'DELETE_BOT',
  deployBotVersion: 'DEPLOY_BOT',
  transferBot: 'TRANSFER_BOT',
  updateBotWebchatSettings: 'UPDATE_BOT_CHANNEL',
}

export function toRecord({ row, email }: ShownRecord): WireRecord {
  return {
    id: row.id,
    recordedAt: row.recorded_at,
    sequence: Number(row.sequence),
    action: actions[row.operation] ?? 'UNKNOWN',
    operation: row.operation,
    userId: row.account_id,
    userEmail: email ?? null,
    authority: row.authority,
    tokenId: row.token_id,
    tokenNote: row.token_note,
    address: row.address,
    resourceId: row.resource_id,
    resourceName: row.resource_name,
    value: row.changes,
    hash: row.hash,
  }
}

const columns = [
  'sequence',
  'recordedAt',
  'action',
  'operation',
  'userId',
  'userEmail',
  'authority',
  'tokenId',
  'tokenNote',
  'address',
  'resourceId',
  'resourceName',
  'value',
  'id',
  'hash',
] as const satisfies readonly (keyof WireRecord)[]

export const csvHeader = toCsvRow(columns)

export function toCsvLine(record: WireRecord): string {
  return toCsvRow(columns.map((name) => String(record[name] ?? '')))
}

/** A line of a CSV file, with its end. */
export function toCsvRow(cells: readonly string[]): string {
  return `${cells.map(toCell).join(',')}\r\n`
}

/** A text that a spreadsheet shows and does not calculate. */
function toCell(text: string): string {
  // A spreadsheet may separate columns by semicolons or tabs; within such a row no quote begins a cell, and a line break ends it.
  const shown = text.replaceAll(/(^|[;\t\r\n])(?=[=+\-@])|^(?=[\t\r\n])/g, "$1'")
  return /[",;\r\n]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown
}
