import { authHeaders, idempotencyHeader } from '../calling.js'
import { ErrorBody } from '../error-body.js'
import type { Operation, Tag } from '../operation.js'
import { errorAnswers, errorExamples } from './errors.js'
import { answerHeaders } from './headers.js'
import { describeOperation, parametersOf } from './operations.js'
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

/** What the document says about the server besides its operations. */
export interface OpenApiOptions {
  /** Version of the product. */
  version: string
  /** Base address of the server; `/` when left out: the address the document was read from. */
  serverUrl?: string
}

const tags: Record<Tag, string> = {
  Account: 'The person behind a token, and their tokens.',
  Workspaces: 'Tenants: bots, their data and the people who may reach them.',
  Bots: 'Bots of a workspace and the keys that act for them.',
  Files: 'Files of a bot: described by JSON, sent and read as they are.',
  Search: 'Search in the indexed files of a bot.',
  Conversations:
    'Conversations of a bot and who takes part, as the bot and its integrations see them.',
  Messages: 'Messages of conversations, as the bot and its integrations see them.',
  Users: 'Users of a bot, as the bot and its integrations see them.',
  Events: 'What happens in a bot, also later and again and again.',
  States: 'What a bot and its integrations remember.',
  Workflows: 'Work of a bot that takes longer than one event.',
  Actions: 'What bots, their plugins and integrations do when they are asked to.',
  Integrations: 'What connects bots to other services, and what is installed where.',
  Chat: 'What web chats call, at the chat address of one bot.',
  Service: 'Probes for those who run the server.',
}

const description = [
  'The HTTP interface of Botstead: JSON over HTTP, times in ISO 8601 and UTC.',
  'Members that are not declared are tolerated in requests.',
  'Every answer that is not a success has the body `Error`; unknown paths answer `ResourceNotFound`, known paths with another method `MethodNotFound`.',
].join(' ')

/** Writes operations down as an OpenAPI 3.1 document. Equal input gives an equal text. */
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
      summary: 'The self-hosted home for bots',
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
      responses: errorAnswers(operations),
      headers: answerHeaders,
      examples: errorExamples(),
      schemas: schemas.components(),
    },
  }
}

const securitySchemes = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description: 'A personal access token, or a key of the bot where `x-bot-id` is sent.',
  },
  userKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-user-key',
    description: 'Key of a chat user: a signed token that names the user.',
  },
}

/** Header parameters that many operations share, by the name that refers to them. */
function sharedParameters(schemas: SchemaRegistry): Record<string, JsonSchema> {
  const shared = [...Object.values(authHeaders), idempotencyHeader].flatMap((headers) =>
    parametersOf('header', headers, schemas),
  )
  return Object.fromEntries(shared.map((parameter) => [parameter.name, parameter]))
}
