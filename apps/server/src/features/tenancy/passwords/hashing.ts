import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { ApiError } from '@botstead/contract'
import { createGate } from '../../../platform/workers/gate.js'

/** Hashes passwords in the thread pool of Node, few at a time. */
export interface PasswordHasher {
  /** @throws ApiError `RateLimited` if too many wait */
  hash(password: string): Promise<string>
  /** As `hash`; without a stored hash, takes as long and says no. */
  verify(password: string, stored: string | undefined): Promise<boolean>
  /** Whether a hash was made with another cost, and should be made anew when its password is known. */
  isOutdated(stored: string): boolean
}

/** The work of a hash, as RFC 7914 names it. */
export interface PasswordCost {
  /** Logarithm of the number of blocks. */
  logN: number
  r: number
  p: number
}

/** One of the equally strong choices that OWASP lists; it needs 32 MiB for each password that is hashed. */
const usualCost: PasswordCost = { logN: 15, r: 8, p: 3 }
const keyBytes = 32
const saltBytes = 16
/** Passwords that are hashed at the same time; the thread pool has four threads, which files need too. */
const maxAtOnce = 2
const maxWaiting = 64

export function createPasswordHasher(cost = usualCost): PasswordHasher {
  /** The hash of no password, verified for accounts that have none, so that they take as long. */
  const nobody = join(cost, Buffer.alloc(saltBytes), Buffer.alloc(keyBytes))
  const gate = createGate(
    maxAtOnce,
    maxWaiting,
    () =>
      new ApiError('RateLimited', 'Too many people sign in at this moment. Retry after 2 s.', {
        metadata: { retryAfterSeconds: 2 },
      }),
  )
  const derive = async (password: string, salt: Buffer, by: PasswordCost): Promise<Buffer> => {
    const leave = await gate.enter()
    try {
      return await run(password, salt, by)
    } finally {
      leave()
    }
  }
  return {
    async hash(password) {
      const salt = randomBytes(saltBytes)
      return join(cost, salt, await derive(password, salt, cost))
    },

    async verify(password, stored) {
      const { by, salt, key } = split(stored ?? nobody)
      const found = await derive(password, salt, by)
      return timingSafeEqual(found, key) && stored !== undefined
    },

    isOutdated(stored) {
      const { by } = split(stored)
      return by.logN !== cost.logN || by.r !== cost.r || by.p !== cost.p
    },
  }
}

function run(password: string, salt: Buffer, { logN, r, p }: PasswordCost): Promise<Buffer> {
  const N = 2 ** logN
  const options: ScryptOptions = { N, r, p, maxmem: 256 * N * r }
  return new Promise((resolve, reject) => {
    // The same characters can be typed as different code points.
    scrypt(password.normalize('NFKC'), salt, keyBytes, options, (error, key) => {
      if (error === null) resolve(key)
      else reject(error)
    })
  })
}

function join({ logN, r, p }: PasswordCost, salt: Buffer, key: Buffer): string {
  return ['scrypt', logN, r, p, salt.toString('base64url'), key.toString('base64url')].join('$')
}

function split(stored: string): { by: PasswordCost; salt: Buffer; key: Buffer } {
  const [, logN, r, p, salt = '', key = ''] = stored.split('$')
  return {
    by: { logN: Number(logN), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    key: Buffer.from(key, 'base64url'),
  }
}
