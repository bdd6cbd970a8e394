/** Keys by their group, so that a cache finds the keys of one group without looking at all keys. */
export interface KeyGroups {
  add(group: string, key: string): void
  delete(group: string, key: string): void
  /** The keys of a group at this moment. */
  of(group: string): readonly string[]
}

/** Makes groups, which have no keys yet. */
export function createKeyGroups(): KeyGroups {
  const groups = new Map<string, Set<string>>()
  return {
    add(group, key) {
      const keys = groups.get(group)
      if (keys === undefined) groups.set(group, new Set([key]))
      else keys.add(key)
    },
    delete(group, key) {
      const keys = groups.get(group)
      if (keys?.delete(key) && keys.size === 0) groups.delete(group)
    },
    of: (group) => [...(groups.get(group) ?? [])],
  }
}
