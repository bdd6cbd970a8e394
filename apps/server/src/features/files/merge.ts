/** What a merge patch leaves: a value sets, null removes, what is not mentioned stays. */
export function merge<Value>(
  current: Record<string, Value>,
  patch: Record<string, Value | null> | undefined,
): Record<string, Value> {
  const entries = new Map(Object.entries(current))
  for (const [name, value] of Object.entries(patch ?? {})) {
    if (value === null) entries.delete(name)
    else entries.set(name, value)
  }
  // Not by assignment, which takes one name for the prototype.
  return Object.fromEntries(entries)
}
