/**
 * Changes of messages and conversations, kept until the integrations that requested them are
 * notified.
 */
export interface ObjectChangesTable {
  id: string
  bot_id: string
  /** Id of the message or the conversation. */
  object_id: string
  /** JSON of the object before the change, as the integration sees it. */
  before: string
  /** JSON of the object after the change. */
  after: string
  created_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    object_changes: ObjectChangesTable
  }
}
