import { createHash, randomBytes, randomFillSync } from 'node:crypto'
import { type Clock, systemClock } from './clock.js'

// Our own ULID and not the `ulid` package: that one makes neighbours of one millisecond by adding
// one, so that knowing an id means knowing the next, and it requests random bytes from the system for every character.

/** Prefixes of ids, one per kind of object. Workspaces, bots and integrations have UUIDs instead. */
type IdPrefix =
  | 'accnt'
  | 'action'
  | 'activty'
  | 'audit'
  | 'bak'
  | 'botver'
  | 'call'
  | 'conv'
  | 'delivery'
  | 'evalcase'
  | 'evalrun'
  | 'evalset'
  | 'evt'
  | 'file'
  | 'iak'
  | 'iss'
  | 'issevt'
  | 'job'
  | 'kb'
  | 'member'
  | 'msg'
  | 'passkey'
  | 'pat'
  | 'plugin'
  | 'plugver'
  | 'recevt'
  | 'replay'
  | 'report'
  | 'req'
  | 'sess'
  | 'state'
  | 'usage'
  | 'user'
  | 'wrkflow'

/** Prefix of a secret: a personal token, the key of a bot or integration, a session, a sign-in code, an invitation, a browser, a reset link. */
export type TokenPrefix =
  | 'bp_pat_'
  | 'bp_bak_'
  | 'bp_iak_'
  | 'bp_ses_'
  | 'bp_code_'
  | 'bp_inv_'
  | 'bp_dev_'
  | 'bp_res_'
  | 'bp_tic_'
  | 'bp_sso_'

/** Fills the whole buffer with unpredictable bytes. */
export type RandomSource = (buffer: Uint8Array) => void

/** Makes ids, which are unique without any coordination between processes. */
export interface Ids {
  /** Id of a workspace, bot or integration: UUID version 4. */
  uuid(): string
  /**
   * Id of anything else: `<prefix>_<ULID>`. Sorts after every id made before it in this process,
   * also when the clock steps back, and cannot be guessed from its neighbours.
   */
  next(prefix: IdPrefix): string
}

/** Crockford's alphabet: digits and letters without I, L, O, U, in the order of their codes. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const timeLength = 10
const counterLength = 4
const counterEnd = 32 ** counterLength
const randomLength = 12
const poolSize = 8192

/**
 * The source of all ids of a process.
 *
 * A ULID is 48 bits of time and 80 more. Those are a counter of 20 bits, which starts in the lower
 * half at a random place each millisecond and keeps the order, and 60 bits that are random every time.
 */
export function createIds(clock: Clock = systemClock, random: RandomSource = randomFillSync): Ids {
  const pool = new Uint8Array(poolSize)
  let unread = poolSize
  let time = -1
  let timeText = ''
  let counter = 0

  /** Position of the next bytes in the pool: one system call serves hundreds of ids. */
  function draw(length: number): number {
    if (unread + length > poolSize) {
      random(pool)
      unread = 0
    }
    const at = unread
    unread += length
    return at
  }

  function byte(at: number): number {
    return pool[at] ?? 0
  }

  /** Begins a millisecond, with a counter that starts at a random place. */
  function enter(milliseconds: number): void {
    time = milliseconds
    timeText = encode(milliseconds, timeLength)
    const at = draw(3)
    counter = ((byte(at) << 16) | (byte(at + 1) << 8) | byte(at + 2)) % (counterEnd / 2)
  }

  function ulid(): string {
    const now = clock.now()
    if (now > time) enter(now)
    else if (++counter === counterEnd) enter(time + 1)
    let text = timeText + encode(counter, counterLength)
    const start = draw(randomLength)
    for (let at = start; at < start + randomLength; at++) text += alphabet[byte(at) & 31]
    return text
  }

  return {
    uuid() {
      const at = draw(16)
      const bytes = Buffer.from(pool.subarray(at, at + 16))
      bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6)
      bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
      return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    },
    next: (prefix) => `${prefix}_${ulid()}`,
  }
}

/**
 * A text that sorts before all ids of a kind that are made at or after a time, and behind those made before it.
 * @param milliseconds since the Unix epoch
 */
export function idsSince(prefix: IdPrefix, milliseconds: number): string {
  return `${prefix}_${encode(Math.max(0, Math.floor(milliseconds)), timeLength)}`
}

/** Returns the creation time of an id in milliseconds since the Unix epoch; 0 for an empty text. */
export function timeOfId(id: string): number {
  const text = id.slice(id.indexOf('_') + 1).slice(0, timeLength)
  return [...text].reduce((time, character) => time * 32 + alphabet.indexOf(character), 0)
}

/** A new access token: the prefix and 256 random bits. Shown once; only its hash is stored. */
export function newToken(prefix: TokenPrefix): string {
  return prefix + randomBytes(32).toString('base64url')
}

/** Whether a secret is that of a session, which is accepted as a cookie alone. */
export function isSessionValue(value: string): boolean {
  return value.startsWith('bp_ses_' satisfies TokenPrefix)
}

/** A new secret that signs deliveries to a bot: 256 random bits. */
export function newSigningSecret(): string {
  return randomBytes(32).toString('base64url')
}

/**
 * Returns the stored form of a token: SHA-256 in hex. A slow hash would protect guessable secrets only,
 * and a token has 256 random bits.
 */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** A whole number in Crockford's base 32, padded to a length. */
function encode(value: number, length: number): string {
  let text = ''
  let rest = value
  for (let left = length; left > 0; left--) {
    text = alphabet.charAt(rest % 32) + text
    rest = Math.floor(rest / 32)
  }
  return text
}
