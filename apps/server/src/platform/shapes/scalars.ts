import { canonical } from './canonical.js'
import { isMap, type Word } from './reader.js'
import type { Run } from './run.js'

const types: Record<string, (value: unknown) => boolean> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  string: (value) => typeof value === 'string',
  array: Array.isArray,
  object: isMap,
}

/** Reading a list of values takes no steps of the value that is judged. */
const unbounded = { spend: () => {} }

/** Rules about a value as a whole, or about one that has no parts. */
export const scalarWords: Readonly<Record<string, Word>> = {
  type(word, _, { nullable }) {
    const names = (Array.isArray(word) ? word : [word]).filter((name) => Object.hasOwn(types, name))
    if (names.length === 0) return undefined
    const tests = [...new Set(nullable === true ? [...names, 'null'] : names)].flatMap(
      (name) => types[name] ?? [],
    )
    return (value, place, run) =>
      tests.some((test) => test(value)) || run.refuse('type', place, { type: word })
  },
  enum: (word) =>
    Array.isArray(word) ? oneOfValues('enum', word, { allowedValues: word }) : undefined,
  const: (word) => oneOfValues('const', [word], { allowedValue: word }),

  minimum: bound((value, limit) => value >= limit, 'minimum', '>='),
  maximum: bound((value, limit) => value <= limit, 'maximum', '<='),
  exclusiveMinimum: bound((value, limit) => value > limit, 'exclusiveMinimum', '>'),
  exclusiveMaximum: bound((value, limit) => value < limit, 'exclusiveMaximum', '<'),
  multipleOf: bound(
    (value, factor) => Number.isInteger(value / factor),
    'multipleOf',
    'multiple of',
  ),

  minLength: length((units, limit) => units >= limit, 'minLength'),
  maxLength: length((units, limit) => units <= limit, 'maxLength'),
  pattern(word, reader) {
    const pattern = typeof word === 'string' ? reader.pattern(word) : undefined
    if (pattern === undefined) return undefined
    return (value, place, run) => {
      if (typeof value !== 'string') return true
      run.spend(pattern.size * value.length, place)
      return pattern.test(value) || run.refuse('pattern', place, { pattern: word })
    }
  },
}

function oneOfValues(
  keyword: string,
  allowed: readonly unknown[],
  params: Record<string, unknown>,
): ReturnType<Word> {
  const known = new Set(allowed.map((one) => canonical(one, unbounded)))
  return (value, place, run: Run) =>
    known.has(canonical(value, run)) ||
    run.refuse(keyword, place, params, 'must be one of the allowed values')
}

function bound(
  fits: (value: number, limit: number) => boolean,
  keyword: string,
  sign: string,
): Word {
  return (limit) =>
    typeof limit !== 'number'
      ? undefined
      : (value, place, run) =>
          typeof value !== 'number' ||
          fits(value, limit) ||
          run.refuse(keyword, place, { limit, comparison: sign }, `must be ${sign} ${limit}`)
}

/** Length in characters: what takes two units of JavaScript counts once. */
function length(fits: (characters: number, limit: number) => boolean, keyword: string): Word {
  return (limit) =>
    typeof limit !== 'number'
      ? undefined
      : (value, place, run) => {
          if (typeof value !== 'string') return true
          run.spend(value.length / 16)
          return fits(charactersOf(value), limit) || run.refuse(keyword, place, { limit })
        }
}

function charactersOf(text: string): number {
  let pairs = 0
  for (let at = 0; at < text.length - 1; at++) {
    if (isHigh(text.charCodeAt(at)) && isLow(text.charCodeAt(at + 1))) {
      pairs += 1
      at += 1
    }
  }
  return text.length - pairs
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}
