/** Detects whether any bot may have changed since a response was built. */
export interface BotsRevision {
  /** Undefined where changes by other processes cannot be noticed. */
  current(): string | undefined
  /** Called after a change is stored, before anybody is notified. */
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
