import type { SchemaError } from './describe.js'

/** The position of a check in a value, innermost name first; undefined for the value itself. */
export type ValuePath = { parent: ValuePath; name: string | number } | undefined

/** Asserts one keyword on a value; false after it has recorded the error. */
export type Check = (value: unknown, path: ValuePath, run: ValidationRun) => boolean

/** Thrown when a validation would block other callers for too long. */
export class WorkLimitExceeded extends Error {
  /** Path of the value at which the limit was reached. */
  readonly path: ValuePath

  constructor(path: ValuePath) {
    super('Too much work')
    this.path = path
  }
}

/** Maximum number of recorded errors: a union has one for each branch, and only one of all is reported. */
const maxErrors = 100
/** Maximum number of nested checks. The stack has room for many more. */
const maxDepth = 1000

/** The validation of one value: its errors, and the remaining steps. */
export class ValidationRun {
  readonly errors: SchemaError[] = []
  propertyName: string | undefined
  #steps: number
  #depth = 0

  constructor(steps: number) {
    this.#steps = steps
  }

  /** Consumes steps; one step takes about as long as comparing two short values. */
  spend(steps: number, path?: ValuePath): void {
    this.#steps -= steps
    if (this.#steps < 0) throw new WorkLimitExceeded(path)
  }

  /** Whether a value passes all checks; stops at the first that fails. */
  all(checks: readonly Check[], value: unknown, path: ValuePath): boolean {
    this.spend(1 + checks.length, path)
    this.#depth += 1
    if (this.#depth > maxDepth) throw new WorkLimitExceeded(path)
    for (const check of checks) {
      if (check(value, path, this)) continue
      this.#depth -= 1
      return false
    }
    this.#depth -= 1
    return true
  }

  /** Records an error; always false. */
  fail(keyword: string, path: ValuePath, params: SchemaError['params'], message?: string): false {
    if (this.errors.length >= maxErrors) return false
    const instancePath = toPointer(path)
    this.spend(instancePath.length / 16)
    this.errors.push({
      keyword,
      instancePath,
      params,
      ...(message !== undefined && { message }),
      ...(this.propertyName !== undefined && { propertyName: this.propertyName }),
    })
    return false
  }

  /** Discards the errors that were recorded after the first `count`. */
  discardFrom(count: number): void {
    this.errors.length = Math.min(count, this.errors.length)
  }
}

/** The JSON Pointer of a path (RFC 6901). */
export function toPointer(path: ValuePath): string {
  const names: string[] = []
  for (let at = path; at !== undefined; at = at.parent) {
    names.push(String(at.name).replaceAll('~', '~0').replaceAll('/', '~1'))
  }
  return names
    .reverse()
    .map((name) => `/${name}`)
    .join('')
}
