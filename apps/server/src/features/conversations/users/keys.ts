import { ApiError } from '@botstead/contract'
import type { BotActor } from '../../../domain/actor.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import * as store from './store.js'

declare module '../../../platform/domain-events.js' {
  interface DomainEvents {
    /** The keys of a user were revoked, or the user was banned. */
    'user.accessRevoked': { botId: string; userId: string }
  }
}

/** Ids that apps choose. */
const foreignId = /^[A-Za-z0-9_/\\-]{1,70}$/

/** Revocation and ban of a user. */
type KeyState = Pick<store.UserRow, 'banned' | 'keys_revoked_at'>

interface UserKeysDeps {
  run: Run
  clock: Clock
  domainEvents: Pick<EventDispatcher, 'raise'>
  requireVisible(executor: Db | Tx, actor: BotActor, id: string): Promise<unknown>
  isOfCaller(actor: BotActor, user: { integration: string }): boolean
  unknown(id: string): ApiError
}

/** Revokes keys of users and bans users, for bots and integrations. */
export function createUserKeys(deps: UserKeysDeps) {
  const { run, clock, domainEvents, requireVisible, isOfCaller, unknown } = deps

  /** Refuses all keys that were issued to a user so far, and ends its open streams. */
  async function revokeKeys(actor: BotActor, id: string): Promise<void> {
    const { botId } = actor
    await run(
      async (tx) => {
        await lockPerson(tx, actor, id)
        await store.patchLockedUser(tx, botId, id, { keys_revoked_at: isoTime(clock.now()) })
        await domainEvents.raise(tx, 'user.accessRevoked', { botId, userId: id })
      },
      { mayUseReserve: true },
    )
  }

  /** Bans a user from the chat, or lifts the ban; also a deleted user, by its id. */
  async function setBan(actor: BotActor, id: string, isBanned: boolean): Promise<void> {
    const { botId } = actor
    const banned = isBanned ? 1 : 0
    await run(
      async (tx) => {
        const retired = await store.findRetiredId(tx, botId, id)
        // A deleted user had two ids, and another user may have the foreign one by now.
        if (retired?.user_id === id && isOfCaller(actor, retired)) {
          await store.banRetiredIds(tx, botId, id, banned)
          return
        }
        await lockPerson(tx, actor, id)
        await store.patchLockedUser(tx, botId, id, { banned })
        if (isBanned) await domainEvents.raise(tx, 'user.accessRevoked', { botId, userId: id })
      },
      { mayUseReserve: true },
    )
  }

  /** Locks a user that may have keys until the transaction ends. */
  async function lockPerson(tx: Tx, actor: BotActor, id: string): Promise<void> {
    if (id === actor.botId) {
      throw new ApiError('ReferenceConstraint', 'The user of the bot itself has no keys.')
    }
    await requireVisible(tx, actor, id)
    if ((await store.lockUser(tx, actor.botId, id)) === undefined) throw unknown(id)
  }

  return { revokeKeys, setBan }
}

/**
 * Whether a key of a user is accepted.
 * @param issuedAt milliseconds since the Unix epoch; undefined for a key without it
 */
export function isGoodKey(state: KeyState, issuedAt: number | undefined): boolean {
  return state.banned !== 1 && !isRevoked(state, issuedAt)
}

/** @throws ApiError with the reason why a key is not accepted */
export function requireGoodKey(state: KeyState, issuedAt: number | undefined): void {
  requireNotBanned(state)
  if (!isRevoked(state, issuedAt)) return
  throw new ApiError(
    'Unauthorized',
    'The user key in x-user-key was revoked, or its user was deleted. A key that an app signs needs an `iat` later than that.',
  )
}

/** @throws ApiError if the user is banned */
export function requireNotBanned({ banned }: Pick<KeyState, 'banned'>): void {
  if (banned === 1) throw new ApiError('Forbidden', 'This user is banned from the chat.')
}

/** A key without an issue time counts as old. */
function isRevoked({ keys_revoked_at }: KeyState, issuedAt: number | undefined): boolean {
  if (keys_revoked_at === null) return false
  return issuedAt === undefined || issuedAt <= Date.parse(keys_revoked_at)
}

/**
 * Whether a chosen id is the native id of a user or of the bot, whom its holder could impersonate.
 */
export async function isNativeId(tx: Tx, botId: string, id: string): Promise<boolean> {
  if (id === botId) return true
  return id.startsWith('user_') && (await store.findUser(tx, botId, id)) !== undefined
}

/** Throws unless the id in a key that an app signed may be the id of a user. */
export function requireForeignId(botId: string, id: string): void {
  if (!foreignId.test(id) || id === botId) {
    throw new ApiError(
      'InvalidPayload',
      'The id in the header x-user-key must be 1 to 70 of A-Z a-z 0-9 _ - / \\, and not the id of the bot.',
      { metadata: { in: 'headers', field: 'x-user-key' } },
    )
  }
}

/** The error for a chosen id that is taken by another user. */
export function takenId(id: string | null, cause?: unknown): ApiError {
  return new ApiError(
    'AlreadyExists',
    `body.id: the user ${id} exists already. Its key was returned only to the caller that created it: choose another id.`,
    { cause },
  )
}
