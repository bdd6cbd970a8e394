import { ApiError } from '@botstead/contract'
import { errors, jwtVerify, SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import type { ChatAddress, ChatUserActor } from '../../platform/actor.js'
import type { Clock } from '../../platform/clock.js'

export interface UserKeysDeps {
  /** Secret of the keys of addresses that have no encryption key of their own. */
  sharedSecret: Uint8Array
  clock: Clock
}

/** The keys by which chat users say who they are: JWTs signed with HS256. */
export interface UserKeys {
  /** A key that never expires and is good at this address only. */
  sign(chat: ChatAddress, userId: string): Promise<string>
  /**
   * The holder of a key, from memory when it was verified before. Throws `Unauthorized` for what is
   * not a valid key of the address.
   */
  verify(chat: ChatAddress, key: string): ChatUserActor | Promise<ChatUserActor>
}

interface Verified {
  actor: ChatUserActor
  /** Seconds since the Unix epoch, as the key has them. */
  expiresAt: number | undefined
  notBefore: number | undefined
}

const maxVerified = 20_000
/** Keys of apps may carry further claims; absurdly long ones are not worth the memory. */
const maxRememberedLength = 2048

export function createUserKeys({ sharedSecret, clock }: UserKeysDeps): UserKeys {
  const verified = new LRUCache<string, Verified>({ max: maxVerified })

  const secretOf = (chat: ChatAddress): Uint8Array =>
    chat.encryptionKey === undefined ? sharedSecret : Buffer.from(chat.encryptionKey)

  async function check(chat: ChatAddress, key: string): Promise<ChatUserActor> {
    const { payload } = await jwtVerify(key, secretOf(chat), {
      // Nothing but this one: a key must not choose how it is checked.
      algorithms: ['HS256'],
      currentDate: new Date(clock.now()),
    }).catch((error: unknown): never => {
      throw error instanceof errors.JOSEError ? refusal(error) : error
    })
    const { id, webhookId, exp, nbf } = payload
    if (typeof id !== 'string' || id === '') {
      throw new ApiError('Unauthorized', 'The user key in the header x-user-key names no user.')
    }
    // Addresses can share a secret, but a key made by the server is for the one it was made at.
    if (webhookId !== undefined && webhookId !== chat.webhookId) {
      throw new ApiError(
        'Unauthorized',
        'The user key in the header x-user-key belongs to another chat address.',
      )
    }
    const actor: ChatUserActor = {
      kind: 'chat-user',
      chat,
      userKeyId: id,
      keyExpiresAt: exp === undefined ? undefined : exp * 1000,
    }
    if (key.length <= maxRememberedLength) {
      verified.set(key, { actor, expiresAt: exp, notBefore: nbf })
    }
    return actor
  }

  return {
    async sign(chat, userId) {
      return await new SignJWT({ id: userId, webhookId: chat.webhookId })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setIssuedAt(Math.floor(clock.now() / 1000))
        .sign(secretOf(chat))
    },

    verify(chat, key) {
      const entry = verified.get(key)
      // Verified for another address, or for this one before it changed, it may be worth nothing.
      if (entry === undefined || entry.actor.chat !== chat || !isTimely(entry, clock)) {
        return check(chat, key)
      }
      return entry.actor
    },
  }
}

function isTimely({ expiresAt, notBefore }: Verified, clock: Clock): boolean {
  if (expiresAt === undefined && notBefore === undefined) return true
  const now = Math.floor(clock.now() / 1000)
  return now < (expiresAt ?? Number.POSITIVE_INFINITY) && now >= (notBefore ?? 0)
}

function refusal(cause: errors.JOSEError): ApiError {
  const message =
    cause instanceof errors.JWTExpired
      ? 'The user key in x-user-key has expired.'
      : 'x-user-key holds no valid user key of this chat address.'
  return new ApiError('Unauthorized', message, { cause })
}
