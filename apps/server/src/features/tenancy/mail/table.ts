/** Mails that wait to be sent. They contain links with codes, so that they are sealed, and deleted once they are sent. */
export interface OutgoingMailsTable {
  id: string
  /** The mail as JSON, sealed. */
  sealed: string
  created_at: string
  /** Time from which it is of no use: its link has stopped working. */
  expires_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    outgoing_mails: OutgoingMailsTable
  }
}
