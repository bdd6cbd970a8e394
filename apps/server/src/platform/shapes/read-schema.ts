import { listWords } from './lists.js'
import { objectWords } from './objects.js'
import { type Patterns, readPatterns } from './patterns.js'
import { isMap, isSchema, type Reader, type Schema, type Word } from './reader.js'
import type { Check } from './run.js'
import { scalarWords } from './scalars.js'
import { unionWords } from './unions.js'

/** In the order in which they are checked: the first that is broken is the one that is told. */
const words = Object.entries({ ...scalarWords, ...unionWords, ...listWords, ...objectWords })
const byName: ReadonlyMap<string, Word> = new Map(words)
const order: ReadonlyMap<string, number> = new Map(words.map(([name], at) => [name, at]))

/** A schema that was read. */
export interface ReadSchema {
  checks: readonly Check[]
  patterns: Patterns
  /** References that lead nowhere in the schema. */
  unresolved: readonly string[]
  /** Whether a schema refers to itself without going on to a part of the value. */
  turnsInCircles: boolean
  /** Whether schemas nest, or refer to each other, too deep to be followed. */
  isTooDeep: boolean
}

/** Schemas within schemas. The stack of a process has room for more. */
const mostDepth = 500

/** What else a schema may be: nothing fits `false`, and everything what is none. */
const never: Check = (_value, place, run) =>
  run.refuse('false schema', place, {}, 'must not be there')

/**
 * Reads a JSON Schema into checks; each part of it once, so that this takes time in proportion to its
 * size. Words that are unknown or misshapen say nothing.
 */
export function readSchema(root: Schema): ReadSchema {
  const read = new Map<unknown, Check[]>()
  const inPlace = new Map<unknown, unknown[]>()
  const unresolved: string[] = []
  const patterns = readPatterns()
  let depth = 0
  let isTooDeep = false

  const readPart = (schema: unknown): readonly Check[] => {
    if (schema === false) return [never]
    if (!isMap(schema)) return []
    const found = read.get(schema)
    if (found !== undefined) return found
    if (depth === mostDepth) {
      isTooDeep = true
      return []
    }
    depth += 1
    const checks: Check[] = []
    read.set(schema, checks)
    const below: unknown[] = []
    inPlace.set(schema, below)
    const goOn = (part: unknown) => {
      below.push(part)
      return readPart(part)
    }
    const reader: Reader = {
      inside: readPart,
      inPlace: goOn,
      pattern: patterns.read,
      referred: (reference) => {
        const target = resolve(root, reference)
        if (isSchema(target)) return goOn(target)
        unresolved.push(reference)
        return []
      },
    }
    for (const name of wordsIn(schema)) {
      const check = byName.get(name)?.(schema[name], reader, schema)
      if (check !== undefined) checks.push(check)
    }
    depth -= 1
    return checks
  }

  const checks = readPart(root)
  return { checks, patterns, unresolved, turnsInCircles: hasCircle(inPlace), isTooDeep }
}

function wordsIn(schema: Schema): string[] {
  const known = Object.keys(schema).filter((name) => order.has(name))
  return known.sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0))
}

/** What a JSON Pointer behind `#` names; undefined for other references. */
function resolve(root: Schema, reference: string): unknown {
  if (reference === '#' || reference === '#/') return root
  if (!reference.startsWith('#/')) return undefined
  let target: unknown = root
  for (const part of reference.slice(2).split('/')) {
    const name = decode(part)?.replaceAll('~1', '/').replaceAll('~0', '~')
    if (name === undefined || typeof target !== 'object' || target === null) return undefined
    target = Object.hasOwn(target, name) ? Reflect.get(target, name) : undefined
  }
  return target
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

/** Whether one can come back to where one was; without recursion, because chains may be long. */
function hasCircle(edges: ReadonlyMap<unknown, readonly unknown[]>): boolean {
  const done = new Set<unknown>()
  for (const start of edges.keys()) {
    const path = new Set<unknown>()
    const steps: { at: unknown; isLeaving: boolean }[] = [{ at: start, isLeaving: false }]
    for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
      if (step.isLeaving) {
        path.delete(step.at)
        done.add(step.at)
      } else if (path.has(step.at)) return true
      else if (!done.has(step.at)) {
        path.add(step.at)
        steps.push({ at: step.at, isLeaving: true })
        for (const next of edges.get(step.at) ?? []) steps.push({ at: next, isLeaving: false })
      }
    }
  }
  return false
}
