import type { Ajv } from 'ajv'

const keyword = 'storable'

/** Teaches a validator to refuse texts that not every database can hold, see {@link requireStorable}. */
export function addStorableKeyword(ajv: Ajv): void {
  ajv.addKeyword({
    keyword,
    type: 'string',
    schemaType: 'boolean',
    validate: (_: boolean, text: string) => text.isWellFormed() && !text.includes('\0'),
    error: { message: 'must be made of whole characters, without U+0000' },
  })
}

/**
 * The same schema, in which declared texts are made of whole characters and have no U+0000:
 * PostgreSQL can neither store others nor look for them, not even inside JSON, and what one engine
 * refuses the other must refuse too.
 *
 * Values of any type and payloads of messages are left alone. They are content, kept as JSON that
 * no query looks into, and half an emoji at the end of what somebody says must not lose the rest.
 */
export function requireStorable(schema: object): object {
  if ('discriminator' in schema || 'enum' in schema) return schema
  const members = Object.entries(schema).map(([name, value]) => [name, requireWithin(value)])
  // Names in a map have bounds, but no type.
  const isText = 'type' in schema ? schema.type === 'string' : 'maxLength' in schema
  return { ...Object.fromEntries(members), ...(isText && { [keyword]: true }) }
}

function requireWithin(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(requireWithin)
  return typeof value === 'object' && value !== null ? requireStorable(value) : value
}
