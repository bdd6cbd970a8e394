/** Values that programs keep for a person or a workspace. */
export interface PreferencesTable {
  /** Id of the account or the workspace. */
  owner_id: string
  key: string
  /** JSON. */
  value: string
  updated_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    preferences: PreferencesTable
  }
}
