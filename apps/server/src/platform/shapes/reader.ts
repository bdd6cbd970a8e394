import type { Pattern } from './patterns.js'
import type { Check } from './run.js'

export type Schema = Readonly<Record<string, unknown>>

/** What reading a word of a schema may ask for. */
export interface Reader {
  /** The checks of a schema within, which looks at the same value. */
  inPlace(schema: unknown): readonly Check[]
  /** The checks of a schema within, which looks at a part of the value. */
  inside(schema: unknown): readonly Check[]
  /** The checks of the schema that a `$ref` names. */
  referred(reference: string): readonly Check[]
  /** A pattern; undefined if it cannot be checked. */
  pattern(source: string): Pattern | undefined
}

/** Reads one word of a schema; undefined if there is nothing to check by it. */
export type Word = (value: unknown, reader: Reader, schema: Schema) => Check | undefined

export function isMap(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isSchema(value: unknown): boolean {
  return isMap(value) || typeof value === 'boolean'
}
