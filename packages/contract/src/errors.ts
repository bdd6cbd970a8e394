import { Type } from 'typebox'
import { AnyMap, OneOf } from './shared.js'

/**
 * The closed catalogue of error types: type → HTTP status and meaning. Clients of the interface
 * turn an unlisted type into an unusable generic error, so nothing may be added to it.
 */
export const errorCatalogue = {
  Unknown: { status: 500, meaning: 'A failure that could not be classified.' },
  Internal: {
    status: 500,
    meaning: 'The server failed; the log has the cause under the error id.',
  },
  Unauthorized: {
    status: 401,
    meaning: 'The token, the workspace or the bot is missing or invalid.',
  },
  Forbidden: { status: 403, meaning: 'The caller is known but may not do this.' },
  PayloadTooLarge: { status: 413, meaning: 'The body is larger than the server accepts.' },
  InvalidPayload: { status: 400, meaning: 'The body, a header or a path segment is not valid.' },
  UnsupportedMediaType: { status: 415, meaning: 'The content type of the body is not accepted.' },
  MethodNotFound: {
    status: 405,
    meaning: 'The path exists, but not with this method; `Allow` lists the allowed methods.',
  },
  ResourceNotFound: {
    status: 404,
    meaning: 'The resource that the path addresses does not exist.',
  },
  InvalidJsonSchema: { status: 400, meaning: 'A JSON schema in a definition is not valid.' },
  InvalidDataFormat: { status: 400, meaning: 'Data does not match its declared JSON schema.' },
  InvalidIdentifier: { status: 400, meaning: 'A name is not a valid identifier.' },
  RelationConflict: { status: 409, meaning: 'Two ids in one request do not belong together.' },
  ReferenceConstraint: { status: 409, meaning: 'Another object still refers to the resource.' },
  ResourceLockedConflict: { status: 409, meaning: 'The resource is currently locked.' },
  ResourceGone: { status: 410, meaning: 'The resource existed and is no longer available.' },
  ReferenceNotFound: { status: 400, meaning: 'An id in the body or query refers to nothing.' },
  InvalidQuery: { status: 400, meaning: 'A query parameter is not valid.' },
  Runtime: { status: 400, meaning: 'The code of a bot or integration failed.' },
  AlreadyExists: { status: 409, meaning: 'A resource with this identity already exists.' },
  RateLimited: { status: 429, meaning: 'Too many requests; `Retry-After` gives the time to wait.' },
  PaymentRequired: { status: 402, meaning: 'Not used by a self-hosted server.' },
  QuotaExceeded: { status: 403, meaning: 'A quota of the workspace or of the bot is used up.' },
  LimitExceeded: { status: 413, meaning: 'A hard limit of the server is exceeded.' },
  BreakingChanges: { status: 400, meaning: 'A published definition would break its users.' },
  OperationTimeout: { status: 504, meaning: 'The operation took too long.' },
} as const satisfies Record<string, { status: number; meaning: string }>

export type ErrorType = keyof typeof errorCatalogue

/** Whether a value is an error type of the catalogue; newer servers may return others. */
export function isErrorType(value: unknown): value is ErrorType {
  return typeof value === 'string' && Object.hasOwn(errorCatalogue, value)
}

/** Optional details of an {@link ApiError} besides its type and message. */
export interface ApiErrorOptions {
  /** Free-form details for the caller's program, sent as `metadata`. */
  metadata?: Record<string, unknown>
  /** The underlying error; logged, never sent. */
  cause?: unknown
  /** HTTP status, if a standard requires a more specific one than that of the type, such as 507. */
  status?: number
}

/**
 * The error that services throw and clients receive: they know the type, never the HTTP status. The
 * message is for people, and names the field and the rule if a field is at fault.
 */
export class ApiError extends Error {
  readonly type: ErrorType
  readonly metadata: Record<string, unknown> | undefined
  readonly status: number
  /** Trace id of the error; set once the error was sent over HTTP. */
  id: string | undefined

  constructor(type: ErrorType, message: string, options: ApiErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ApiError'
    this.type = type
    this.metadata = options.metadata
    this.status = options.status ?? errorCatalogue[type].status
  }
}

/** Body of every error response. */
export const ErrorBody = Type.Object(
  {
    id: Type.String({ description: 'Trace id; the server log contains the same id.' }),
    code: Type.Integer({ description: 'HTTP status of the response, repeated.' }),
    type: OneOf(Object.keys(errorCatalogue) as ErrorType[], 'Type of the error, for programs.'),
    message: Type.String({
      description: 'Error message for people; names the field and the rule if a rule is broken.',
    }),
    metadata: Type.Optional(AnyMap('Further details, for example the field that is at fault.')),
  },
  { title: 'Error', description: 'Body of every error response.' },
)
