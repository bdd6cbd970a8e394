import type { Static, TObject, TSchema } from 'typebox'
import type { ErrorType } from './errors.js'
import type { AccountPermission, WorkspacePermission } from './permissions.js'

/** The callers that may use an operation, and the scope of the call. */
export type Auth =
  /** Anyone. */
  | 'public'
  /** A personal access token; no workspace. */
  | 'account'
  /** Any token; the body identifies the bot. */
  | 'token'
  /** A personal access token and the header `x-workspace-id`. */
  | 'workspace'
  /** Any token and the header `x-bot-id`. */
  | 'bot'
  /** A chat address: the webhook id in the path identifies the bot; no key. */
  | 'chat'
  /** A chat address and the header `x-user-key`. */
  | 'chat-user'
  /** A signed URL: the permission is part of the path or query. */
  | 'signature'

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * Separate rate limits: of new users by IP address, of messages by user and by IP address, of files by user, and of the
 * bytes of files by IP address.
 */
export type Throttle = 'users' | 'messages' | 'files' | 'fileBytes'

/** The groups of operations in the documentation. */
export type Tag =
  | 'Account'
  | 'Workspaces'
  | 'Bots'
  | 'Files'
  | 'Search'
  | 'Conversations'
  | 'Messages'
  | 'Users'
  | 'Events'
  | 'States'
  | 'Workflows'
  | 'Actions'
  | 'Integrations'
  | 'Chat'
  | 'Service'

/** The response of a successful call. */
export type OperationResponse =
  | {
      kind: 'json'
      schema: TSchema
      /** The condition for a response of 307 instead, and the purpose of its URL. */
      redirect?: string
    }
  /** Content, streamed. */
  | {
      kind: 'download'
      /** Description of the content. */
      description: string
      /** The condition for a response of 307 instead, and the purpose of its URL. */
      redirect?: string
    }
  /** Headers without a body. */
  | {
      kind: 'headers'
      /** Meaning of the headers. */
      description: string
    }
  /** Signals until one side ends the connection, as server-sent events or over WebSocket. */
  | {
      kind: 'stream'
      /** Subject of the signals. */
      description: string
    }

/**
 * One operation of the HTTP interface. Validation, types, route, OpenAPI entry and client method
 * are derived from this record; nothing about an operation is written anywhere else.
 */
export type Operation = OperationRecord & Permitted

/**
 * What a person needs who calls an operation, by their role in the workspace or their account. Callers of the other kinds
 * of operations are no members.
 */
type Permitted =
  | { auth: 'account'; permission: Reading<AccountPermission>; audit?: Audit }
  | { auth: 'account'; permission: Writing<AccountPermission>; audit: Audit }
  | {
      auth: 'workspace'
      permission: Reading<WorkspacePermission>
      concerns: Concern
      audit?: Audit
    }
  | { auth: 'workspace'; permission: Writing<WorkspacePermission>; concerns: Concern; audit: Audit }
  | { auth: 'bot'; permission: WorkspacePermission; audit?: Audit }
  | { auth: Exclude<Auth, 'account' | 'workspace' | 'bot'>; permission?: never; audit?: Audit }

type Reading<Name> = Extract<Name, `${string}:read`>
type Writing<Name> = Exclude<Name, `${string}:read`>

/**
 * The records that an operation leaves in the audit log, in the transaction of its change. `workspace`: one in the
 * workspace. `account`: one in each workspace of the account. Or none, and the reason.
 */
export type Audit = 'workspace' | 'account' | { readonly none: string }

/**
 * The subject of an operation of a workspace. `bots`: bots that the caller may see, or what everybody reads who works on a
 * bot, such as integrations that it can install. `workspace`: the workspace itself, its members, or what all of its bots
 * share; tokens that are limited to one bot are refused.
 */
export type Concern = 'bots' | 'workspace'

interface OperationRecord {
  /** Unique; the method name of the client. */
  id: string
  method: Method
  /** Path with `{name}` for parameters, which are percent-decoded one by one. */
  path: string
  /**
   * Parameter between two segments of the path that clients do not encode, so that it may contain
   * slashes.
   */
  unencodedParam?: string
  /** Speaks the tus protocol for resumable uploads: all responses at the path have its headers. */
  protocol?: 'tus'
  tag: Tag
  /** One line, imperative. */
  summary: string
  /** Details that the summary and the fields do not tell. */
  description?: string
  params?: TObject
  query?: TObject
  /** Headers of this operation beyond those that `auth` implies. */
  headers?: TObject
  /** JSON body. */
  body?: TObject
  /** Whether a request without a body counts as one with an empty object; false by default: it is refused. */
  bodyOptional?: boolean
  /** Raw, streamed body instead of a JSON `body`: what it contains. */
  upload?: string
  response: OperationResponse
  /** HTTP status on success. */
  status: 200 | 201 | 204
  /** Errors of the operation itself, beyond those that every operation of its kind can return. */
  errors: readonly ErrorType[]
  /**
   * Accepts the header `Idempotency-Key`: a repeated call gets the first response. Only if `auth`
   * identifies the caller, because the response may contain a secret.
   */
  idempotent?: true
  /**
   * Fields of the body that replace the header, for callers that cannot set headers; the first that
   * is there counts. One with a dot is a member of a free map, and counts only if it can be a key.
   */
  idempotencyMembers?: readonly string[]
  /**
   * The separate rate limit that applies besides the general one, because the operation is prone to
   * abuse.
   */
  throttle?: Throttle
  /**
   * Begins or ends the session of a browser, which is a cookie: accepted from pages of the server only.
   */
  session?: 'begins' | 'ends'
  /**
   * Members who may write in the workspace of a bot may call it in the place of any integration that is installed there: for
   * what a user says, which reaches the bot and nobody else. Every other operation refuses callers who name an integration
   * for which they have no authority.
   */
  standIn?: true
  /** A health check for the operator: exempt from rate limits. */
  probe?: true
  /** Maximum body size: `small` for chat and runtime, `large` for definitions and code. */
  bodyLimit?: 'small' | 'large'
}

type Optional = 'status' | 'errors'

/** Declares an operation and keeps its exact types. The status is 200 unless the record has another one. */
export function operation<
  const Spec extends Omit<OperationRecord, Optional> & Partial<OperationRecord> & Permitted,
>(spec: Spec): Spec & Pick<Operation, Optional> {
  return { status: 200, errors: [], ...spec }
}

/** A response with a JSON body. */
export function json<Schema extends TSchema>(schema: Schema) {
  return { kind: 'json', schema } as const
}

type StaticOf<Schema> = Schema extends TSchema ? Static<Schema> : unknown

export type Params<Spec extends Operation> = StaticOf<Spec['params']>
export type Query<Spec extends Operation> = StaticOf<Spec['query']>
export type Headers<Spec extends Operation> = StaticOf<Spec['headers']>
export type Body<Spec extends Operation> = StaticOf<Spec['body']>

/** The JSON response; unknown for other kinds of responses. */
export type Output<Spec extends Operation> = Spec['response'] extends {
  kind: 'json'
  schema: infer Schema
}
  ? StaticOf<Schema>
  : unknown

/** The whole input, flattened: params, query and body share no names. */
export type Input<Spec extends Operation> = Params<Spec> & Query<Spec> & Body<Spec>
