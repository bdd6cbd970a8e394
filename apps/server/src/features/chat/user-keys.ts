import { ApiError } from '@botstead/contract'
import { errors, jwtVerify, SignJWT } from 'jose'
import type { ChatAddress, ChatUserActor } from '../../domain/actor.js'
import type { Clock } from '../../platform/clock.js'
import { createLruCache } from '../../platform/lru-cache.js'

export interface UserKeysDeps {
  /** Secret of the keys for addresses without their own encryption key. */
  sharedSecret: Uint8Array
  clock: Clock
  /** Milliseconds for which keys of the server are valid; undefined forever. */
  lifetimeMs: number | undefined
}

/** User keys, which identify chat users: JWTs signed with HS256. */
export interface UserKeys {
  /**
   * Issues a key that is valid only at this address.
   * @param revokedAt ISO 8601 time when older keys of this id were revoked; the new one is later
   * @param expiresAt milliseconds since the Unix epoch; by the setting of the server if omitted
   */
  sign(
    chat: ChatAddress,
    userId: string,
    revokedAt: string | null,
    expiresAt?: number,
  ): Promise<string>
  /** The claims of a token that is signed like a key, without those of its validity; undefined if it is not valid. */
  readClaims(chat: ChatAddress, token: string): Promise<Record<string, unknown> | undefined>
  /**
   * The holder of a key, cached once it was verified. Throws `Unauthorized` unless the key is valid
   * for the address.
   */
  verify(chat: ChatAddress, key: string): ChatUserActor | Promise<ChatUserActor>
}

interface Verified {
  actor: ChatUserActor
  /** Seconds since the Unix epoch, from the key. */
  expiresAt: number | undefined
  notBefore: number | undefined
}

const maxVerified = 20_000
/** Keys of apps may carry further claims; very long ones are not cached. */
const maxRememberedLength = 2048
/**
 * Milliseconds by which the clock of an app may be ahead. A key issued further ahead would outlive
 * a revocation.
 */
const tolerance = 60_000

/**
 * Makes the issuer and verifier of user keys. A chat address with an encryption key of its own uses
 * that key instead of `sharedSecret`.
 */
export function createUserKeys({ sharedSecret, clock, lifetimeMs }: UserKeysDeps): UserKeys {
  const verified = createLruCache<string, Verified>(maxVerified)

  const secretOf = (chat: ChatAddress): Uint8Array =>
    chat.encryptionKey === undefined ? sharedSecret : Buffer.from(chat.encryptionKey)

  async function check(chat: ChatAddress, key: string): Promise<ChatUserActor> {
    const { payload } = await jwtVerify(key, secretOf(chat), {
      // Only this algorithm: a key must not choose how it is verified.
      algorithms: ['HS256'],
      currentDate: new Date(clock.now()),
    }).catch((error: unknown): never => {
      throw error instanceof errors.JOSEError ? refusal(error) : error
    })
    const { id, webhookId, nbf, iat } = payload
    if (!isUserId(id)) {
      throw new ApiError('Unauthorized', 'The user key in the header x-user-key names no user.')
    }
    // Addresses can share a secret, but a key of the server is valid only where it was issued.
    if (webhookId !== undefined && webhookId !== chat.webhookId) {
      throw new ApiError(
        'Unauthorized',
        'The user key in the header x-user-key belongs to another chat address.',
      )
    }
    const issuedAt = iat === undefined ? undefined : Math.round(iat * 1000)
    if (issuedAt !== undefined && issuedAt > clock.now() + tolerance) {
      throw new ApiError(
        'Unauthorized',
        'The user key in x-user-key was issued in the future (`iat`): correct the clock of the system that signs it.',
      )
    }
    const exp = webhookId === undefined ? payload.exp : expiryOf(payload.exp, iat)
    if (exp !== undefined && clock.now() >= exp * 1000) throw expired()
    const actor: ChatUserActor = {
      kind: 'chat-user',
      chat,
      userKeyId: id,
      keyExpiresAt: exp === undefined ? undefined : exp * 1000,
      keyIssuedAt: issuedAt,
    }
    if (key.length <= maxRememberedLength) {
      verified.set(key, { actor, expiresAt: exp, notBefore: nbf })
    }
    return actor
  }

  /** Expiry of a key of the server by its `exp` and the current setting, in seconds since the Unix epoch. */
  function expiryOf(exp: number | undefined, iat: number | undefined): number | undefined {
    if (lifetimeMs === undefined || iat === undefined) return exp
    return Math.min(exp ?? Number.POSITIVE_INFINITY, iat + lifetimeMs / 1000)
  }

  return {
    async sign(chat, userId, revokedAt, expiresAt) {
      const after = revokedAt === null ? 0 : Date.parse(revokedAt) + 1
      // With a fraction: whole seconds could not distinguish a key from one revoked just before.
      const iat = Math.max(clock.now(), after) / 1000
      const token = new SignJWT({ id: userId, webhookId: chat.webhookId })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setIssuedAt(iat)
      const exp = expiryOf(expiresAt === undefined ? undefined : expiresAt / 1000, iat)
      if (exp !== undefined) token.setExpirationTime(exp)
      return await token.sign(secretOf(chat))
    },

    async readClaims(chat, token) {
      const options = { algorithms: ['HS256'], currentDate: new Date(clock.now()) }
      const verified = await jwtVerify(token, secretOf(chat), options).catch((error: unknown) => {
        if (error instanceof errors.JOSEError) return undefined
        throw error
      })
      if (verified === undefined) return undefined
      const { iat: _, exp: __, nbf: ___, ...claims } = verified.payload
      return claims
    },

    verify(chat, key) {
      const entry = verified.get(key)
      // A verification for another address, or for this one before a change, does not count.
      if (entry === undefined || entry.actor.chat !== chat || !isTimely(entry, clock)) {
        return check(chat, key)
      }
      return entry.actor
    },
  }
}

/** Apps sign what they like; no database stores a text with U+0000 or half a character. */
function isUserId(id: unknown): id is string {
  return typeof id === 'string' && id !== '' && id.isWellFormed() && !id.includes('\0')
}

function isTimely({ expiresAt, notBefore }: Verified, clock: Clock): boolean {
  if (expiresAt === undefined && notBefore === undefined) return true
  const now = clock.now() / 1000
  return now < (expiresAt ?? Number.POSITIVE_INFINITY) && now >= (notBefore ?? 0)
}

function refusal(cause: errors.JOSEError): ApiError {
  if (cause instanceof errors.JWTExpired) return expired(cause)
  const message = 'x-user-key holds no valid user key of this chat address.'
  return new ApiError('Unauthorized', message, { cause })
}

function expired(cause?: unknown): ApiError {
  return new ApiError('Unauthorized', 'The user key in x-user-key has expired.', { cause })
}
