import type { LinearPattern } from './linear-pattern.js'
import type { Check } from './validation-run.js'

/** A JSON Schema that is an object; the other two schemas are `true` and `false`. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** What a keyword may use while it is compiled. */
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

export function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isSchema(value: unknown): boolean {
  return isObject(value) || typeof value === 'boolean'
}
