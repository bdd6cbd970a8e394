import { isMap, isSchema, type Reader, type Schema, type Word } from './reader.js'
import type { Check, Place, Run } from './run.js'

/** Rules about objects; they say nothing of other values. */
export const objectWords: Readonly<Record<string, Word>> = {
  minProperties: count((members, limit) => members >= limit, 'minProperties', 'fewer than'),
  maxProperties: count((members, limit) => members <= limit, 'maxProperties', 'more than'),
  required(word) {
    const names = textsOf(word)
    return (value, place, run) => {
      if (!isMap(value)) return true
      run.spend(names.length)
      const missing = names.find((name) => !Object.hasOwn(value, name))
      if (missing === undefined) return true
      return run.refuse('required', place, { missingProperty: missing })
    }
  },
  propertyNames(word, reader) {
    const checks = reader.inside(word)
    return (value, place, run) =>
      !isMap(value) || namesOf(value, run).every((name) => fitsAsName(checks, name, place, run))
  },
  dependencies(word, reader) {
    if (!isMap(word)) return undefined
    const dependent = Object.entries(word).map(
      ([name, needed]) => [name, dependencyCheck(name, needed, reader)] as const,
    )
    return (value, place, run) => {
      if (!isMap(value)) return true
      run.spend(dependent.length)
      return dependent.every(
        ([name, check]) => !Object.hasOwn(value, name) || check(value, place, run),
      )
    }
  },
  properties: (_, reader, schema) => membersCheck(reader, schema),
  // One check sees to all three words, because the third is about what the others leave.
  patternProperties: (_, reader, schema) =>
    'properties' in schema ? undefined : membersCheck(reader, schema),
  additionalProperties: (_, reader, schema) =>
    'properties' in schema || 'patternProperties' in schema
      ? undefined
      : membersCheck(reader, schema),
}

function membersCheck(reader: Reader, schema: Schema): Check {
  const { properties, patternProperties, additionalProperties: rest } = schema
  const named = new Map(entriesOf(properties).map(([name, one]) => [name, reader.inside(one)]))
  const likened = entriesOf(patternProperties).flatMap(([source, one]) => {
    const pattern = reader.pattern(source)
    return pattern === undefined ? [] : [{ pattern, checks: reader.inside(one) }]
  })
  const additional = isSchema(rest) ? reader.inside(rest) : []
  return (value, place, run) =>
    !isMap(value) ||
    namesOf(value, run).every((name) => {
      const below: Place = { parent: place, name }
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
        return run.refuse('additionalProperties', place, { additionalProperty: name })
      }
      return additional.length === 0 || run.all(additional, value[name], below)
    })
}

function dependencyCheck(name: string, needed: unknown, reader: Reader): Check {
  if (!Array.isArray(needed)) {
    const checks = reader.inPlace(needed)
    return (value, place, run) => run.all(checks, value, place)
  }
  const names = textsOf(needed)
  return (value, place, run) => {
    run.spend(names.length)
    const missing = isMap(value) ? names.find((one) => !Object.hasOwn(value, one)) : undefined
    if (missing === undefined) return true
    return run.refuse('dependencies', place, {}, `must have ${missing} when it has ${name}`)
  }
}

function fitsAsName(checks: readonly Check[], name: string, place: Place, run: Run): boolean {
  const outer = run.propertyName
  run.propertyName = name
  const fits = run.all(checks, name, place)
  run.propertyName = outer
  return fits
}

function namesOf(value: Schema, run: Run): string[] {
  const names = Object.keys(value)
  run.spend(names.length)
  return names
}

function entriesOf(map: unknown): [string, unknown][] {
  return isMap(map) ? Object.entries(map) : []
}

function textsOf(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : []
}

function count(
  fits: (members: number, limit: number) => boolean,
  keyword: string,
  than: string,
): Word {
  return (limit) =>
    typeof limit !== 'number'
      ? undefined
      : (value, place, run) =>
          !isMap(value) ||
          fits(namesOf(value, run).length, limit) ||
          run.refuse(keyword, place, { limit }, `must not have ${than} ${limit} members`)
}
