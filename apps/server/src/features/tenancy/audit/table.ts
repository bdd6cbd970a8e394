import type { Selectable } from 'kysely'

/** Acts in a workspace. A row is never changed; retention deletes the oldest of a workspace. */
export interface AuditRecordsTable {
  workspace_id: string
  /** From 1, without gaps. */
  sequence: number
  id: string
  /** Never before that of the record before. */
  recorded_at: string
  /** Id of the operation, or a name with a dot for what no call did. */
  operation: string
  /** Null if no person acted. */
  account_id: string | null
  authority: AuditAuthority
  token_id: string | null
  token_note: string | null
  address: string | null
  resource_id: string | null
  resource_name: string | null
  /** JSON: values before and after, by field; null if there are none. */
  changes: string | null
  /** SHA-256 in hex, over the record and the hash before. */
  hash: string
}

/** The proof of a person; `server` if no person acted. */
export type AuditAuthority = 'session' | 'token' | 'operator' | 'server'

/** The newest record of each workspace. Its row orders those who record at the same time. */
export interface AuditHeadsTable {
  workspace_id: string
  /** 0 before the first record. */
  sequence: number
  /** Empty before the first record. */
  hash: string
  recorded_at: string
}

export type AuditRow = Selectable<AuditRecordsTable>

/** The end of a part of a chain. */
export interface Link {
  sequence: number
  hash: string
}

/** Operation of the records that retention leaves: what it deleted is in their changes. */
export const retentionOperation = 'audit.retention'

declare module '../../../platform/db/schema.js' {
  interface Schema {
    audit_records: AuditRecordsTable
    audit_heads: AuditHeadsTable
  }
}
