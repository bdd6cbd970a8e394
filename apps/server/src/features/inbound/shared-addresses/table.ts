import type { TimeColumn } from '../../../platform/db/columns.js'

/** An address that all installations of an integration share, and the workspace to which it belongs. */
export interface SharedAddressesTable {
  /** The path below `/integration/global/`: the name of an integration, with or without the handle before it. */
  address: string
  /** Workspace to which the address belongs. */
  workspace_id: string
  /** Name of the integration there. */
  name: string
  created_at: string
  /** Whether an integration in development has it, which any deployed one of the name takes from it. 0 or 1. */
  is_lent: number
  /**
   * Until when it is kept for its workspace, ISO 8601: the workspace has no integration of the name any more. Null while it
   * has one. The workspace is empty where that was deleted, too.
   */
  kept_until: TimeColumn | null
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    shared_addresses: SharedAddressesTable
  }
}
