import { canonical, isObject, type KeywordCompiler } from '../keyword.js'
import type { ValidationRun } from '../validation-run.js'

const types: Record<string, (value: unknown) => boolean> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  string: (value) => typeof value === 'string',
  array: Array.isArray,
  object: isObject,
}

/** Reading the values of a schema uses up no steps of the value that is validated. */
const unbounded = { spend: () => {} }

/** Keywords about a value as a whole, and about values without parts. */
export const scalarKeywords: Readonly<Record<string, KeywordCompiler>> = {
  type(operand, _, { nullable }) {
    const names = (Array.isArray(operand) ? operand : [operand]).filter((name) =>
      Object.hasOwn(types, name),
    )
    if (names.length === 0) return undefined
    const tests = [...new Set(nullable === true ? [...names, 'null'] : names)].flatMap(
      (name) => types[name] ?? [],
    )
    return (value, path, run) =>
      tests.some((test) => test(value)) || run.fail('type', path, { type: operand })
  },
  enum: (operand) =>
    Array.isArray(operand) ? oneOfValues('enum', operand, { allowedValues: operand }) : undefined,
  const: (operand) => oneOfValues('const', [operand], { allowedValue: operand }),

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
  pattern(operand, compiler) {
    const pattern = typeof operand === 'string' ? compiler.pattern(operand) : undefined
    if (pattern === undefined) return undefined
    return (value, path, run) => {
      if (typeof value !== 'string') return true
      run.spend(pattern.size * value.length, path)
      return pattern.test(value) || run.fail('pattern', path, { pattern: operand })
    }
  },
}

function oneOfValues(
  keyword: string,
  allowed: readonly unknown[],
  params: Record<string, unknown>,
): ReturnType<KeywordCompiler> {
  const known = new Set(allowed.map((one) => canonical(one, unbounded)))
  return (value, path, run: ValidationRun) =>
    known.has(canonical(value, run)) ||
    run.fail(keyword, path, params, 'must be one of the allowed values')
}

function bound(
  fits: (value: number, limit: number) => boolean,
  keyword: string,
  sign: string,
): KeywordCompiler {
  return (limit) =>
    typeof limit !== 'number'
      ? undefined
      : (value, path, run) =>
          typeof value !== 'number' ||
          fits(value, limit) ||
          run.fail(keyword, path, { limit, comparison: sign }, `must be ${sign} ${limit}`)
}

/** Length in characters: a surrogate pair counts once. */
function length(
  fits: (characters: number, limit: number) => boolean,
  keyword: string,
): KeywordCompiler {
  return (limit) =>
    typeof limit !== 'number'
      ? undefined
      : (value, path, run) => {
          if (typeof value !== 'string') return true
          run.spend(value.length / 16)
          return fits(charactersOf(value), limit) || run.fail(keyword, path, { limit })
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
