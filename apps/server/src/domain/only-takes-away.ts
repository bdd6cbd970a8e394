/**
 * Whether a change that a caller asks for only takes something away: no member of it is more than null,
 * false or empty. Such a change is to succeed on a full disk.
 */
export function onlyTakesAway(change: unknown): boolean {
  if (change === undefined || change === null || change === false) return true
  return typeof change === 'object' && Object.values(change).every(onlyTakesAway)
}
