/**
 * Adds items to a list. `list.push(...items)` puts all of them on the stack, which has room for about a hundred
 * thousand: a long document would end as one that is nested too deeply.
 */
export function append<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item)
}
