import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createIds, hashToken, idsSince, newSigningSecret, newToken, timeOfId } from './ids.js'

/** A clock that returns the given times one after another and then stands still. */
function clockOf(times: number[]) {
  let at = 0
  return { now: () => times[Math.min(at++, times.length - 1)] ?? 0 }
}

function counting() {
  let value = 0
  return (buffer: Uint8Array) => {
    for (let at = 0; at < buffer.length; at++) buffer[at] = value++ & 255
  }
}

describe('ids with a prefix', () => {
  it('are the prefix and a ULID that holds the time', () => {
    const ids = createIds({ now: () => 1_469_918_176_385 })
    expect(ids.next('conv')).toMatch(/^conv_01ARYZ6S41[0-9A-HJKMNP-TV-Z]{16}$/)
  })

  it('tell when they were made, and where those of a time begin', () => {
    const time = Date.UTC(2024, 1, 29, 12, 30, 15, 123)
    const id = createIds({ now: () => time }).next('msg')
    expect(timeOfId(id)).toBe(time)
    expect(timeOfId('')).toBe(0)
    expect(idsSince('msg', time) < id).toBe(true)
    expect(idsSince('msg', time + 1) > id).toBe(true)
  })

  it('rise strictly, whatever the clock does', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 2 ** 48 - 2 }), { minLength: 1, maxLength: 200 }),
        (times) => {
          const ids = createIds(clockOf(times))
          const made = times.map(() => ids.next('msg'))
          expect(made).toEqual([...new Set(made)].sort())
        },
      ),
    )
  })

  it('rise when more are made in one millisecond than its counter holds', () => {
    const full = (buffer: Uint8Array) => void buffer.fill(255)
    const ids = createIds({ now: () => 1_700_000_000_000 }, full)
    let last = ids.next('msg')
    for (let count = 0; count < 2 ** 19 + 10; count++) {
      const id = ids.next('msg')
      if (id <= last) expect.fail(`${id} after ${last}`)
      last = id
    }
    expect(last.slice(4, 14)).toBe(
      createIds({ now: () => 1_700_000_000_001 }, full)
        .next('msg')
        .slice(4, 14),
    )
  })

  it('give nothing away about their neighbour in the same millisecond', () => {
    const ids = createIds({ now: () => 1_700_000_000_000 })
    const tails = Array.from({ length: 1_000 }, () => ids.next('conv').slice(-12))
    expect(new Set(tails).size).toBe(1_000)
    const first = new Set(tails.map((tail) => tail[0]))
    expect(first.size).toBeGreaterThan(20)
  })

  it('use every random byte once', () => {
    const tails = (count: number) => {
      const ids = createIds({ now: () => 0 }, counting())
      return Array.from({ length: count }, () => ids.next('user').slice(-12))
    }
    expect(tails(2)).toEqual(['3456789ABCDE', 'FGHJKMNPQRST'])
    expect(tails(5)).toEqual(tails(5))
  })

  it('differ between processes that start in the same millisecond', () => {
    const clock = { now: () => 1_700_000_000_000 }
    expect(createIds(clock).next('user')).not.toBe(createIds(clock).next('user'))
  })
})

describe('uuids', () => {
  it('are of version 4 and all different', () => {
    const ids = createIds()
    const made = Array.from({ length: 2_000 }, () => ids.uuid())
    expect(new Set(made).size).toBe(2_000)
    for (const id of made) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    }
  })
})

describe('tokens', () => {
  it('carry their prefix and 256 random bits', () => {
    const token = newToken('bp_pat_')
    expect(token).toMatch(/^bp_pat_[\w-]{43}$/)
    expect(Buffer.from(token.slice(7), 'base64url')).toHaveLength(32)
    expect(newToken('bp_pat_')).not.toBe(token)
  })

  it('have secrets of the same strength beside them', () => {
    expect(Buffer.from(newSigningSecret(), 'base64url')).toHaveLength(32)
    expect(newSigningSecret()).not.toBe(newSigningSecret())
  })

  it('are stored as SHA-256', () => {
    const expected = createHash('sha256').update('bp_bak_x').digest('hex')
    expect(hashToken('bp_bak_x')).toBe(expected)
  })
})
