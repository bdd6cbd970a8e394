import { authHeaders, idempotencyHeader, type Operation } from '@botstead/contract'
import type { Kind } from './rules.js'

/** The keywords of a schema that the traversal supports. */
interface Schema {
  type?: string
  properties?: Record<string, Schema>
  required?: readonly string[]
  items?: Schema
  additionalProperties?: Schema | boolean
  propertyNames?: Schema
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
  discriminator?: object
  /** The form of an object without what `if` asks for; that with it is tested where it is used. */
  else?: Schema
  const?: unknown
  enum?: readonly unknown[]
  format?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  maxItems?: number
  maxProperties?: number
}

/** A field of a request with the ways to violate its schema, as found in the contract. */
export interface Field {
  /**
   * Its path, for example `body.tags.name`. A member of one of several objects carries the
   * type of that object: `body.payload<card>.actions.0.label`.
   */
  place: string
  kinds: readonly Kind[]
}

type Part = 'headers' | 'params' | 'query' | 'body'

/** Every field of the requests of an operation, with every constraint that the contract declares. */
export function fieldsOf(operation: Operation): Field[] {
  const headers: (object | undefined)[] = [
    authHeaders[operation.auth],
    operation.headers,
    operation.idempotent && idempotencyHeader,
  ]
  const parts: [Part, object | undefined][] = [
    ...headers.map((schema): [Part, object | undefined] => ['headers', schema]),
    ['params', operation.params],
    ['query', operation.query],
    ['body', operation.body],
  ]
  return parts.flatMap(([part, schema]) => (schema ? membersOf(part, part, schema) : []))
}

function membersOf(part: Part, at: string, schema: Schema): Field[] {
  const { properties = {}, required = [] } = schema
  return Object.entries(properties).flatMap(([name, member]) =>
    within(part, `${at}.${name}`, member, required.includes(name)),
  )
}

function within(part: Part, place: string, schema: Schema, isRequired: boolean): Field[] {
  if (schema.else !== undefined) return within(part, place, schema.else, isRequired)
  const { items, additionalProperties: values, oneOf, anyOf } = schema
  const own: Field = { place, kinds: kindsOf(part, schema, isRequired) }
  const inner: Field[] = []
  if (oneOf === undefined) inner.push(...membersOf(part, place, schema))
  // The type of each alternative belongs to the discriminated object as a whole.
  else inner.push(...within(part, `${place}.type`, schema.properties?.type ?? {}, true))
  if (items) inner.push(...anyText(part, within(part, `${place}.0`, items, false)))
  if (typeof values === 'object') inner.push(...within(part, `${place}.name`, values, false))
  for (const member of oneOf ?? []) inner.push(...alternative(part, place, member))
  for (const member of anyOf ?? []) {
    inner.push(...anyText(part, within(part, place, member, false), place))
  }
  return [own, ...inner].filter(({ kinds }) => kinds.length > 0)
}

function alternative(part: Part, place: string, schema: Schema): Field[] {
  const at = `${place}<${schema.properties?.type?.const}>`
  return membersOf(part, at, schema).filter((field) => field.place !== `${at}.type`)
}

function kindsOf(part: Part, schema: Schema, isRequired: boolean): Kind[] {
  const kinds: Kind[] = []
  const add = (kind: Kind, applies: boolean) => {
    if (applies) kinds.push(kind)
  }
  const isText = schema.type === 'string'
  add('missing', isRequired && part !== 'params')
  add('type', hasWrongTypes(part, schema))
  add('fraction', part === 'body' && schema.type === 'integer')
  add('empty', (schema.minLength ?? 0) > 0 && part !== 'params')
  add('long', isText && schema.maxLength !== undefined)
  add('low', schema.minimum !== undefined)
  add('high', schema.maximum !== undefined)
  add('unknown', schema.enum !== undefined || schema.const !== undefined)
  add('many', schema.maxItems !== undefined || schema.maxProperties !== undefined)
  add('name', schema.propertyNames !== undefined)
  add('format', schema.format !== undefined)
  return kinds
}

/** In a query, an item of a list or one of several types cannot have a wrong type. */
function anyText(part: Part, fields: readonly Field[], place = fields[0]?.place): Field[] {
  if (part !== 'query') return [...fields]
  return fields.map((field) =>
    field.place === place
      ? { ...field, kinds: field.kinds.filter((kind) => kind !== 'type') }
      : field,
  )
}

/** A header and a path segment are always text; a list in a query accepts anything. */
function hasWrongTypes(part: Part, { type }: Schema): boolean {
  if (type === undefined) return false
  if (part === 'body') return true
  if (part === 'query') return type !== 'array'
  return type !== 'string'
}
