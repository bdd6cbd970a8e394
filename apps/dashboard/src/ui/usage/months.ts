/** Months that are kept, with this one. */
const keptMonths = 12

const names = new Intl.DateTimeFormat(undefined, {
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
})
const dayNames = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
})

/** The month of a time in UTC, such as `2026-03`. */
export function monthOf(time: number): string {
  return new Date(time).toISOString().slice(0, 7)
}

/** The months of which there may be figures, newest first. */
export function monthsUntil(time: number): string[] {
  const date = new Date(time)
  return Array.from({ length: keptMonths }, (_, back) =>
    monthOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - back)),
  )
}

/** The name of a month: `March 2026`. */
export function nameOfMonth(month: string): string {
  return names.format(Date.parse(`${month}-01`))
}

/** The name of a day in its month: `Mar 1`. */
export function nameOfDay(date: string): string {
  return dayNames.format(Date.parse(date))
}

/** The days of a month, such as `2026-03-01`, oldest first. */
export function daysOf(month: string): string[] {
  const [year = 0, number = 1] = month.split('-').map(Number)
  // The day before the first one of the next month.
  const last = new Date(Date.UTC(year, number, 0)).getUTCDate()
  return Array.from(
    { length: last },
    (_, index) => `${month}-${String(index + 1).padStart(2, '0')}`,
  )
}

/** What was used on a day. */
export interface Day {
  date: string
  value: number
}

/** Adds up what was used by several bots on each of some days. */
export function sumByDay(dates: readonly string[], rows: readonly Day[]): Day[] {
  const sums = new Map(dates.map((date) => [date, 0]))
  for (const { date, value } of rows) {
    const before = sums.get(date)
    if (before !== undefined) sums.set(date, before + value)
  }
  return [...sums].map(([date, value]) => ({ date, value }))
}
