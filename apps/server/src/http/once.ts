import { createHash } from 'node:crypto'
import { ApiError, type Operation } from '@botstead/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../domain/actor.js'
import type { Remember } from '../platform/idempotency/store.js'
import type { HttpContext } from './context.js'

/** Does the work once per key and converts its result to the response. */
export type Once<View> = <Made>(
  work: (remember: Remember<Made>) => Promise<Made>,
  view: (made: Made) => View,
) => Promise<View>

export const onceWithoutKey = async <Made, View>(
  work: (remember: Remember<Made>) => Promise<Made>,
  view: (made: Made) => View,
): Promise<View> => view(await work(undefined))

interface KeyedRequest {
  operation: Operation
  request: FastifyRequest
  reply: FastifyReply
  key: string
}

const maxKeyLength = 255

type Scope = Parameters<HttpContext['idempotency']['find']>[0]

/** A repeated key gets the first response; the same key with another request is refused. */
export function onceWithKey<View>(
  { idempotency: store, holderOf }: Pick<HttpContext, 'idempotency' | 'holderOf'>,
  keyed: KeyedRequest,
): Once<View> {
  const { operation, request, reply, key } = keyed
  if (key.length < 1 || key.length > maxKeyLength) {
    throw new ApiError(
      'InvalidPayload',
      `The header Idempotency-Key must have 1 to ${maxKeyLength} characters.`,
      { metadata: { in: 'headers', field: 'idempotency-key' } },
    )
  }
  const fingerprint = fingerprintOf(operation, request)

  const replay = async (scope: Scope): Promise<View | undefined> => {
    const stored = await store.find(scope)
    if (stored === undefined) return undefined
    if (stored.fingerprint !== fingerprint) {
      throw new ApiError(
        'AlreadyExists',
        'This Idempotency-Key was used before with another request: use a new key for new work.',
      )
    }
    reply.code(stored.status).header('idempotent-replayed', 'true')
    return stored.response as View
  }

  return async (work, view) => {
    const principal = `${request.principal} ${await scopeOf(request.actor, holderOf)}`
    const scope = { principal, operation: operation.id, key }
    const first = await replay(scope)
    if (first !== undefined) return first
    let remembered = false
    try {
      const made = await work(async (tx, record) => {
        remembered = true
        await store.save(tx, scope, {
          fingerprint,
          status: operation.status,
          response: view(record),
        })
      })
      if (!remembered) throw new Error(`${operation.id} did not store its response`)
      return view(made)
    } catch (error) {
      // Two requests with one key ran at the same time and the other one committed first.
      if (store.isTaken(error)) {
        const other = await replay(scope)
        if (other !== undefined) return other
      }
      throw error
    }
  }
}

/**
 * One token reaches many bots and workspaces: the response of one must not be repeated in another. The user
 * that the key of a chat user names may be another person by now, and the key may be revoked.
 */
async function scopeOf(
  actor: Actor | undefined,
  holderOf: HttpContext['holderOf'],
): Promise<string> {
  switch (actor?.kind) {
    case 'workspace':
      return actor.workspaceId
    case 'bot':
      return `${actor.botId} ${JSON.stringify(actor.caller)}`
    case 'chat-user':
      return (await holderOf(actor)) ?? ''
    // An account has no narrower scope.
    case 'account':
    case 'token':
      return ''
    // A response can contain a credential, and the next caller from an address may be another person.
    case 'chat':
    case undefined:
      throw new Error('An operation without authentication must not be idempotent by key')
    default:
      return actor satisfies never
  }
}

function fingerprintOf({ headers }: Operation, request: FastifyRequest): string {
  const declared = Object.keys(headers?.properties ?? {}).map((name) => request.headers[name] ?? '')
  return createHash('sha256')
    .update(request.url)
    .update('\0')
    .update(declared.join('\0'))
    .update(JSON.stringify(request.body) ?? '')
    .digest('base64url')
}

/** The idempotency key of a request: the header, or else the member of the body that replaces it. */
export function idempotencyKeyOf(
  operation: Operation,
  request: FastifyRequest,
): string | undefined {
  const header = request.headers['idempotency-key']
  if (header !== undefined) return String(header)
  for (const path of operation.idempotencyMembers ?? []) {
    const names = path.split('.')
    const member = names.reduce<unknown>(
      (value, name) =>
        Object.hasOwn(Object(value), name) ? Reflect.get(Object(value), name) : undefined,
      request.body,
    )
    if (typeof member !== 'string') continue
    // The members of a free map may be anything, so an odd one is no mistake.
    if (names.length > 1 && (member === '' || member.length > maxKeyLength)) continue
    return member
  }
  return undefined
}
