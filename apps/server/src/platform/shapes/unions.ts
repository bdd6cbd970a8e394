import { isSchema, type Word } from './reader.js'

/** Rules that put schemas together, all about the same value. */
export const unionWords: Readonly<Record<string, Word>> = {
  $ref(word, reader) {
    if (typeof word !== 'string') return undefined
    const checks = reader.referred(word)
    return (value, place, run) => run.all(checks, value, place)
  },
  allOf(word, reader) {
    const branches = branchesOf(word).map(reader.inPlace)
    return (value, place, run) => branches.every((checks) => run.all(checks, value, place))
  },
  anyOf(word, reader) {
    const branches = branchesOf(word).map(reader.inPlace)
    if (branches.length === 0) return undefined
    return (value, place, run) => {
      const before = run.violations.length
      if (!branches.some((checks) => run.all(checks, value, place))) {
        return run.refuse('anyOf', place, {}, 'must match a schema in anyOf')
      }
      run.forgive(before)
      return true
    }
  },
  oneOf(word, reader) {
    const branches = branchesOf(word).map(reader.inPlace)
    if (branches.length === 0) return undefined
    return (value, place, run) => {
      const before = run.violations.length
      const fitting = branches.filter((checks) => run.all(checks, value, place)).length
      if (fitting > 0) run.forgive(before)
      if (fitting === 1) return true
      const message = 'must match exactly one schema in oneOf'
      return run.refuse('oneOf', place, { fitting }, message)
    }
  },
  not(word, reader) {
    if (!isSchema(word)) return undefined
    const checks = reader.inPlace(word)
    return (value, place, run) => {
      const before = run.violations.length
      const fits = run.all(checks, value, place)
      run.forgive(before)
      return !fits || run.refuse('not', place, {}, 'must not be of the excluded form')
    }
  },
  if(word, reader, schema) {
    if (!isSchema(word) || !(isSchema(schema.then) || isSchema(schema.else))) return undefined
    const condition = reader.inPlace(word)
    const consequence = isSchema(schema.then) ? reader.inPlace(schema.then) : []
    const alternative = isSchema(schema.else) ? reader.inPlace(schema.else) : []
    return (value, place, run) => {
      const before = run.violations.length
      const holds = run.all(condition, value, place)
      run.forgive(before)
      return run.all(holds ? consequence : alternative, value, place)
    }
  },
}

function branchesOf(word: unknown): unknown[] {
  return Array.isArray(word) ? word : []
}
