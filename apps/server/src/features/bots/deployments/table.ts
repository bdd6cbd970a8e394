/** Code that was deployed to run at this server: one row for each deployment. */
export interface DeploymentsTable {
  /** UUID. */
  id: string
  workspace_id: string
  owner_type: 'bot' | 'integration'
  owner_id: string
  /** Hash of the bundle. */
  bundle: string
  created_at: string
  /** Time at which the next deployment replaced it; null for the one in force. */
  replaced_at: string | null
}

/** Code as it was uploaded: one CommonJS file. */
export interface BundlesTable {
  /** Bundles are shared within a workspace only. */
  workspace_id: string
  /** SHA-256 of the code, in hex. */
  hash: string
  code: string
  created_at: string
}

/** A bundle that is kept also when no deployment refers to it: one row for each object that needs it. */
export interface KeptBundlesTable {
  /** Id of that object. */
  keeper: string
  workspace_id: string
  hash: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    deployments: DeploymentsTable
    bundles: BundlesTable
    kept_bundles: KeptBundlesTable
  }
}
