import { ApiError, type Operation } from '@botstead/contract'
import type { FastifyRequest } from 'fastify'
import type {
  AccountActor,
  Actor,
  BotActor,
  ChatActor,
  ChatUserActor,
  TokenActor,
  WorkspaceActor,
} from '../domain/actor.js'
import {
  type Authenticator,
  type ScopeHeader,
  type ScopeHeaders,
  scopeRefusal,
} from '../domain/authenticator.js'
import { requireWholeWorkspace } from '../domain/rights.js'
import { type Awaitable, after } from '../platform/awaitable.js'
import { isSessionValue } from '../platform/ids.js'
import { callerAddress } from './caller-address.js'
import type { SessionCookies } from './session-cookies.js'
import { wantsWebSocket } from './streams/index.js'

/** The kind of actor that a handler gets, by the `auth` of its operation. */
export interface ActorByAuth {
  public: undefined
  signature: undefined
  account: AccountActor
  token: TokenActor
  workspace: WorkspaceActor
  bot: BotActor
  chat: ChatActor
  'chat-user': ChatUserActor
}

/**
 * Identifies the caller before any of the body is read.
 * @param cookies undefined where sessions of browsers are not accepted
 */
export function identify(
  authenticator: Authenticator,
  cookies: SessionCookies | undefined,
  operation: Operation,
  request: FastifyRequest,
): Awaitable<Actor> | undefined {
  const token = () => tokenOf(request, cookies)
  switch (operation.auth) {
    case 'public':
    case 'signature':
      return undefined
    case 'account':
      return authenticator.account(token(), operation.permission)
    case 'token':
      return authenticator.token(token())
    case 'workspace':
      return withinLimits(
        operation,
        authenticator.workspace(
          token(),
          scopeHeader(request, 'x-workspace-id'),
          operation.permission,
        ),
      )
    case 'bot':
      return after(
        authenticator.bot(
          token(),
          scopeHeader(request, 'x-bot-id'),
          scopeHeaders(request),
          operation.permission,
        ),
        (actor) => requireAuthority(operation, actor),
      )
    case 'chat':
      return authenticator.chat(webhookId(request), callerAddress(request))
    case 'chat-user':
      return chatUser(authenticator, webhookId(request), request)
    default:
      return operation satisfies never
  }
}

/** Refuses tokens that are limited to one bot what concerns the workspace. */
function withinLimits(
  { concerns }: Extract<Operation, { auth: 'workspace' }>,
  actor: Awaitable<WorkspaceActor>,
): Awaitable<WorkspaceActor> {
  if (concerns === 'bots') return actor
  return after(actor, (known) => {
    requireWholeWorkspace(known.rights)
    return known
  })
}

/** Refuses to act as an integration for which the caller has no authority: naming it in a header gives none. */
function requireAuthority(operation: Operation, actor: BotActor): BotActor {
  const { caller } = actor
  if (caller.type !== 'integration' || caller.authority !== 'none' || operation.standIn) {
    return actor
  }
  throw new ApiError(
    'Forbidden',
    `The headers name the integration ${caller.alias}, and this token may not act as it: ${operation.id} needs its key, or the personal access token of a member who may write in the workspace that owns it. Leave out x-integration-id and x-integration-alias to act as the bot.`,
  )
}

/** The token in `Authorization`, or else the session of a browser. */
function tokenOf(request: FastifyRequest, cookies: SessionCookies | undefined): string {
  const header = request.headers.authorization
  if (header === undefined || header === '') {
    const session = cookies?.read(request)
    if (session !== undefined) return session
    throw new ApiError(
      'Unauthorized',
      'The header Authorization is missing: send "Bearer <token>".',
    )
  }
  const token = /^Bearer +([^\s]+) *$/i.exec(header)?.[1]
  if (token === undefined) {
    throw new ApiError(
      'Unauthorized',
      'The header Authorization must have the form "Bearer <token>".',
    )
  }
  if (isSessionValue(token)) {
    throw new ApiError('Unauthorized', 'A session is accepted as a cookie alone, not as a token.')
  }
  return token
}

function scopeHeader(request: FastifyRequest, name: ScopeHeader): string {
  const value = header(request, name)
  if (value === undefined) throw scopeRefusal(name, { isMissing: true })
  return value
}

function scopeHeaders(request: FastifyRequest): ScopeHeaders {
  return {
    integrationId: header(request, 'x-integration-id'),
    integrationAlias: header(request, 'x-integration-alias'),
    integrationName: header(request, 'x-integration-name'),
    userId: header(request, 'x-user-id'),
    userRole: header(request, 'x-user-role'),
  }
}

function chatUser(
  authenticator: Authenticator,
  webhookId: string,
  request: FastifyRequest,
): Awaitable<ChatUserActor> {
  const key = request.headers['x-user-key']
  if (typeof key === 'string') return authenticator.chatUser(webhookId, key)
  // Browsers cannot set headers of a WebSocket; without a key these get 401 like with a wrong one.
  if (wantsWebSocket(request)) return authenticator.chatUser(webhookId, keyOfQuery(request))
  return refuseWithoutKey(authenticator, webhookId, request)
}

function keyOfQuery({ query }: FastifyRequest): string {
  const key: unknown = Reflect.get(Object(query), 'x-user-key')
  return typeof key === 'string' ? key : ''
}

/** An address that does not exist is reported before anything about the key. */
async function refuseWithoutKey(
  authenticator: Authenticator,
  webhookId: string,
  request: FastifyRequest,
): Promise<never> {
  await authenticator.chat(webhookId, callerAddress(request))
  // Clients of the chat API expect a missing key as a validation failure and a wrong one as 401.
  throw new ApiError('InvalidPayload', 'The header x-user-key is required.', {
    metadata: { in: 'headers', field: 'x-user-key' },
  })
}

function webhookId(request: FastifyRequest): string {
  const { webhookId } = request.params as { webhookId: string }
  // Paths are validated only after this, and not every database accepts such a text.
  if (webhookId.includes('\0')) {
    throw new ApiError('ResourceNotFound', 'There is no chat address with the character U+0000.')
  }
  return webhookId
}

const maxHeaderLength = 200

/** A header's value; an empty one counts as absent. */
function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  if (typeof value !== 'string' || value === '') return undefined
  if (value.length > maxHeaderLength) {
    throw new ApiError(
      'InvalidPayload',
      `The header ${name} must have at most ${maxHeaderLength} characters.`,
      { metadata: { in: 'headers', field: name } },
    )
  }
  return value
}
