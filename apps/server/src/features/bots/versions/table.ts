/** Versions of bots: their code is a bundle that is kept. */
export interface BotVersionsTable {
  id: string
  bot_id: string
  workspace_id: string
  name: string
  description: string | null
  /** Hash of the bundle. */
  bundle: string
  /** Bytes. */
  code_size: number
  /** JSON of `BotContent`: what the bot declared. */
  content: string
  created_at: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    bot_versions: BotVersionsTable
  }
}
