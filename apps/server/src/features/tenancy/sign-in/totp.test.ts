import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { base32, newTotpSecret, stepOfCode, totpCode } from './totp.js'

const secret = base32(Buffer.from('12345678901234567890'))

describe('codes of an authenticator app', () => {
  // Appendix B of RFC 6238, cut to six digits.
  it.each([
    [59, '287082'],
    [1111111109, '081804'],
    [1111111111, '050471'],
    [1234567890, '005924'],
    [2000000000, '279037'],
    [20000000000, '353130'],
  ])('are those of the standard at %i s', (seconds, code) => {
    expect(totpCode(secret, seconds * 1000)).toBe(code)
    expect(stepOfCode(secret, code, seconds * 1000)).toBe(Math.floor(seconds / 30))
  })

  it('count for half a minute before and after, and no longer', () => {
    const now = 1_234_567_890_000
    const step = Math.floor(now / 30_000)
    for (const off of [-2, -1, 0, 1, 2]) {
      const code = totpCode(secret, now + off * 30_000)
      expect(stepOfCode(secret, code, now)).toBe(Math.abs(off) > 1 ? undefined : step + off)
    }
  })

  it('are refused in any other form', () => {
    const now = 59_000
    for (const code of ['', '28708', '2870820', ' 28708', '２８７０８２', '-87082']) {
      expect(stepOfCode(secret, code, now)).toBeUndefined()
    }
  })

  it('have secrets that any app reads', () => {
    expect(secret).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ')
    expect(newTotpSecret()).toMatch(/^[A-Z2-7]{32}$/)
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), (bytes) => {
        expect(base32(bytes)).toHaveLength(Math.ceil((bytes.length * 8) / 5))
      }),
    )
  })
})
