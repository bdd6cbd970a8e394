import {
  isObject,
  isSchema,
  type JsonSchema,
  type KeywordCompiler,
  type SubschemaCompiler,
} from './keyword.js'
import { arrayKeywords } from './keywords/arrays.js'
import { combinatorKeywords } from './keywords/combinators.js'
import { objectKeywords } from './keywords/objects.js'
import { scalarKeywords } from './keywords/scalars.js'
import { createPatterns, type Patterns } from './patterns.js'
import type { Check } from './validation-run.js'

/** In the order in which they are checked; the first failure is reported. */
const keywords = Object.entries({
  ...scalarKeywords,
  ...combinatorKeywords,
  ...arrayKeywords,
  ...objectKeywords,
})
const byName: ReadonlyMap<string, KeywordCompiler> = new Map(keywords)
const order: ReadonlyMap<string, number> = new Map(keywords.map(([name], at) => [name, at]))

/** A compiled schema, with the reasons that prevent enforcing it. */
export interface CompiledSchema {
  checks: readonly Check[]
  patterns: Patterns
  /** References without a target in the schema. */
  unresolved: readonly string[]
  /** Whether a schema refers to itself without descending into the value. */
  isCircular: boolean
  /** Whether subschemas nest, or refer to each other, too deeply to be followed. */
  isTooDeep: boolean
}

/** Maximum number of nested subschemas. The stack has room for more. */
const maxDepth = 500

/** The schema `false`, which matches no value. */
const never: Check = (_value, path, run) => run.fail('false schema', path, {}, 'must not be there')

/**
 * Compiles a JSON Schema into checks, each part of it once, so that the time is proportional to its
 * size. Keywords that are unknown, or whose operand has the wrong form, are ignored.
 */
export function compileSchema(root: JsonSchema): CompiledSchema {
  const done = new Map<unknown, Check[]>()
  const inPlace = new Map<unknown, unknown[]>()
  const unresolved: string[] = []
  const patterns = createPatterns()
  let depth = 0
  let isTooDeep = false

  const compilePart = (schema: unknown): readonly Check[] => {
    if (schema === false) return [never]
    if (!isObject(schema)) return []
    const found = done.get(schema)
    if (found !== undefined) return found
    if (depth === maxDepth) {
      isTooDeep = true
      return []
    }
    depth += 1
    const checks: Check[] = []
    done.set(schema, checks)
    const targets: unknown[] = []
    inPlace.set(schema, targets)
    const compileInPlace = (part: unknown) => {
      targets.push(part)
      return compilePart(part)
    }
    const compiler: SubschemaCompiler = {
      child: compilePart,
      inPlace: compileInPlace,
      pattern: patterns.compile,
      reference: (reference) => {
        const target = resolve(root, reference)
        if (isSchema(target)) return compileInPlace(target)
        unresolved.push(reference)
        return []
      },
    }
    for (const name of keywordsIn(schema)) {
      const check = byName.get(name)?.(schema[name], compiler, schema)
      if (check !== undefined) checks.push(check)
    }
    depth -= 1
    return checks
  }

  const checks = compilePart(root)
  return { checks, patterns, unresolved, isCircular: hasCircle(inPlace), isTooDeep }
}

function keywordsIn(schema: JsonSchema): string[] {
  const known = Object.keys(schema).filter((name) => order.has(name))
  return known.sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0))
}

/** The target of a JSON Pointer after `#`; undefined for other references. */
function resolve(root: JsonSchema, reference: string): unknown {
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

/** Whether a graph has a cycle; without recursion, because chains may be long. */
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
