/** What happened in bots on days that are over: rows of days on which something happened. */
interface BotDaysTable {
  bot_id: string
  /** Day in UTC, such as `2026-03-01`. */
  day: string
  /** JSON of `Figures`; otherwise the id of a count that is under way, or of a change that forbids its result. */
  figures: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    bot_days: BotDaysTable
  }
}
