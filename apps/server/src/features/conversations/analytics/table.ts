/** Counts of bots for past days. A day without activity has no row. */
interface BotDaysTable {
  bot_id: string
  /** Day in UTC, such as `2026-03-01`. */
  day: string
  /** JSON of `Figures`; or the id of the count under way, or an id that an import stored so that no count matches it. */
  figures: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    bot_days: BotDaysTable
  }
}
