import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSigner } from './signing.js'

const key = randomBytes(32)
const clock = { now: () => 1_700_000_000_000 }
const later = clock.now() + 60_000
const signer = createSigner(key, clock)
/** Text that survives UTF-8: no lone halves of surrogate pairs. */
const text = fc.string({ unit: 'grapheme', maxLength: 100 })

describe('signed values', () => {
  it('come back as they were, in characters that need no escaping', () => {
    fc.assert(
      fc.property(text, (value) => {
        const signed = signer.sign(value, later)
        expect(signed).toMatch(/^[\w-]+$/)
        expect(signer.verify(signed)).toEqual({ ok: true, value, expiresAt: later })
      }),
    )
  })

  it('are refused when any character is changed', () => {
    fc.assert(
      fc.property(text, fc.nat(), fc.base64String(), (value, position, noise) => {
        const signed = signer.sign(value, later)
        const at = position % signed.length
        const changed = signed.slice(0, at) + (noise[0] ?? '~') + signed.slice(at + 1)
        fc.pre(changed !== signed)
        expect(signer.verify(changed)).toEqual({ ok: false, reason: 'invalid' })
      }),
    )
  })

  it('are refused when every single bit is flipped in turn', () => {
    const bytes = Buffer.from(signer.sign('files/abc', later), 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes)
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      expect(signer.verify(flipped.toString('base64url')).ok).toBe(false)
    }
  })

  it('are refused when cut, extended or spelled in another way', () => {
    const signed = signer.sign('a value', later)
    const spellings = [signed.slice(0, -1), `${signed}A`, `${signed}=`, `${signed}\n`, ` ${signed}`]
    for (const other of [...spellings, '', 'AAAA', '%%%']) {
      expect(signer.verify(other)).toEqual({ ok: false, reason: 'invalid' })
    }
  })

  it('are refused under another key', () => {
    const other = createSigner(randomBytes(32), clock)
    expect(other.verify(signer.sign('x', later))).toEqual({ ok: false, reason: 'invalid' })
  })

  it('end at their expiry, to the millisecond', () => {
    const signed = signer.sign('x', later)
    const at = (now: number) => createSigner(key, { now: () => now }).verify(signed)
    expect(at(later - 1)).toEqual({ ok: true, value: 'x', expiresAt: later })
    expect(at(later)).toEqual({ ok: false, reason: 'expired' })
  })
})
