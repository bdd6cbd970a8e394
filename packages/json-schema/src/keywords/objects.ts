import {
  atLeast,
  atMost,
  countKeyword,
  isObject,
  isSchema,
  type JsonSchema,
  type KeywordCompiler,
  type SubschemaCompiler,
} from '../keyword.js'
import type { Check, ValidationRun, ValuePath } from '../validation-run.js'

/** Keywords about objects; they accept every other value. */
export const objectKeywords: Readonly<Record<string, KeywordCompiler>> = {
  minProperties: countKeyword('minProperties', 'fewer than', 'members', sizeOf, atLeast),
  maxProperties: countKeyword('maxProperties', 'more than', 'members', sizeOf, atMost),
  required(operand) {
    const names = textsOf(operand)
    return (value, path, run) => {
      if (!isObject(value)) return true
      run.spend(names.length)
      const missing = names.find((name) => !Object.hasOwn(value, name))
      if (missing === undefined) return true
      return run.fail('required', path, { missingProperty: missing })
    }
  },
  propertyNames(operand, compiler) {
    const checks = compiler.child(operand)
    return (value, path, run) =>
      !isObject(value) || namesOf(value, run).every((name) => fitsAsName(checks, name, path, run))
  },
  dependencies(operand, compiler) {
    if (!isObject(operand)) return undefined
    const dependent = Object.entries(operand).map(
      ([name, needed]) => [name, dependencyCheck(name, needed, compiler)] as const,
    )
    return (value, path, run) => {
      if (!isObject(value)) return true
      run.spend(dependent.length)
      return dependent.every(
        ([name, check]) => !Object.hasOwn(value, name) || check(value, path, run),
      )
    }
  },
  properties: (_, compiler, schema) => membersCheck(compiler, schema),
  // One check covers all three keywords: the third applies to what the first two leave.
  patternProperties: (_, compiler, schema) =>
    'properties' in schema ? undefined : membersCheck(compiler, schema),
  additionalProperties: (_, compiler, schema) =>
    'properties' in schema || 'patternProperties' in schema
      ? undefined
      : membersCheck(compiler, schema),
}

function membersCheck(compiler: SubschemaCompiler, schema: JsonSchema): Check {
  const { properties, patternProperties, additionalProperties: rest } = schema
  const named = new Map(entriesOf(properties).map(([name, one]) => [name, compiler.child(one)]))
  const likened = entriesOf(patternProperties).flatMap(([source, one]) => {
    const pattern = compiler.pattern(source)
    return pattern === undefined ? [] : [{ pattern, checks: compiler.child(one) }]
  })
  const additional = isSchema(rest) ? compiler.child(rest) : []
  return (value, path, run) =>
    !isObject(value) ||
    namesOf(value, run).every((name) => {
      const below: ValuePath = { parent: path, name }
      const own = named.get(name)
      if (own !== undefined && !run.all(own, value[name], below)) return false
      let isAdditional = own === undefined
      for (const { pattern, checks } of likened) {
        run.spend(pattern.size * name.length, below)
        if (!pattern.test(name)) continue
        isAdditional = false
        if (!run.all(checks, value[name], below)) return false
      }
      if (!isAdditional) return true
      if (rest === false) {
        return run.fail('additionalProperties', path, { additionalProperty: name })
      }
      return additional.length === 0 || run.all(additional, value[name], below)
    })
}

function dependencyCheck(name: string, needed: unknown, compiler: SubschemaCompiler): Check {
  if (!Array.isArray(needed)) {
    const checks = compiler.inPlace(needed)
    return (value, path, run) => run.all(checks, value, path)
  }
  const names = textsOf(needed)
  return (value, path, run) => {
    run.spend(names.length)
    const missing = isObject(value) ? names.find((one) => !Object.hasOwn(value, one)) : undefined
    if (missing === undefined) return true
    return run.fail('dependencies', path, {}, `must have ${missing} when it has ${name}`)
  }
}

function fitsAsName(
  checks: readonly Check[],
  name: string,
  path: ValuePath,
  run: ValidationRun,
): boolean {
  const outer = run.propertyName
  run.propertyName = name
  const fits = run.all(checks, name, path)
  run.propertyName = outer
  return fits
}

function sizeOf(value: unknown, run: ValidationRun): number | undefined {
  return isObject(value) ? namesOf(value, run).length : undefined
}

function namesOf(value: JsonSchema, run: ValidationRun): string[] {
  const names = Object.keys(value)
  run.spend(names.length)
  return names
}

function entriesOf(map: unknown): [string, unknown][] {
  return isObject(map) ? Object.entries(map) : []
}

function textsOf(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : []
}
