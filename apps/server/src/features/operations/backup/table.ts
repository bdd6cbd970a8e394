import type { Selectable } from 'kysely'

/** Backups that run or ended, of all processes and commands. */
interface BackupRunsTable {
  /** Id of the backup. */
  id: string
  /** The process that makes it. */
  owner: string
  /** Location of its target, without credentials. */
  target: string
  /** `interrupted`: its process ended without notice. */
  state: 'running' | 'succeeded' | 'failed' | 'interrupted'
  /** Times in ISO 8601. */
  started_at: string
  /** Time until which the owner counts as alive; while it lasts, no process removes contents. */
  lease_until: string
  ended_at: string | null
  error: string | null
  /** Bytes that were added to the target. */
  stored_bytes: number | null
}

export type BackupRunRow = Selectable<BackupRunsTable>

declare module '../../../platform/db/schema.js' {
  interface Schema {
    backup_runs: BackupRunsTable
  }
}
