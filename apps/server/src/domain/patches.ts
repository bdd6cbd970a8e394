/** Applies a patch to a map: a value sets a key, null removes it, and keys that the patch omits stay. */
export function mergePatch<Value>(
  current: Record<string, Value>,
  patch: Readonly<Record<string, Value | null>> | undefined,
): Record<string, Value> {
  if (patch === undefined) return current
  const entries = new Map(Object.entries(current))
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) entries.delete(name)
    else entries.set(name, value)
  }
  // Not by assignment, which takes one name for the prototype.
  return Object.fromEntries(entries)
}

/**
 * Whether a requested change only takes something away: no member of it is more than null,
 * false or empty. Such a change is to succeed on a full disk.
 */
export function onlyTakesAway(change: unknown): boolean {
  if (change === undefined || change === null || change === false) return true
  return typeof change === 'object' && Object.values(change).every(onlyTakesAway)
}
