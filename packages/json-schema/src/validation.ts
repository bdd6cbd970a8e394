import { createRequire } from 'node:module'
import { type CompiledSchema, compileSchema } from './compile.js'
import { describeErrors, type Violation } from './describe.js'
import { isObject, type JsonSchema } from './keyword.js'
import {
  type Check,
  toPointer,
  ValidationRun,
  type ValuePath,
  WorkLimitExceeded,
} from './validation-run.js'

/** The schema that every draft 7 schema must fit. */
const metaSchema: unknown = createRequire(import.meta.url)('#draft-07')
/** By the schema object, for as long as its owner keeps it; null for a schema that is not enforced. */
const compiled = new WeakMap<JsonSchema, readonly Check[] | null>()
/** Maximum number of steps for one value: some hundredths of a second. */
const maxStepsOfValue = 500_000
/** Maximum number of steps for a schema that is itself validated; a definition may be that large. */
const maxStepsOfSchema = 2_000_000

/**
 * Validates a value by a JSON Schema (draft 7) that a user wrote; undefined if the value fits.
 * The work is bounded: a value that requires too many steps is refused.
 * A schema with a reference to another document accepts every value, and so does a pattern with
 * look-around or back-references; see {@link listUncheckedPatterns}.
 */
export function findViolation(schema: JsonSchema, value: unknown): Violation | undefined {
  return validate(schema, value, maxStepsOfValue)
}

/**
 * Validates a JSON Schema itself; undefined if it is valid, and small enough to validate values in
 * bounded time.
 */
export function findSchemaFault(schema: JsonSchema): string | undefined {
  const keywords = keywordsOf(schema)
  const violation = isObject(metaSchema)
    ? validate(metaSchema, keywords, maxStepsOfSchema)
    : undefined
  if (violation !== undefined) return `${violation.field || 'it'} ${violation.rule}`
  const { patterns, isCircular, isTooDeep } = compileSchema(keywords)
  if (isTooDeep) return 'it nests, or refers to itself, too deep to be followed'
  if (isCircular) return 'a $ref leads back to itself without going on to a part of the value'
  if (patterns.isTooLarge) {
    return 'its patterns are too long together, with what they repeat written out'
  }
  return undefined
}

/** Patterns of a schema that {@link findViolation} does not enforce, each once. */
export function listUncheckedPatterns(schema: JsonSchema): string[] {
  return [...new Set(compileSchema(keywordsOf(schema)).patterns.unchecked)]
}

function validate(schema: JsonSchema, value: unknown, steps: number): Violation | undefined {
  const checks = checksOf(schema)
  if (checks === null) return undefined
  const run = new ValidationRun(steps)
  try {
    return run.all(checks, value, undefined) ? undefined : describeErrors(run.errors)
  } catch (error) {
    if (error instanceof WorkLimitExceeded) return tooMuchWork(error.path)
    // The caller's stack was nearly full already, and the value nests too deeply.
    if (error instanceof RangeError) return tooMuchWork(undefined)
    throw error
  }
}

function checksOf(schema: JsonSchema): readonly Check[] | null {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const keywords = keywordsOf(schema)
  const checks = enforceable(compileSchema(keywords), keywords)
  compiled.set(schema, checks)
  return checks
}

/** The checks of a schema, or null where omitting a part could refuse values that the schema accepts. */
function enforceable(
  { checks, patterns, unresolved, isTooDeep }: CompiledSchema,
  keywords: JsonSchema,
): readonly Check[] | null {
  if (unresolved.length > 0 || isTooDeep) return null
  return patterns.unchecked.length > 0 && refusesWhatFits(keywords) ? null : checks
}

function tooMuchWork(path: ValuePath): Violation {
  const message = 'takes too much work to check: it must be smaller, or the schema simpler'
  return describeErrors([{ keyword: 'work', instancePath: toPointer(path), params: {}, message }])
}

/** Whether a keyword in a schema may refuse a value because a part of the schema matches it. */
function refusesWhatFits(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false
  return Object.entries(part).some(
    ([name, operand]) =>
      ['not', 'oneOf', 'if', 'patternProperties'].includes(name) || refusesWhatFits(operand),
  )
}

/** A `$schema` of another draft is accepted: the keywords that both drafts share are enforced. */
function keywordsOf({ $schema: _, $id: __, ...keywords }: JsonSchema): JsonSchema {
  return keywords
}
