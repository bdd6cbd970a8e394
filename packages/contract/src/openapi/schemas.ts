/** A JSON Schema as the document contains it. */
export type JsonSchema = { [keyword: string]: unknown }

/** Collects schemas that have a title, so that the document contains each of them once. */
export interface SchemaRegistry {
  /** The schema for the document: titled schemas in it are moved out and referenced. */
  reference(schema: object): JsonSchema
  /** The schemas that were moved out, by title, in alphabetical order. */
  components(): Record<string, JsonSchema>
}

/** Creates an empty registry. Two different schemas with the same title are a mistake and throw. */
export function createSchemaRegistry(): SchemaRegistry {
  const moved = new Map<string, JsonSchema>()

  const reference = (schema: object): JsonSchema => {
    const { title, ...rest } = copyMembers(schema)
    if (typeof title !== 'string') return withMapping(rest, schema)
    const known = moved.get(title)
    const converted = withMapping(rest, schema)
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(converted)) {
      throw new Error(`two different schemas have the title ${title}`)
    }
    moved.set(title, converted)
    return { $ref: refTo(title) }
  }

  const convert = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(convert)
    return isObject(value) ? reference(value) : value
  }

  /** Keywords of a schema; those that hold schemas are converted, the others (`enum`) copied. */
  const copyMembers = (schema: object): JsonSchema =>
    Object.fromEntries(
      Object.entries(schema).map(([keyword, value]) => {
        if (keyword === 'properties' && isObject(value)) return [keyword, convertEach(value)]
        return [keyword, schemaKeywords.has(keyword) ? convert(value) : value]
      }),
    )

  const convertEach = (properties: object): JsonSchema =>
    Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, convert(value)]))

  return {
    reference,
    components: () => Object.fromEntries([...moved].sort(([a], [b]) => a.localeCompare(b, 'en'))),
  }
}

/** Keywords whose values are schemas or lists of schemas. */
const schemaKeywords = new Set([
  'items',
  'additionalProperties',
  'propertyNames',
  'anyOf',
  'oneOf',
  'allOf',
])

const refTo = (title: string) => `#/components/schemas/${title}`

/** One alternative of a discriminated union. */
interface Alternative {
  title: string
  properties: { type: { const: string } }
}

/**
 * A discriminator needs a mapping as soon as its alternatives are references; otherwise readers of
 * the document take the names of the schemas for the values.
 */
function withMapping(converted: JsonSchema, source: object): JsonSchema {
  if (!('discriminator' in source && 'oneOf' in source)) return converted
  const alternatives = source.oneOf as Alternative[]
  const mapping = Object.fromEntries(
    alternatives.map((member) => [member.properties.type.const, refTo(member.title)]),
  )
  return { ...converted, discriminator: { propertyName: 'type', mapping } }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
