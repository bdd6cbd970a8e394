import type { TObject } from 'typebox'
import { authHeaders, idempotencyHeader } from '../calling.js'
import type { Auth, Operation } from '../operation.js'
import { rolesWith } from '../permissions.js'
import { errorReferences, rateHeaders } from './responses.js'
import type { JsonSchema, SchemaRegistry } from './schemas.js'

/** The document entry of one operation. */
export function describeOperation(operation: Operation, schemas: SchemaRegistry): JsonSchema {
  const parameters = [
    ...sharedHeaders(operation),
    ...parametersOf('path', operation.params, schemas),
    ...parametersOf('query', operation.query, schemas),
    ...parametersOf('header', operation.headers, schemas),
  ]
  const requestBody = requestBodyOf(operation, schemas)
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    ...descriptionOf(operation),
    security: security[operation.auth],
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: { ...successesOf(operation, schemas), ...errorReferences(operation) },
  }
}

/** The description, with the permission that members need. */
function descriptionOf({ description = '', permission }: Operation): { description?: string } {
  const roles = permission === undefined ? [] : rolesWith(permission)
  const rule =
    roles.length > 0 && `Members need the permission \`${permission}\`: ${roles.join(', ')}.`
  const text = [description, rule].filter(Boolean).join('\n\n')
  return text === '' ? {} : { description: text }
}

const token = [{ token: [] }]

const security: Record<Auth, Record<string, never[]>[]> = {
  public: [],
  account: token,
  token,
  workspace: token,
  bot: token,
  chat: [],
  'chat-user': [{ userKey: [] }],
  signature: [],
}

/** Headers that follow from `auth` and `idempotent`, as references. */
function sharedHeaders(operation: Operation): JsonSchema[] {
  const headers = [authHeaders[operation.auth], operation.idempotent && idempotencyHeader]
  return headers
    .flatMap((header) => Object.keys(header?.properties ?? {}))
    .map((name) => ({ $ref: `#/components/parameters/${name}` }))
}

/** Inlined parameters. Maps in a query are shown with brackets: OpenAPI has no form with dots. */
export function parametersOf(
  location: 'path' | 'query' | 'header',
  members: TObject | undefined,
  schemas: SchemaRegistry,
): JsonSchema[] {
  const required = new Set<string>(members?.required)
  return Object.entries(members?.properties ?? {}).map(([name, schema]) => {
    // The description stands beside the schema, where readers of the document look for it.
    const { description, ...rest }: JsonSchema = { ...schema }
    return {
      name,
      in: location,
      ...(required.has(name) && { required: true }),
      ...(rest.type === 'object' && { style: 'deepObject', explode: true }),
      description,
      schema: schemas.reference(rest.title === undefined ? rest : schema),
    }
  })
}

function requestBodyOf(operation: Operation, schemas: SchemaRegistry): JsonSchema | undefined {
  if (operation.upload !== undefined) {
    return {
      description: operation.upload,
      required: operation.method !== 'POST',
      content: { '*/*': {} },
    }
  }
  const { body, bodyOptional = false } = operation
  return body && { required: !bodyOptional, content: json(schemas.reference(body)) }
}

function successesOf(
  { response, status }: Operation,
  schemas: SchemaRegistry,
): Record<string, JsonSchema> {
  const done = status === 201 ? 'Created.' : 'Success.'
  switch (response.kind) {
    case 'json': {
      const content = json(schemas.reference(response.schema))
      return {
        ...redirectOf(response),
        [status]: { description: done, headers: rateHeaders, content },
      }
    }
    case 'headers':
      return { [status]: { description: response.description, headers: rateHeaders } }
    case 'download':
      return {
        ...redirectOf(response),
        200: { description: response.description, headers: rateHeaders, content: { '*/*': {} } },
        206: { description: 'The part that `range` requested.', content: { '*/*': {} } },
        304: { description: 'The copy identified by `if-none-match` is still current.' },
      }
    case 'stream': {
      const events = { 'text/event-stream': { schema: { type: 'string' } } }
      return {
        200: { description: response.description, headers: rateHeaders, content: events },
        101: { description: 'The same stream over WebSocket, if the request asks for it.' },
      }
    }
    default:
      return response satisfies never
  }
}

function redirectOf({ redirect }: { redirect?: string }): Record<string, JsonSchema> {
  return redirect === undefined ? {} : { 307: { description: redirect } }
}

const json = (schema: JsonSchema) => ({ 'application/json': { schema } })
