/** Where in a value a rule is checked; undefined for the value itself. */
export type Place = { parent: Place; name: string | number } | undefined

/** A broken rule, as other validators of JSON Schema report it. */
export interface Violation {
  keyword: string
  instancePath: string
  params: Record<string, unknown>
  message?: string
  /** The name that is judged, where it is no value. */
  propertyName?: string
}

/** Judges one value by one rule; false after it has noted what is broken. */
export type Check = (value: unknown, place: Place, run: Run) => boolean

/** That judging a value would take longer than one caller may hold up the others. */
export class TooMuchWork extends Error {
  /** How far it came. */
  readonly place: Place

  constructor(place: Place) {
    super('Too much work')
    this.place = place
  }
}

/** Most that is noted: a union has as many complaints as branches, and one of all is told. */
const mostViolations = 100
/** Rules within rules. The stack of a process has room for many more. */
const mostDepth = 1000

/** What one value takes to be judged. */
export class Run {
  readonly violations: Violation[] = []
  propertyName: string | undefined
  #steps: number
  #depth = 0

  constructor(steps: number) {
    this.#steps = steps
  }

  /** Takes steps of the allowance; one is about what comparing two short values takes. */
  spend(steps: number, place?: Place): void {
    this.#steps -= steps
    if (this.#steps < 0) throw new TooMuchWork(place)
  }

  /** Whether a value fits all rules; stops at the first that it breaks. */
  all(checks: readonly Check[], value: unknown, place: Place): boolean {
    this.spend(1 + checks.length, place)
    this.#depth += 1
    if (this.#depth > mostDepth) throw new TooMuchWork(place)
    for (const check of checks) {
      if (check(value, place, this)) continue
      this.#depth -= 1
      return false
    }
    this.#depth -= 1
    return true
  }

  /** Notes a broken rule; always false. */
  refuse(keyword: string, place: Place, params: Violation['params'], message?: string): false {
    if (this.violations.length >= mostViolations) return false
    const instancePath = pointerTo(place)
    this.spend(instancePath.length / 16)
    this.violations.push({
      ...{ keyword, instancePath, params },
      ...(message !== undefined && { message }),
      ...(this.propertyName !== undefined && { propertyName: this.propertyName }),
    })
    return false
  }

  /** Forgets what was noted since there were so many. */
  forgive(count: number): void {
    this.violations.length = Math.min(count, this.violations.length)
  }
}

/** The JSON Pointer of a place. */
export function pointerTo(place: Place): string {
  const names: string[] = []
  for (let at = place; at !== undefined; at = at.parent) {
    names.push(String(at.name).replaceAll('~', '~0').replaceAll('/', '~1'))
  }
  return names
    .reverse()
    .map((name) => `/${name}`)
    .join('')
}
