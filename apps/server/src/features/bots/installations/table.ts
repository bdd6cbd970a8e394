/** An integration installed in a bot, by alias. */
export interface InstallationsTable {
  bot_id: string
  alias: string
  /** Workspace of the bot; that of the integration may be another. */
  workspace_id: string
  integration_id: string
  name: string
  version: string
  /** Path segment of the installation's public address. */
  webhook_id: string
  enabled: number
  configuration_type: string | null
  /** Sealed JSON: configurations hold credentials. */
  configuration: string
  /** JSON list of channel names. */
  disabled_channels: string
  /** 1 if signals are posted to an address in the configuration, which is sealed. */
  posts_signals: number
  status:
    | 'registration_pending'
    | 'registered'
    | 'registration_failed'
    | 'unregistration_pending'
    | 'unregistered'
    | 'unregistration_failed'
  status_reason: string | null
  /** Account at the other service, as the integration reports it. */
  identifier: string | null
  /** Since when it has this account. */
  identified_at: string | null
  /** 1 if the integration itself reported the account; 0 for what earlier servers took from others too. */
  account_is_proven: number
  /** 1 if another workspace connected the account first, so that requests at the shared address go there. */
  account_served_elsewhere: number
  /** Interval at which `register` is called again; null for once. */
  register_every: string | null
  created_at: string
  updated_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    installations: InstallationsTable
  }
}
