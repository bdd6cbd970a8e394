import { allOperations, type contract } from './contract.js'
import { ApiError, isErrorType } from './errors.js'
import type { Input, Operation, Output } from './operation.js'

/** The server and the caller's credentials. The client sends an operation only what it needs. */
export interface ClientOptions {
  /** Base URL of the server; a path and a trailing slash are allowed. */
  baseUrl: string
  /** Sends the requests; the global `fetch` if omitted. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** Personal access token or key of a bot. */
  token?: string
  /** Value of `x-workspace-id`. */
  workspaceId?: string
  /** Value of `x-bot-id`. */
  botId?: string
  /** Value of `x-user-key`. */
  userKey?: string
  /** Webhook id of the bot on chat addresses, for calls that do not pass it themselves. */
  webhookId?: string
  /** Sent with every request; overrides the headers above. */
  headers?: Record<string, string>
}

/** Options of one call besides its input. */
export interface CallOptions {
  /** Aborts the call. */
  signal?: AbortSignal
  /** Makes it safe to repeat a creation: the same value gets the first response. */
  idempotencyKey?: string
  /** Sent with this request; overrides all other headers. */
  headers?: Record<string, string>
}

type Contract = typeof contract
type AnyOperation = {
  [Resource in keyof Contract]: Contract[Resource][keyof Contract[Resource]]
}[keyof Contract]
/** Operations with a JSON response and without a raw body. */
type JsonOperation = Exclude<
  Extract<AnyOperation, { response: { kind: 'json' } }>,
  { upload: string }
>

/** The input of a call; on chat addresses the client options may supply the webhook id. */
type CallInput<Spec extends Operation> =
  Input<Spec> extends { webhookId: infer WebhookId }
    ? Omit<Input<Spec>, 'webhookId'> & { webhookId?: WebhookId }
    : Input<Spec>

type CallArguments<Spec extends Operation> =
  Record<never, never> extends CallInput<Spec>
    ? [input?: CallInput<Spec>, options?: CallOptions]
    : [input: CallInput<Spec>, options?: CallOptions]

/**
 * One method per JSON operation, named by its id. The input combines the fields of path, query and
 * body. A refused call rejects with {@link ApiError}, which carries the trace id; a failed
 * connection rejects with the error of `fetch`.
 */
export type Client = {
  [Spec in JsonOperation as Spec['id']]: (...args: CallArguments<Spec>) => Promise<Output<Spec>>
}

/** Creates a client. It holds no connection and needs no closing. */
export function createClient(options: ClientOptions): Client {
  const methods: Record<string, (input?: object, call?: CallOptions) => Promise<unknown>> = {}
  for (const operation of allOperations) {
    if (operation.response.kind !== 'json' || operation.upload !== undefined) continue
    methods[operation.id] = (input = {}, call = {}) => send(options, operation, input, call)
  }
  // The loop above creates exactly the methods of the type, which is derived from the same
  // contract.
  return methods as Client
}

async function send(
  options: ClientOptions,
  operation: Operation,
  input: object,
  call: CallOptions,
): Promise<unknown> {
  const { path, query, body } = splitInput(options, operation, input)
  const response = await (options.fetch ?? fetch)(
    `${options.baseUrl.replace(/\/+$/, '')}${path}${query === '' ? '' : `?${query}`}`,
    {
      method: operation.method,
      headers: headersOf(options, operation, call),
      ...(body && { body: JSON.stringify(body) }),
      ...(call.signal && { signal: call.signal }),
    },
  )
  const text = await response.text()
  if (!response.ok) throw toApiError(response.status, text)
  try {
    return text === '' ? {} : JSON.parse(text)
  } catch (cause) {
    throw new ApiError('Unknown', explainForeign(response.status, text), { cause })
  }
}

/** Splits a flat input into path, query and body by the names that the contract declares. */
function splitInput(options: ClientOptions, operation: Operation, input: object) {
  const members: Record<string, unknown> = { webhookId: options.webhookId, ...input }
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = members[name]
    if (value === undefined || value === '') {
      throw new TypeError(`${operation.id} needs ${name}`)
    }
    return encodeURIComponent(String(value))
  })
  const rest = Object.entries(members).filter(
    ([name]) => name !== 'webhookId' && !(name in (operation.params?.properties ?? {})),
  )
  const inQuery = ([name]: [string, unknown]) =>
    operation.body === undefined || name in (operation.query?.properties ?? {})
  return {
    path,
    query: encodeQuery(Object.fromEntries(rest.filter(inQuery))),
    body: operation.body && Object.fromEntries(rest.filter((member) => !inQuery(member))),
  }
}

function headersOf(
  options: ClientOptions,
  operation: Operation,
  call: CallOptions,
): Record<string, string> {
  const headers: Record<string, string> = { accept: 'application/json' }
  const set = (name: string, value: string | undefined) => {
    if (value !== undefined) headers[name] = value
  }
  if (operation.body) headers['content-type'] = 'application/json'
  const isWithToken = ['account', 'token', 'workspace', 'bot'].includes(operation.auth)
  if (isWithToken && options.token !== undefined) headers.authorization = `Bearer ${options.token}`
  if (operation.auth === 'workspace') set('x-workspace-id', options.workspaceId)
  if (operation.auth === 'bot') set('x-bot-id', options.botId)
  if (operation.auth === 'chat-user') set('x-user-key', options.userKey)
  set('idempotency-key', call.idempotencyKey)
  return { ...headers, ...lowerCased(options.headers), ...lowerCased(call.headers) }
}

const lowerCased = (headers: Record<string, string> = {}) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/**
 * Converts an error response to its error; a body in another format, for example from a proxy,
 * becomes `Unknown`.
 */
export function toApiError(status: number, text: string): ApiError {
  const body = parseObject(text)
  if (body === undefined || !isErrorType(body.type)) {
    return new ApiError('Unknown', explainForeign(status, text), { status })
  }
  const { id, type, message, metadata } = body
  const facts = { status, ...(isObject(metadata) && { metadata }) }
  const error = new ApiError(type, String(message), facts)
  error.id = typeof id === 'string' ? id : undefined
  return error
}

/** Explains a response of another program: its text, or the probable cause if it is a page or empty. */
function explainForeign(status: number, text: string): string {
  const isPage = /^\s*(<(!doctype|html|\?xml)|$)/i.test(text)
  if (!isPage) return `status ${status}: ${text.slice(0, 1000)}`
  if (status === 413) {
    return 'A proxy in front of the server refuses a body of this size (status 413): raise its limit, in nginx client_max_body_size.'
  }
  if (status === 502 || status === 503 || status === 504) {
    return `A proxy in front of the server returned status ${status}: the server is not running, or did not respond to the proxy in time.`
  }
  return `The response is a web page and not one of the server (status ${status}): check the address, and what a proxy in front of the server does.`
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Encodes query fields: lists by repetition (`ids=a&ids=b`), maps with dots (`tags.color=red`) and
 * conditions below them (`tags.color.not=red`). Fields that are null or undefined are omitted. A
 * dot inside a name is percent-encoded, so that it does not read as a map separator.
 */
export function encodeQuery(members: Record<string, unknown>): string {
  return Object.entries(members)
    .flatMap(([name, value]) => encodeMember(encodeName(name), value))
    .join('&')
}

function encodeMember(path: string, value: unknown): string[] {
  if (value === null || value === undefined) return []
  if (Array.isArray(value)) return value.flatMap((item) => encodeMember(path, item))
  if (typeof value === 'object') {
    return Object.entries(value).flatMap(([name, inner]) =>
      encodeMember(`${path}.${encodeName(name)}`, inner),
    )
  }
  return [`${path}=${encodeURIComponent(String(value))}`]
}

const encodeName = (name: string) => encodeURIComponent(name).replaceAll('.', '%2E')
