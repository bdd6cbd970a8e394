import type { Static, TObject, TSchema } from 'typebox'
import type { ErrorType } from './errors.js'

/** Who may call an operation, and what the call is scoped to. */
export type Auth =
  /** Anyone. */
  | 'public'
  /** A personal access token; no workspace is named. */
  | 'account'
  /** Any token; the body names what the call is about. */
  | 'token'
  /** A personal access token and the header `x-workspace-id`. */
  | 'workspace'
  /** Any token and the header `x-bot-id`. */
  | 'bot'
  /** A chat address: the webhook id in the path names the bot; no key. */
  | 'chat'
  /** A chat address and the header `x-user-key`. */
  | 'chat-user'
  /** A signed address: the permission is part of the path or query. */
  | 'signature'

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What is counted by itself: new users by address, messages by user and by address. */
export type Throttle = 'users' | 'messages'

/** What the documentation groups operations by. */
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

/** What a call that succeeds gets back. */
export type Answer =
  | {
      kind: 'json'
      schema: TSchema
      /** When the answer is 307 instead, and what its address is for. */
      redirect?: string
    }
  /** Content, streamed. */
  | {
      kind: 'download'
      /** What it holds. */
      description: string
      /** When the answer is 307 instead, and what its address is for. */
      redirect?: string
    }
  /** Headers without a body. */
  | {
      kind: 'headers'
      /** What they say. */
      description: string
    }
  /** Signals until one side ends the connection, as server-sent events or over WebSocket. */
  | {
      kind: 'stream'
      /** What they are about. */
      description: string
    }

/**
 * One operation of the interface. From this record follow validation, types, route, OpenAPI entry
 * and client method; nothing about an operation is written anywhere else.
 */
export interface Operation {
  /** Unique; the method name of the client. */
  id: string
  method: Method
  /** Path with `{name}` for parameters, which are percent-decoded one by one. */
  path: string
  /** Parameter between two segments of the path that clients do not encode, so that it may hold slashes. */
  unencodedParam?: string
  /** Speaks the tus protocol for resumable uploads: all answers at the path have its headers. */
  protocol?: 'tus'
  tag: Tag
  /** One line, imperative. */
  summary: string
  /** What a caller needs to know beyond the summary and the fields. */
  description?: string
  auth: Auth
  params?: TObject
  query?: TObject
  /** Headers of this operation beyond those that `auth` implies. */
  headers?: TObject
  /** JSON body. */
  body?: TObject
  /** Raw body instead of a JSON `body`, streamed: what it holds. */
  upload?: string
  answer: Answer
  /** Status of success. */
  status: 200 | 201 | 204
  /** Errors of the operation itself, beyond those every operation of its kind can give. */
  errors: readonly ErrorType[]
  /**
   * Takes the header `Idempotency-Key`: a repeated call gets the first answer. Only where `auth`
   * identifies the caller, because the answer may hold a secret.
   */
  idempotent?: true
  /** Member of the body that does what the header does, for callers that cannot set headers. */
  idempotencyMember?: string
  /** Counted by itself beside all requests, because it is what abuse is made of. */
  throttle?: Throttle
  /** A health check of the operator: exempt from rate limits. */
  probe?: true
  /** Largest body: `small` for chat and runtime, `large` where definitions and code are sent. */
  bodyLimit?: 'small' | 'large'
}

/** Declares an operation and keeps its exact types. */
export function operation<const Spec extends Operation>(spec: Spec): Spec {
  return spec
}

type StaticOf<Schema> = Schema extends TSchema ? Static<Schema> : unknown

export type Params<Spec extends Operation> = StaticOf<Spec['params']>
export type Query<Spec extends Operation> = StaticOf<Spec['query']>
export type Headers<Spec extends Operation> = StaticOf<Spec['headers']>
export type Body<Spec extends Operation> = StaticOf<Spec['body']>

/** What the server sends back as JSON; unknown for other kinds of answers. */
export type Output<Spec extends Operation> = Spec['answer'] extends {
  kind: 'json'
  schema: infer Schema
}
  ? StaticOf<Schema>
  : unknown

/** Everything a caller gives, flattened: params, query and body share no names. */
export type Input<Spec extends Operation> = Params<Spec> & Query<Spec> & Body<Spec>
