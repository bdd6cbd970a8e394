/** The tags of users, conversations, messages and workflows once more, to find objects by them. */
export interface TagIndexTable {
  object_id: string
  /** As it is stored: tags of integrations are named `<alias>:<name>`. */
  name: string
  bot_id: string
  kind: 'user' | 'conversation' | 'message' | 'workflow'
  value: string
  /** SHA-256 of the value: an index takes it whole, however long the value is. */
  value_hash: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    tag_index: TagIndexTable
  }
}
