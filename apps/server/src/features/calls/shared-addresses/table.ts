/** An address that all installations of an integration share, and the workspace to which it belongs. */
export interface SharedAddressesTable {
  /** What follows `/integration/global/`: the name of an integration, with or without the handle before it. */
  address: string
  /** Workspace to which the address belongs. */
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
