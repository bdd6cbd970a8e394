import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** Milliseconds for which a code is shown. */
const stepMs = 30_000
const digits = 6
/** Steps before and after the present one whose codes count too, for clocks that differ. */
const window = 1
/** As long as the hash of HMAC-SHA-1, as RFC 4226 recommends. */
const secretBytes = 20

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** A new secret of an authenticator app, in the base 32 in which people type it. */
export function newTotpSecret(): string {
  return base32(randomBytes(secretBytes))
}

/** A text in base 32 without padding. */
export function base32(bytes: Uint8Array): string {
  let [text, value, bits] = ['', 0, 0]
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff
    bits += 8
    for (; bits >= 5; bits -= 5) text += alphabet.charAt((value >> (bits - 5)) & 31)
  }
  return bits === 0 ? text : text + alphabet.charAt((value << (5 - bits)) & 31)
}

/**
 * The step of a code that is shown now or was a moment ago (RFC 6238, with what all apps have: SHA-1, six digits, thirty
 * seconds); undefined if it is of none.
 * @param now milliseconds since the Unix epoch
 */
export function stepOfCode(secret: string, code: string, now: number): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined
  const key = fromBase32(secret)
  const given = Buffer.from(code)
  const current = Math.floor(now / stepMs)
  let found: number | undefined
  for (let step = current - window; step <= current + window; step++) {
    if (timingSafeEqual(Buffer.from(codeAt(key, step)), given)) found = step
  }
  return found
}

/** The code of a secret at a time, as an authenticator app shows it. */
export function totpCode(secret: string, now: number): string {
  return codeAt(fromBase32(secret), Math.floor(now / stepMs))
}

function codeAt(key: Buffer, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', key).update(counter).digest()
  const at = (mac.at(-1) ?? 0) & 15
  const number = (mac.readUInt32BE(at) & 0x7fffffff) % 10 ** digits
  return String(number).padStart(digits, '0')
}

function fromBase32(text: string): Buffer {
  const bytes: number[] = []
  let [value, bits] = [0, 0]
  for (const character of text) {
    value = ((value << 5) | alphabet.indexOf(character)) & 0xffff
    bits += 5
    if (bits < 8) continue
    bits -= 8
    bytes.push((value >> bits) & 255)
  }
  return Buffer.from(bytes)
}
