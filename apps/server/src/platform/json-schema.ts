import { Ajv } from 'ajv'
import { LRUCache } from 'lru-cache'
import { type ReadSchema, readSchema } from './shapes/read-schema.js'
import { isMap, type Schema } from './shapes/reader.js'
import { type Check, type Place, pointerTo, Run, TooMuchWork } from './shapes/run.js'
import { type Broken, tellViolation } from './violations.js'

/** What a schema is, as a schema. */
const { schema: draft } = new Ajv().getSchema('http://json-schema.org/draft-07/schema') ?? {}
/** By the schema itself, the same object while its owner is remembered; null is not checked. */
const known = new WeakMap<Schema, readonly Check[] | null>()
/** Most steps for one value: some hundredths of a second. */
const mostSteps = 500_000
/** The same for a schema, which is as large as a definition may be. */
const mostStepsOfSchema = 2_000_000

/** Patterns that are not checked, as far as they were told of. */
const told = new LRUCache<string, true>({ max: 500 })
let tell: (pattern: string) => void = () => {}

/** Has a listener hear once of each pattern of a schema that is not checked; a later one replaces it. */
export function onUncheckedPattern(listener: (pattern: string) => void): void {
  tell = listener
}

/**
 * What is wrong with a value by a JSON Schema that a user has written; undefined if it fits.
 * Nothing that a user writes may hold up the process: a value that takes too many steps is refused.
 * A schema that cannot be read as a whole, such as one that refers to another document, refuses nothing,
 * and neither does a pattern that looks around or refers to a group.
 */
export function mismatchOf(schema: Schema, value: unknown): Broken | undefined {
  return judge(schema, value, mostSteps)
}

function judge(schema: Schema, value: unknown, steps: number): Broken | undefined {
  const checks = checksOf(schema)
  if (checks === null) return undefined
  const run = new Run(steps)
  try {
    return run.all(checks, value, undefined) ? undefined : tellViolation(run.violations)
  } catch (error) {
    // A stack that was nearly full already is the same fault.
    if (error instanceof TooMuchWork) return tooMuchWork(error.place)
    if (error instanceof RangeError) return tooMuchWork(undefined)
    throw error
  }
}

/** What is wrong with a JSON Schema, or too large in it to be checked in time; undefined if nothing is. */
export function schemaFaultOf(schema: Schema): string | undefined {
  const words = wordsOf(schema)
  const broken = isMap(draft) ? judge(draft, words, mostStepsOfSchema) : undefined
  if (broken !== undefined) return `${broken.field || 'it'} ${broken.rule}`
  const { patterns, turnsInCircles, isTooDeep } = readSchema(words)
  if (isTooDeep) return 'it nests, or refers to itself, too deep to be followed'
  if (turnsInCircles) return 'a $ref leads back to itself without going on to a part of the value'
  if (patterns.isTooLarge) {
    return 'its patterns are too long together, with what they repeat written out'
  }
  return undefined
}

function checksOf(schema: Schema): readonly Check[] | null {
  const found = known.get(schema)
  if (found !== undefined) return found
  const words = wordsOf(schema)
  const checks = usable(readSchema(words), words)
  known.set(schema, checks)
  return checks
}

function usable({ checks, patterns, unresolved, isTooDeep }: ReadSchema, words: Schema) {
  if (unresolved.length > 0 || isTooDeep) return null
  if (patterns.unchecked.length === 0) return checks
  for (const pattern of patterns.unchecked) tellOnce(pattern)
  return turnsAround(words) ? null : checks
}

function tooMuchWork(place: Place): Broken {
  const rule = 'takes too much work to check: it must be smaller, or the schema simpler'
  return tellViolation([
    { keyword: 'work', instancePath: pointerTo(place), params: {}, message: rule },
  ])
}

function tellOnce(pattern: string): void {
  if (told.has(pattern)) return
  told.set(pattern, true)
  tell(pattern)
}

/** Whether something in a schema may refuse a value because a part of it fits. */
function turnsAround(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false
  return Object.entries(part).some(
    ([key, value]) =>
      ['not', 'oneOf', 'if', 'patternProperties'].includes(key) || turnsAround(value),
  )
}

/** A `$schema` of another draft is welcome: the words that are shared are checked as such. */
function wordsOf({ $schema: _, $id: __, ...words }: Schema): Schema {
  return words
}
