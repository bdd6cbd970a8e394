import {
  atLeast,
  atMost,
  canonical,
  countKeyword,
  isSchema,
  type KeywordCompiler,
} from '../keyword.js'
import type { Check, ValidationRun, ValuePath } from '../validation-run.js'

/** Keywords about arrays; they accept every other value. */
export const arrayKeywords: Readonly<Record<string, KeywordCompiler>> = {
  minItems: countKeyword('minItems', 'fewer than', 'items', lengthOf, atLeast),
  maxItems: countKeyword('maxItems', 'more than', 'items', lengthOf, atMost),
  uniqueItems(operand) {
    if (operand !== true) return undefined
    return (value, path, run) => {
      if (!Array.isArray(value)) return true
      const seen = new Map<string, number>()
      for (const [at, item] of value.entries()) {
        const text = canonical(item, run)
        const twin = seen.get(text)
        if (twin !== undefined) {
          const message = `must not have equal items (${twin} and ${at} are)`
          return run.fail('uniqueItems', path, { i: at, j: twin }, message)
        }
        seen.set(text, at)
      }
      return true
    }
  },
  items(operand, compiler, { additionalItems, prefixItems }) {
    // Later drafts use `prefixItems` for what earlier ones write as a list of `items`.
    const isList = Array.isArray(operand)
    const first = (isList ? operand : listOf(prefixItems)).map(compiler.child)
    const rest = isList ? additionalItems : operand
    return itemsCheck(first, isSchema(rest) ? compiler.child(rest) : [])
  },
  prefixItems(operand, compiler, { items }) {
    return items === undefined ? itemsCheck(listOf(operand).map(compiler.child), []) : undefined
  },
  contains(operand, compiler) {
    if (!isSchema(operand)) return undefined
    const checks = compiler.child(operand)
    return (value, path, run) => {
      if (!Array.isArray(value)) return true
      const before = run.errors.length
      const fits = value.some((item, name) => run.all(checks, item, { parent: path, name }))
      run.discardFrom(before)
      return fits || run.fail('contains', path, {}, 'must have an item of the required form')
    }
  },
}

function itemsCheck(first: readonly (readonly Check[])[], rest: readonly Check[]): Check {
  return (value: unknown, path: ValuePath, run: ValidationRun) =>
    !Array.isArray(value) ||
    value.every((item, name) => run.all(first[name] ?? rest, item, { parent: path, name }))
}

function lengthOf(value: unknown): number | undefined {
  return Array.isArray(value) ? value.length : undefined
}

function listOf(operand: unknown): unknown[] {
  return Array.isArray(operand) ? operand : []
}
