import { Ajv, type ValidateFunction } from 'ajv'
import { LRUCache } from 'lru-cache'
import { linearPattern, weightOf } from './linear-pattern.js'
import { type Broken, tellViolation } from './violations.js'

type Schema = Readonly<Record<string, unknown>>

const options = { strict: false, logger: false } as const
/** Judges schemas; it compiles none of them. */
const ajv = new Ajv(options)
/** By the text of the schema: many owners share few schemas. */
const compiled = new LRUCache<string, ValidateFunction>({ max: 500 })
/** By the schema itself, the same object while its owner is remembered; null cannot be compiled. */
const known = new WeakMap<Schema, ValidateFunction | null>()
/** Together of all patterns in one schema, as they are weighed: to read them takes a tenth of a second or so. */
const mostWeight = 500_000
/** Steps of all patterns while one value is judged: about a second. */
const mostSteps = 10_000_000
let stepsLeft = 0

class OutOfSteps extends Error {}

/** Patterns that are not checked, as far as they were told of. */
const told = new LRUCache<string, true>({ max: 500 })
let tell: (pattern: string) => void = () => {}

/** Has a listener hear once of each pattern of a schema that is not checked; a later one replaces it. */
export function onUncheckedPattern(listener: (pattern: string) => void): void {
  tell = listener
}

/**
 * What is wrong with a value by a JSON Schema that a user has written; undefined if it fits.
 * A schema that cannot be compiled, such as one that refers to another document, refuses nothing, and
 * neither does a pattern that looks around or refers to a group, nor one that is too much work for the
 * value: nothing that a user writes may hold up the process.
 */
export function mismatchOf(schema: Schema, value: unknown): Broken | undefined {
  const fits = validatorOf(schema)
  if (fits === null) return undefined
  stepsLeft = mostSteps
  try {
    if (fits(value)) return undefined
  } catch (error) {
    if (error instanceof OutOfSteps) return undefined
    throw error
  }
  return tellViolation(fits.errors ?? [])
}

/** What is wrong with a JSON Schema; undefined if it is one. */
export function schemaFaultOf(schema: Schema): string | undefined {
  return ajv.validateSchema(wordsOf(schema)) ? undefined : ajv.errorsText(ajv.errors)
}

function validatorOf(schema: Schema): ValidateFunction | null {
  const found = known.get(schema)
  if (found !== undefined) return found
  const validator = compile(wordsOf(schema))
  known.set(schema, validator)
  return validator
}

function compile(words: Schema): ValidateFunction | null {
  const text = JSON.stringify(words)
  const found = compiled.get(text)
  if (found !== undefined) return found
  try {
    if (!ajv.validateSchema(words)) return null
    // One for each schema: it keeps all that it has ever compiled, also what nobody remembers any more.
    const patterns = readPatterns()
    const { regExp } = patterns
    const validate = new Ajv({ ...options, validateSchema: false, code: { regExp } }).compile(words)
    if (patterns.unchecked.length > 0) {
      for (const pattern of patterns.unchecked) tellOnce(pattern)
      if (turnsAround(words)) return null
    }
    compiled.set(text, validate)
    return validate
  } catch {
    return null
  }
}

/** Reads the patterns of one schema; those that cannot be checked fit every text. */
function readPatterns() {
  const unchecked: string[] = []
  let weight = 0
  const read = (source: string) => {
    weight += weightOf(source)
    const pattern = weight > mostWeight ? undefined : linearPattern(source)
    if (pattern === undefined) unchecked.push(source)
    const test = (text: string) => {
      if (pattern === undefined) return true
      stepsLeft -= pattern.size * text.length
      if (stepsLeft < 0) throw new OutOfSteps()
      return pattern.test(text)
    }
    // Ajv tells patterns apart by their text.
    return { test, toString: () => source }
  }
  return { unchecked, regExp: Object.assign(read, { code: 'linearPattern' }) }
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
