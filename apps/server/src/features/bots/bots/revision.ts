/** Tells whether any bot may have changed since an answer was made. */
export interface BotsRevision {
  /** Undefined where changes by other processes go unseen. */
  current(): string | undefined
  /** To be called after a change is stored, before anybody is told of it. */
  advance(): void
}

/**
 * Counts the changes of this process; those of other processes show in the database itself.
 * @param foreignChanges see `Database`
 */
export function createBotsRevision(foreignChanges: () => number | undefined): BotsRevision {
  let changes = 0
  return {
    current: () => {
      const foreign = foreignChanges()
      return foreign === undefined ? undefined : `${changes}.${foreign}`
    },
    advance: () => {
      changes += 1
    },
  }
}
