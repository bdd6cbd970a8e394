/** A development tunnel: one id of a developer's project, connected or not. */
export interface TunnelsTable {
  /** Random UUID that the developer's tool made. */
  id: string
  /** SHA-256 of the key in the address that the developer uses; null without one. */
  key_hash: string | null
  /** Workspace of the bots and integrations behind it; null until one of them uses its address. */
  workspace_id: string | null
  /** Identifies the open connection and so the process that holds it; null without one. */
  connection: string | null
  /** Until when the connection counts as open unless its process prolongs this. */
  lease_until: string | null
  /** Another connection that wants the id: the holder clears it if its own still works. */
  contender: string | null
  connected_at: string
  disconnected_at: string | null
}

/** A call that waits for a tunnel which is connected to another process, or is just connecting again. */
export interface TunnelCallsTable {
  id: string
  tunnel_id: string
  state: 'waiting' | 'sent' | 'ended'
  /** Connection through which it was sent. */
  connection: string | null
  /** 1 if it may be sent again when the connection breaks before the response. */
  repeatable: number
  /** Sealed JSON: calls carry configurations with credentials. */
  request: string
  /** Sealed JSON of the result; null until it has ended. */
  result: string | null
  expires_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    tunnels: TunnelsTable
    tunnel_calls: TunnelCallsTable
  }
}
