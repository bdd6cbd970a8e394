import { isSchema, type KeywordCompiler } from '../keyword.js'

/** Keywords that combine schemas, all applied to the same value. */
export const combinatorKeywords: Readonly<Record<string, KeywordCompiler>> = {
  $ref(operand, compiler) {
    if (typeof operand !== 'string') return undefined
    const checks = compiler.reference(operand)
    return (value, path, run) => run.all(checks, value, path)
  },
  allOf(operand, compiler) {
    const branches = branchesOf(operand).map(compiler.inPlace)
    return (value, path, run) => branches.every((checks) => run.all(checks, value, path))
  },
  anyOf(operand, compiler) {
    const branches = branchesOf(operand).map(compiler.inPlace)
    if (branches.length === 0) return undefined
    return (value, path, run) => {
      const before = run.errors.length
      if (!branches.some((checks) => run.all(checks, value, path))) {
        return run.fail('anyOf', path, {}, 'must match a schema in anyOf')
      }
      run.discardFrom(before)
      return true
    }
  },
  oneOf(operand, compiler) {
    const branches = branchesOf(operand).map(compiler.inPlace)
    if (branches.length === 0) return undefined
    return (value, path, run) => {
      const before = run.errors.length
      const fitting = branches.filter((checks) => run.all(checks, value, path)).length
      if (fitting > 0) run.discardFrom(before)
      if (fitting === 1) return true
      const message = 'must match exactly one schema in oneOf'
      return run.fail('oneOf', path, { fitting }, message)
    }
  },
  not(operand, compiler) {
    if (!isSchema(operand)) return undefined
    const checks = compiler.inPlace(operand)
    return (value, path, run) => {
      const before = run.errors.length
      const fits = run.all(checks, value, path)
      run.discardFrom(before)
      return !fits || run.fail('not', path, {}, 'must not be of the excluded form')
    }
  },
  if(operand, compiler, schema) {
    if (!isSchema(operand) || !(isSchema(schema.then) || isSchema(schema.else))) return undefined
    const condition = compiler.inPlace(operand)
    const consequence = isSchema(schema.then) ? compiler.inPlace(schema.then) : []
    const alternative = isSchema(schema.else) ? compiler.inPlace(schema.else) : []
    return (value, path, run) => {
      const before = run.errors.length
      const holds = run.all(condition, value, path)
      run.discardFrom(before)
      return run.all(holds ? consequence : alternative, value, path)
    }
  },
}

function branchesOf(operand: unknown): unknown[] {
  return Array.isArray(operand) ? operand : []
}
