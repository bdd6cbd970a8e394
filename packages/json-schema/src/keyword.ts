import type { LinearPattern } from './patterns.js'
import type { Check, ValidationRun } from './validation-run.js'

/** A JSON Schema that is an object; the other two schemas are `true` and `false`. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Compiles the subschemas of a keyword. */
export interface SubschemaCompiler {
  /** The checks of a subschema that applies to the same value. */
  inPlace(schema: unknown): readonly Check[]
  /** The checks of a subschema that applies to a part of the value. */
  child(schema: unknown): readonly Check[]
  /** The checks of the schema that a `$ref` refers to. */
  reference(reference: string): readonly Check[]
  /** The compiled pattern; undefined if it cannot be checked in linear time. */
  pattern(source: string): LinearPattern | undefined
}

/** Compiles one keyword of a schema; undefined if its operand asserts nothing. */
export type KeywordCompiler = (
  operand: unknown,
  compiler: SubschemaCompiler,
  schema: JsonSchema,
) => Check | undefined

/** Whether a value is a JSON object: neither null nor an array. */
export function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a value can be a schema: an object, `true` or `false`. */
export function isSchema(value: unknown): boolean {
  return isObject(value) || typeof value === 'boolean'
}

/**
 * A text that is equal for two JSON values if and only if they are equal, whatever the order of their members.
 * Takes a step for each part of the value and for each 16 characters.
 */
export function canonical(value: unknown, run: Pick<ValidationRun, 'spend'>): string {
  if (typeof value === 'string') {
    run.spend(1 + value.length / 16)
    return JSON.stringify(value)
  }
  if (typeof value !== 'object' || value === null) {
    run.spend(1)
    return String(value)
  }
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, run)).join(',')}]`
  const members = Object.entries(value)
  run.spend(members.length * 4)
  members.sort(([a], [b]) => (a < b ? -1 : 1))
  const texts = members.map(([name, member]) => `${canonical(name, run)}:${canonical(member, run)}`)
  return `{${texts.join(',')}}`
}

export const atLeast = (count: number, limit: number) => count >= limit
export const atMost = (count: number, limit: number) => count <= limit

/**
 * A keyword that limits how many parts a value has.
 * @param countOf the number of parts; undefined for a value that the keyword accepts
 */
export function countKeyword(
  keyword: string,
  than: string,
  parts: string,
  countOf: (value: unknown, run: ValidationRun) => number | undefined,
  fits: (count: number, limit: number) => boolean,
): KeywordCompiler {
  return (limit) => {
    if (typeof limit !== 'number') return undefined
    return (value, path, run) => {
      const count = countOf(value, run)
      if (count === undefined || fits(count, limit)) return true
      return run.fail(keyword, path, { limit }, `must not have ${than} ${limit} ${parts}`)
    }
  }
}
