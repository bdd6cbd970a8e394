import type { ErrorObject } from 'ajv'

/** One complaint of a JSON Schema validator. */
type Violation = Pick<
  ErrorObject,
  'keyword' | 'instancePath' | 'params' | 'propertyName' | 'message'
>

/** A broken rule in words. */
export interface Broken {
  /** Path of the member with dots between its parts; empty for the value itself. */
  field: string
  /** What it must be, to stand behind the field. */
  rule: string
  /** Whether the rule is about the name of a member and not its value. */
  isAboutName: boolean
}

/** Of allowed values, so many are told, each with so many characters. */
const mostTold = 50
const longestTold = 100

/** What a person should be told of the complaints about one value; there must be one at least. */
export function tellViolation(violations: readonly Violation[]): Broken {
  const violation = mostTelling(violations)
  return {
    field: fieldOf(violation),
    rule: ruleOf(violation, violations),
    isAboutName: violation.propertyName !== undefined,
  }
}

/**
 * A union reports the complaints of every branch. What broke another rule than its type is about the
 * branch that was meant; otherwise the complaint that got deepest is, or the union as a whole.
 */
function mostTelling(violations: readonly Violation[]): Violation {
  const unions = violations.filter(({ keyword }) => isUnion(keyword))
  if (unions.length === 0) return deepestOf(violations)
  const meant = violations.filter(({ keyword }) => keyword !== 'type' && !isUnion(keyword))
  if (meant.length > 0) return deepestOf(meant)
  const deepest = deepestOf(violations)
  return unions.find(({ instancePath }) => instancePath === deepest.instancePath) ?? deepest
}

function deepestOf(violations: readonly Violation[]): Violation {
  return violations.reduce((best, next) => (depth(next) > depth(best) ? next : best))
}

function depth(violation: Violation): number {
  const missing = violation.keyword === 'required' ? 1 : 0
  return violation.instancePath.split('/').length + missing
}

function isUnion(keyword: string): boolean {
  return keyword === 'anyOf' || keyword === 'oneOf'
}

function fieldOf(violation: Violation): string {
  const path = violation.instancePath
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (violation.keyword === 'required') path.push(String(violation.params.missingProperty))
  if (violation.keyword === 'additionalProperties') {
    path.push(String(violation.params.additionalProperty))
  }
  if (violation.keyword === 'discriminator') path.push(String(violation.params.tag))
  return path.join('.')
}

function ruleOf(violation: Violation, all: readonly Violation[]): string {
  const params = violation.params
  switch (violation.keyword) {
    case 'required':
      return 'is required'
    case 'additionalProperties':
      return 'is a member that is not known'
    case 'type':
      return `must be ${[params.type].flat().map(String).map(withArticle).join(' or ')}`
    case 'enum':
    case 'const':
      return `must be one of ${allowedValues(violation).join(', ')}`
    case 'discriminator':
      return `is not one of the known types (${JSON.stringify(params.tagValue)})`
    case 'minLength':
      return params.limit === 1
        ? 'must not be empty'
        : `must have at least ${params.limit} characters`
    case 'maxLength':
      return `must have at most ${params.limit} characters`
    case 'minimum':
      return `must be at least ${params.limit}`
    case 'maximum':
      return `must be at most ${params.limit}`
    case 'exclusiveMinimum':
      return `must be greater than ${params.limit}`
    case 'minItems':
      return `must have at least ${params.limit} items`
    case 'maxItems':
      return `must have at most ${params.limit} items`
    case 'maxProperties':
      return `must have at most ${params.limit} members`
    case 'format':
      return params.format === 'date-time'
        ? 'must be an ISO 8601 date and time with a time zone, such as 2030-01-31T12:00:00Z'
        : `must be a valid ${params.format}`
    case 'pattern':
      return `must match ${params.pattern}`
    case 'anyOf':
    case 'oneOf':
      return `must be ${branchTypes(violation, all).map(withArticle).join(' or ')}`
    default:
      return violation.message ?? 'is not valid'
  }
}

function allowedValues(violation: Violation): string[] {
  const { allowedValues, allowedValue } = violation.params
  const all: unknown[] = Array.isArray(allowedValues) ? allowedValues : [allowedValue]
  const told = all.slice(0, mostTold).map((one) => {
    const text = typeof one === 'string' ? one : JSON.stringify(one)
    return text.length > longestTold ? `${text.slice(0, longestTold)}…` : text
  })
  return all.length > mostTold ? [...told, `or ${all.length - mostTold} more`] : told
}

function branchTypes(union: Violation, all: readonly Violation[]): string[] {
  const types = all
    .filter((one) => one.keyword === 'type' && one.instancePath === union.instancePath)
    .map((one) => String(one.params.type))
  return types.length > 0 ? [...new Set(types)] : ['one of the documented forms']
}

function withArticle(type: string): string {
  if (type === 'null' || type.startsWith('one of')) return type
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`
}
