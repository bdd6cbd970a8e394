import { canonical } from './canonical.js'
import { isSchema, type Word } from './reader.js'
import type { Check, Place, Run } from './run.js'

/** Rules about lists; they say nothing of other values. */
export const listWords: Readonly<Record<string, Word>> = {
  minItems: count((items, limit) => items >= limit, 'minItems', 'fewer than'),
  maxItems: count((items, limit) => items <= limit, 'maxItems', 'more than'),
  uniqueItems(word) {
    if (word !== true) return undefined
    return (value, place, run) => {
      if (!Array.isArray(value)) return true
      const seen = new Map<string, number>()
      for (const [at, item] of value.entries()) {
        const text = canonical(item, run)
        const twin = seen.get(text)
        if (twin !== undefined) {
          const message = `must not have equal items (${twin} and ${at} are)`
          return run.refuse('uniqueItems', place, { i: at, j: twin }, message)
        }
        seen.set(text, at)
      }
      return true
    }
  },
  items(word, reader, { additionalItems, prefixItems }) {
    // Later drafts say of the first items apart what earlier ones say with a list here.
    const isList = Array.isArray(word)
    const first = (isList ? word : listOf(prefixItems)).map(reader.inside)
    const rest = isList ? additionalItems : word
    return itemsCheck(first, isSchema(rest) ? reader.inside(rest) : [])
  },
  prefixItems(word, reader, { items }) {
    return items === undefined ? itemsCheck(listOf(word).map(reader.inside), []) : undefined
  },
  contains(word, reader) {
    if (!isSchema(word)) return undefined
    const checks = reader.inside(word)
    return (value, place, run) => {
      if (!Array.isArray(value)) return true
      const before = run.violations.length
      const fits = value.some((item, name) => run.all(checks, item, { parent: place, name }))
      run.forgive(before)
      return fits || run.refuse('contains', place, {}, 'must have an item of the required form')
    }
  },
}

function itemsCheck(first: readonly (readonly Check[])[], rest: readonly Check[]): Check {
  return (value: unknown, place: Place, run: Run) =>
    !Array.isArray(value) ||
    value.every((item, name) => run.all(first[name] ?? rest, item, { parent: place, name }))
}

function listOf(word: unknown): unknown[] {
  return Array.isArray(word) ? word : []
}

function count(
  fits: (items: number, limit: number) => boolean,
  keyword: string,
  than: string,
): Word {
  return (limit) =>
    typeof limit !== 'number'
      ? undefined
      : (value, place, run) =>
          !Array.isArray(value) ||
          fits(value.length, limit) ||
          run.refuse(keyword, place, { limit }, `must not have ${than} ${limit} items`)
}
