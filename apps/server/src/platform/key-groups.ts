/** Keys by the group to which they belong, so that a cache finds those of one group without looking at all. */
export interface KeyGroups {
  add(group: string, key: string): void
  delete(group: string, key: string): void
  /** The keys of a group at this moment. */
  of(group: string): readonly string[]
}

/** Makes it without keys. */
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
