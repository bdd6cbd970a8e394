/** Periods up to now that a list can be restricted to. */
const ranges: Record<string, { label: string; milliseconds: number }> = {
  '15m': { label: 'Last 15 minutes', milliseconds: 15 * 60_000 },
  '1h': { label: 'Last hour', milliseconds: 3_600_000 },
  '24h': { label: 'Last 24 hours', milliseconds: 24 * 3_600_000 },
  '7d': { label: 'Last 7 days', milliseconds: 7 * 24 * 3_600_000 },
  '30d': { label: 'Last 30 days', milliseconds: 30 * 24 * 3_600_000 },
}

export const rangeOptions = Object.entries(ranges).map(([value, { label }]) => ({ value, label }))

/** Start of a period up to now as ISO 8601; undefined for none. */
export function startOfRange(range: string | undefined): string | undefined {
  const found = range === undefined ? undefined : ranges[range]
  return found && new Date(Date.now() - found.milliseconds).toISOString()
}
