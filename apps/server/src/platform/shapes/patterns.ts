import { LRUCache } from 'lru-cache'
import { type LinearPattern, linearPattern } from '../linear-pattern.js'
import { weightOf } from './pattern-weight.js'

export type Pattern = LinearPattern

/** Together of all patterns in one schema: to read them takes some hundredths of a second. */
const mostWeight = 4000

/** By source, those that cannot be checked too: many schemas share few patterns. */
const known = new LRUCache<string, { pattern: Pattern | undefined }>({
  maxSize: 50 * mostWeight,
  sizeCalculation: (_, source) => Math.min(mostWeight, weightOf(source)),
})

/** The patterns of one schema. */
export interface Patterns {
  /** The pattern with this source; undefined for what cannot be checked. */
  read(source: string): Pattern | undefined
  /** Sources that cannot be checked. */
  readonly unchecked: readonly string[]
  /** Whether all of them together would take too long to be read. */
  readonly isTooLarge: boolean
}

export function readPatterns(): Patterns {
  const unchecked: string[] = []
  const weighed = new Set<string>()
  let weight = 0
  return {
    unchecked,
    get isTooLarge() {
      return weight > mostWeight
    },
    read(source) {
      if (!weighed.has(source)) weight += weightOf(source)
      weighed.add(source)
      const pattern = weight > mostWeight ? undefined : find(source)
      if (pattern === undefined) unchecked.push(source)
      return pattern
    },
  }
}

function find(source: string): Pattern | undefined {
  const found = known.get(source)
  if (found !== undefined) return found.pattern
  const pattern = readOne(source)
  known.set(source, { pattern })
  return pattern
}

/** What is no regular expression fits every text: the interface has accepted such definitions. */
function readOne(source: string): Pattern | undefined {
  try {
    return linearPattern(source)
  } catch {
    return undefined
  }
}
