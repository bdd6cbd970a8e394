import type { Clock } from './clock.js'
import { createKeyGroups } from './key-groups.js'
import { createLruCache } from './lru-cache.js'

/** A small cache of facts from the database, so that a busy caller costs no read. */
export interface FactCache<Fact> {
  /**
   * Returns the fact of a key, undefined if there is none: synchronously from memory, otherwise by a
   * read. Concurrent callers share one read; failures are not cached.
   */
  get(key: string): Fact | undefined | Promise<Fact | undefined>
  /**
   * Forgets what a test picks, and all that is being read: a read that began before a change must
   * not be used after it.
   */
  forget(test: (key: string, fact: Fact) => boolean): void
  /**
   * The same for all facts of a group, however many others there are: for changes of which one transaction may make a
   * thousand.
   */
  forgetGroup(group: string): void
}

export interface FactCacheOptions<Fact> {
  clock: Clock
  read: (key: string) => Promise<Fact | undefined>
  /** Whether a fact that is read again is still the same; the known object is then kept. Default: never. */
  isEqual?: (known: Fact, read: Fact) => boolean
  /** The group of a fact, as `forgetGroup` takes it. Default: the key. */
  groupOf?: (key: string, fact: Fact) => string
  /** Maximum number of cached facts; the least recently requested one goes first. Default 10,000. */
  maxFacts?: number
}

/** TTL of a fact in milliseconds, from the start of its read: the longest time that a revocation elsewhere takes. */
export const factLifetime = 5000
/** TTL of an absence in milliseconds. */
export const absenceLifetime = 1000
/** Maximum number of cached absences, apart from the facts: callers that guess keys must not evict facts. */
const maxAbsences = 1000

/** Makes an empty cache; `read` is called for each fact that it does not know or no longer believes. */
export function createFactCache<Fact extends object>(
  options: FactCacheOptions<Fact>,
): FactCache<Fact> {
  const { clock, read, isEqual, groupOf = (key) => key, maxFacts = 10_000 } = options
  const groups = createKeyGroups()
  const facts = createLruCache<string, { fact: Fact; readAt: number }>(maxFacts, ({ fact }, key) =>
    groups.delete(groupOf(key, fact), key),
  )
  const absences = createLruCache<string, number>(maxAbsences)
  const reading = new Map<string, Promise<Fact | undefined>>()

  function keep(key: string, fact: Fact | undefined, readAt: number): void {
    if (fact === undefined) {
      facts.delete(key)
      absences.set(key, readAt)
    } else {
      facts.set(key, { fact, readAt })
      groups.add(groupOf(key, fact), key)
    }
  }

  async function readFact(key: string): Promise<Fact | undefined> {
    const fact = await read(key)
    const known = facts.peek(key)?.fact
    const isSame = known !== undefined && fact !== undefined && isEqual?.(known, fact) === true
    return isSame ? known : fact
  }

  async function readAnew(key: string, now: number): Promise<Fact | undefined> {
    const promise = readFact(key)
    reading.set(key, promise)
    try {
      const fact = await promise
      if (reading.get(key) === promise) keep(key, fact, now)
      return fact
    } finally {
      if (reading.get(key) === promise) reading.delete(key)
    }
  }

  return {
    get(key) {
      const now = clock.now()
      const known = facts.get(key)
      if (known !== undefined && isYoung(known.readAt, now, factLifetime)) return known.fact
      const absent = absences.get(key)
      if (absent !== undefined && isYoung(absent, now, absenceLifetime)) return undefined
      return reading.get(key) ?? readAnew(key, now)
    },

    forget(test) {
      reading.clear()
      for (const [key, { fact }] of [...facts]) if (test(key, fact)) facts.delete(key)
    },

    forgetGroup(group) {
      reading.clear()
      for (const key of groups.of(group)) facts.delete(key)
    },
  }
}

/** A clock that stepped back makes everything old, so that nothing lives longer than it should. */
function isYoung(readAt: number, now: number, lifetime: number): boolean {
  return now >= readAt && now - readAt < lifetime
}
