/**
 * Usage by day. Counters grow in the transaction of what they count; sizes and numbers of objects are stored once an hour,
 * so that the row of a day has the last ones.
 */
interface UsageDaysTable {
  workspace_id: string
  /** Empty for the workspace itself. The rows of a deleted bot stay, and those of one that moved stay in the workspace. */
  bot_id: string
  /** A `UsageKind`. */
  kind: string
  /** Day in UTC, such as `2026-03-01`. */
  day: string
  /** Writers that do not wait for each other add to rows of different numbers; after two days there is only 0. */
  shard: number
  /** Number, bytes or milliseconds; the value of a day is the sum over its shards. */
  value: number
}

/** Calls of this month that count towards a quota. Without a row, they are summed up again from the days. */
interface UsageMonthsTable {
  workspace_id: string
  /** Empty for the whole workspace. */
  bot_id: string
  /** Month in UTC, such as `2026-03`. */
  month: string
  calls: number
}

/** The quotas that people set. */
interface UsageQuotasTable {
  workspace_id: string
  /** Empty for the whole workspace. */
  bot_id: string
  /** A type of the contract, such as `invocation_calls`. */
  type: string
  value: number
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    usage_days: UsageDaysTable
    usage_months: UsageMonthsTable
    usage_quotas: UsageQuotasTable
  }
}
