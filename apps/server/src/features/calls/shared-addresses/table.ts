/** An address that all installations of an integration share, and whose it is. */
export interface SharedAddressesTable {
  /** What follows `/integration/global/`: the name of an integration, with or without the handle before it. */
  address: string
  /** Workspace that had an integration of this name first. */
  workspace_id: string
  /** Name of the integration there. */
  name: string
  created_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    shared_addresses: SharedAddressesTable
  }
}
