/** A failed assertion as validators of JSON Schema report it; the errors of Ajv have this shape. */
export interface SchemaError {
  keyword: string
  /** JSON Pointer of the refused value. */
  instancePath: string
  params: Record<string, unknown>
  message?: string | undefined
  /** The name of the refused member, where the schema is about names. */
  propertyName?: string | undefined
}

/** A violated rule in plain language. */
export interface Violation {
  /** Path of the member with dots between its parts; empty for the value itself. */
  field: string
  /** The rule, to be read after the field: `must be a string`. */
  rule: string
  /** Whether the rule is about the name of a member and not its value. */
  isAboutName: boolean
}

/** Maximum number of allowed values in a message, and maximum length of each in characters. */
const maxListedValues = 50
const maxValueLength = 100

/** Selects the most useful of all errors about a value, of which there must be at least one. */
export function describeErrors(errors: readonly SchemaError[]): Violation {
  const error = mostRelevant(errors)
  return {
    field: fieldOf(error),
    rule: ruleOf(error, errors),
    isAboutName: error.propertyName !== undefined,
  }
}

/**
 * A union reports the errors of every branch. An error other than a wrong type comes from the branch
 * that was meant; otherwise the deepest error does, or else the union as a whole is reported.
 */
function mostRelevant(errors: readonly SchemaError[]): SchemaError {
  const unions = errors.filter(({ keyword }) => isUnion(keyword))
  if (unions.length === 0) return deepestOf(errors)
  const meant = errors.filter(({ keyword }) => keyword !== 'type' && !isUnion(keyword))
  if (meant.length > 0) return deepestOf(meant)
  const deepest = deepestOf(errors)
  return unions.find(({ instancePath }) => instancePath === deepest.instancePath) ?? deepest
}

function deepestOf(errors: readonly SchemaError[]): SchemaError {
  return errors.reduce((best, next) => (depth(next) > depth(best) ? next : best))
}

function depth(error: SchemaError): number {
  const missing = error.keyword === 'required' ? 1 : 0
  return error.instancePath.split('/').length + missing
}

function isUnion(keyword: string): boolean {
  return keyword === 'anyOf' || keyword === 'oneOf'
}

function fieldOf(error: SchemaError): string {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (error.keyword === 'required') path.push(String(error.params.missingProperty))
  if (error.keyword === 'additionalProperties') {
    path.push(String(error.params.additionalProperty))
  }
  if (error.keyword === 'discriminator') path.push(String(error.params.tag))
  return path.join('.')
}

function ruleOf(error: SchemaError, all: readonly SchemaError[]): string {
  const params = error.params
  switch (error.keyword) {
    case 'required':
      return 'is required'
    case 'additionalProperties':
      return 'is a member that is not known'
    case 'type':
      return `must be ${[params.type].flat().map(String).map(withArticle).join(' or ')}`
    case 'enum':
    case 'const':
      return `must be one of ${allowedValues(error).join(', ')}`
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
      return formatRule(error, all)
    case 'pattern':
      return `must match ${params.pattern}`
    case 'anyOf':
    case 'oneOf':
      return `must be ${branchTypes(error, all).map(withArticle).join(' or ')}`
    default:
      return error.message ?? 'is not valid'
  }
}

function formatRule({ params, instancePath }: SchemaError, all: readonly SchemaError[]): string {
  if (params.format !== 'date-time') return `must be a valid ${params.format}`
  const orDate = all.some(
    (one) => one.params.format === 'date' && one.instancePath === instancePath,
  )
  const form = 'an ISO 8601 date and time with a time zone, such as 2030-01-31T12:00:00Z'
  return `must be ${form}${orDate ? ', or a date, such as 2030-01-31' : ''}`
}

function allowedValues(error: SchemaError): string[] {
  const { allowedValues, allowedValue } = error.params
  const all: unknown[] = Array.isArray(allowedValues) ? allowedValues : [allowedValue]
  const listed = all.slice(0, maxListedValues).map((one) => {
    const text = typeof one === 'string' ? one : JSON.stringify(one)
    return text.length > maxValueLength ? `${text.slice(0, maxValueLength)}…` : text
  })
  return all.length > maxListedValues
    ? [...listed, `or ${all.length - maxListedValues} more`]
    : listed
}

function branchTypes(union: SchemaError, all: readonly SchemaError[]): string[] {
  const types = all
    .filter((one) => one.keyword === 'type' && one.instancePath === union.instancePath)
    .map((one) => String(one.params.type))
  return types.length > 0 ? [...new Set(types)] : ['one of the documented forms']
}

function withArticle(type: string): string {
  if (type === 'null' || type.startsWith('one of')) return type
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`
}
