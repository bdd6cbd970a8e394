import type { Operation } from '@botstead/contract'

/** A schema as it stands, without its TypeScript type. */
export interface Schema {
  type?: string
  description?: string
  title?: string
  enum?: unknown[]
  const?: unknown
  format?: string
  maxLength?: number
  maxItems?: number
  maxProperties?: number
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: Schema | boolean
  anyOf?: Schema[]
  oneOf?: Schema[]
  [keyword: string]: unknown
}

/** One schema inside an operation and the way to it. */
export interface SchemaPath {
  path: string
  schema: Schema
  /** Whether callers send it, or the server does. */
  side: 'request' | 'response'
}

/** Every schema of an operation, outermost first. */
export function schemasOf(operation: Operation): SchemaPath[] {
  return Object.entries(partsOf(operation)).flatMap(([part, schema]) =>
    within(
      `${operation.id}.${part}`,
      schema as Schema,
      part === 'response' ? 'response' : 'request',
    ),
  )
}

/** The schemas of an operation by the part of the request or response that they are of. */
export function partsOf({ params, query, headers, body, response }: Operation) {
  return {
    ...(params && { params }),
    ...(query && { query }),
    ...(headers && { headers }),
    ...(body && { body }),
    ...(response.kind === 'json' && { response: response.schema }),
  }
}

function within(path: string, schema: Schema, side: SchemaPath['side']): SchemaPath[] {
  const { additionalProperties: values, items } = schema
  const inner: [string, Schema][] = Object.entries(schema.properties ?? {}).map(
    ([name, property]) => [`${path}.${name}`, property],
  )
  if (items) inner.push([`${path}[]`, items])
  if (typeof values === 'object') inner.push([`${path}{}`, values])
  const alternatives = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  return [
    { path, schema, side },
    ...inner.flatMap(([at, one]) => within(at, one, side)),
    ...alternatives.flatMap((one, index) => within(`${path}|${index}`, one, side)),
  ]
}

/** The members of a part of an operation. */
export const namesOf = (part: object | undefined): string[] =>
  Object.keys((part as Schema | undefined)?.properties ?? {})
