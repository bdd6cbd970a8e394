import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../clock.js'

/** The result of verifying a signed value: its content, or the reason for its rejection. */
export type Verified =
  /** `expiresAt` is in milliseconds since the Unix epoch. */
  { ok: true; value: string; expiresAt: number } | { ok: false; reason: 'invalid' | 'expired' }

/** Signs values with a time limit, and verifies them. */
export interface Signer {
  /**
   * Packs a value and its end of validity into text that is safe in a path or query. Anyone who
   * has it can read it, and nobody can change it.
   * @param expiresAt milliseconds since the Unix epoch; from then on the value is refused
   */
  sign(value: string, expiresAt: number): string
  /** Never throws: anything that was not signed with this key is `invalid`. */
  verify(signed: string): Verified
}

const macLength = 32
/** Six bytes hold milliseconds until the year 10889. */
const expiryLength = 6

/** Signs with HMAC-SHA256. Use one derived key per purpose, so that a value cannot change its job. */
export function createSigner(key: Uint8Array, clock: Clock): Signer {
  function mac(body: Uint8Array): Buffer {
    return createHmac('sha256', key).update(body).digest()
  }

  return {
    sign(value, expiresAt) {
      const content = Buffer.from(value)
      const body = Buffer.alloc(expiryLength + content.length)
      body.writeUIntBE(expiresAt, 0, expiryLength)
      content.copy(body, expiryLength)
      return Buffer.concat([mac(body), body]).toString('base64url')
    },

    verify(signed) {
      const bytes = Buffer.from(signed, 'base64url')
      // The decoder forgives foreign characters and loose bits; one value shall have one spelling.
      if (bytes.length < macLength + expiryLength || bytes.toString('base64url') !== signed) {
        return { ok: false, reason: 'invalid' }
      }
      const body = bytes.subarray(macLength)
      if (!timingSafeEqual(bytes.subarray(0, macLength), mac(body))) {
        return { ok: false, reason: 'invalid' }
      }
      const expiresAt = body.readUIntBE(0, expiryLength)
      if (expiresAt <= clock.now()) return { ok: false, reason: 'expired' }
      return { ok: true, value: body.toString('utf8', expiryLength), expiresAt }
    },
  }
}
