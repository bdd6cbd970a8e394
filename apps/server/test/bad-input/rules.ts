import { absent } from '../request.js'

/** The kinds of violations of a field. */
export type Kind =
  | 'missing'
  | 'type'
  | 'fraction'
  | 'empty'
  | 'long'
  | 'low'
  | 'high'
  | 'unknown'
  | 'many'
  | 'name'
  | 'format'

/** One way to violate a field, with the text of the refusal after the name of the field. */
export interface Rule {
  kind: Kind
  /** Values that violate the rule, each sent separately. */
  values: readonly unknown[]
  says: string
  /** Text before the name of the field. */
  about?: string
}

export const required: Rule = { kind: 'missing', values: [absent], says: 'is required.' }

export const filled: Rule = { kind: 'empty', values: [''], says: 'must not be empty.' }

/** Members of a JSON body, which are not coerced: `1` is not `"1"`. */
export const body = {
  text: type('a string', [7, true, null, ['x'], { x: 'x' }]),
  number: type('a number', ['1', true, null, [1], {}]),
  integer: type('an integer', ['1', true, null, [1], {}]),
  flag: type('a boolean', ['true', 1, null, []]),
  object: type('an object', ['{}', 1, null, []]),
  list: type('an array', ['x', 1, null, {}]),
}

/** Members of a query, which are text and are coerced. */
export const query = {
  text: type('a string', [['x', 'y']]),
  number: type('a number', ['', 'x', '1,5', 'Infinity', '-1e999', ['1', '2']]),
  integer: type('an integer', ['', 'x', '1.5', '1e-1', '-Infinity', '1e999', ['1', '2']]),
  flag: type('a boolean', ['', 'maybe', '1', ['true', 'false']]),
  map: type('an object', ['x', '[]', '7', '{']),
}

export const whole: Rule = { kind: 'fraction', values: [1.5], says: 'must be an integer.' }

/** At most this number of characters. */
export function atMost(length: number): Rule {
  const values = ['x'.repeat(length + 1)]
  return { kind: 'long', values, says: `must have at most ${length} characters.` }
}

/** In bytes of UTF-8; a text can be too long in bytes alone. */
export function atMostBytes(length: number): Rule {
  const values = ['x'.repeat(length + 1), 'ü'.repeat(length / 2 + 1)]
  return { kind: 'long', values, says: `must have at most ${length} bytes of UTF-8.` }
}

export function atLeast(minimum: number): Rule {
  return { kind: 'low', values: [minimum - 1], says: `must be at least ${minimum}.` }
}

export function notAbove(maximum: number): Rule {
  return { kind: 'high', values: [maximum + 1], says: `must be at most ${maximum}.` }
}

export function oneOf(...values: readonly string[]): Rule {
  const wrong = ['unheard-of', String(values[0]).toUpperCase()]
  return { kind: 'unknown', values: wrong, says: `must be one of ${values.join(', ')}.` }
}

/** A list with at most this number of items. */
export function items(maximum: number, item: unknown): Rule {
  const values = [Array.from({ length: maximum + 1 }, () => item)]
  return { kind: 'many', values, says: `must have at most ${maximum} items.` }
}

/** A map with at most this number of members. */
export function members(maximum: number, value: unknown): Rule {
  const entries = Array.from({ length: maximum + 1 }, (_, i) => [`m${i}`, value])
  const values = [Object.fromEntries(entries)]
  return { kind: 'many', values, says: `must have at most ${maximum} members.` }
}

/** A map whose names have 1 to this number of characters. */
export function names(maximum: number, value: unknown): Rule[] {
  const long = 'n'.repeat(maximum + 1)
  const name = { kind: 'name', about: 'A name in ' } as const
  return [
    { ...name, values: [{ '': value }], says: 'must not be empty.' },
    { ...name, values: [{ [long]: value }], says: `must have at most ${maximum} characters.` },
  ]
}

export const timestamp: Rule = {
  kind: 'format',
  values: ['', 'tomorrow', '2030-01-31', '2030-01-31T12:00:00', '2030-13-01T00:00:00Z'],
  says: 'must be an ISO 8601 date and time with a time zone, such as 2030-01-31T12:00:00Z.',
}

/** The same for a map in a query: as one JSON object it can hold any name. */
export function inJson(rule: Rule): Rule {
  return { ...rule, values: rule.values.map((value) => JSON.stringify(value)) }
}

function type(name: string, values: readonly unknown[]): Rule {
  return { kind: 'type', values, says: `must be ${name}.` }
}
