import { authHeaders, idempotencyHeader } from '../calling.js'
import { ErrorBody } from '../errors.js'
import type { Operation, Tag } from '../operation.js'
import { describeOperation, parametersOf } from './operations.js'
import { errorExamples, errorResponses, responseHeaders } from './responses.js'
import { createSchemaRegistry, type JsonSchema, type SchemaRegistry } from './schemas.js'

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  openapi: '3.1.0'
  info: Record<string, unknown>
  servers: { url: string }[]
  tags: { name: Tag; description: string }[]
  paths: Record<string, Record<string, JsonSchema>>
  components: Record<string, Record<string, JsonSchema>>
}

/** Facts about the server besides its operations. */
export interface OpenApiOptions {
  /** Version of the product. */
  version: string
  /** Base URL of the server; `/` if omitted, which is the URL the document was loaded from. */
  serverUrl?: string
}

const tags: Record<Tag, string> = {
  Account: 'The person that a token belongs to, and their tokens.',
  Workspaces: 'Tenants: bots, their data and the people who have access to them.',
  Bots: 'Bots of a workspace and their keys.',
  Files: 'Files of a bot: metadata as JSON, content as raw bytes.',
  Search: 'Search in the indexed files of a bot.',
  Conversations:
    'Conversations of a bot and their participants, as the bot and its integrations see them.',
  Messages: 'Messages of conversations, as the bot and its integrations see them.',
  Users: 'Users of a bot, as the bot and its integrations see them.',
  Events: 'Events in a bot, including scheduled and recurring ones.',
  States: 'Data that a bot and its integrations store.',
  Workflows: 'Tasks of a bot that take longer than one event.',
  Actions: 'Functions that bots, their plugins and integrations perform on request.',
  Integrations: 'Connections of bots to other services, and their installations.',
  Chat: 'Operations for web chats, at the chat address of one bot.',
  Service: 'Health probes for operators.',
}

const description = [
  'The HTTP interface of Botstead: JSON over HTTP, times in ISO 8601 and UTC.',
  'Undeclared fields in requests are accepted.',
  'Every error response has the body `Error`. Unknown paths return `ResourceNotFound`, known paths with another method `MethodNotFound`.',
].join(' ')

/** Creates an OpenAPI 3.1 document from operations. Equal input produces equal text. */
export function createOpenApi(
  operations: readonly Operation[],
  options: OpenApiOptions,
): OpenApiDocument {
  const schemas = createSchemaRegistry()
  const paths: OpenApiDocument['paths'] = {}
  for (const operation of operations) {
    const path = paths[operation.path] ?? {}
    path[operation.method.toLowerCase()] = describeOperation(operation, schemas)
    paths[operation.path] = path
  }
  schemas.reference(ErrorBody)

  return {
    openapi: '3.1.0',
    info: {
      title: 'Botstead',
      version: options.version,
      summary: 'A self-hosted server for bots',
      description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: options.serverUrl ?? '/' }],
    tags: Object.entries(tags).map(([name, meaning]) => ({
      name: name as Tag,
      description: meaning,
    })),
    paths,
    components: {
      securitySchemes,
      parameters: sharedParameters(schemas),
      responses: errorResponses(operations),
      headers: responseHeaders,
      examples: errorExamples(),
      schemas: schemas.components(),
    },
  }
}

const securitySchemes = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description: 'A personal access token, or a key of the bot if `x-bot-id` is sent.',
  },
  userKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-user-key',
    description: 'Key of a chat user: a signed token that identifies the user.',
  },
}

/** Header parameters that many operations share, by their reference name. */
function sharedParameters(schemas: SchemaRegistry): Record<string, JsonSchema> {
  const shared = [...Object.values(authHeaders), idempotencyHeader].flatMap((headers) =>
    parametersOf('header', headers, schemas),
  )
  return Object.fromEntries(shared.map((parameter) => [parameter.name, parameter]))
}
