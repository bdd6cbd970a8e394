import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Hint } from './event-bus.js'
import { packGap, packNotifications, unpackNotification } from './postgres.js'

const text = fc.string({ unit: 'grapheme', maxLength: 60 })
const withoutSeq = fc.record({ topic: text, key: text })
const withSeq = fc.record({ topic: text, key: text, seq: fc.nat() })
const hints: fc.Arbitrary<Hint[]> = fc.array(fc.oneof(withSeq, withoutSeq), { maxLength: 500 })

describe('packed notifications', () => {
  it('hold all hints in their order, and each fits into what the database takes', () => {
    fc.assert(
      fc.property(text, hints, (from, given) => {
        const packed = packNotifications(from, given)
        const unpacked = packed.map(unpackNotification)
        expect(unpacked.flatMap((each) => each?.hints)).toEqual(given)
        for (const each of unpacked) expect(each?.from).toBe(from)
        for (const payload of packed) expect(Buffer.byteLength(payload)).toBeLessThan(8_000)
      }),
    )
  })

  it('are few', () => {
    const many = Array.from({ length: 1_000 }, (_, seq) => ({
      topic: 'conversation',
      key: `conv_01ARYZ6S41TSV4RRFFQ69G5F${seq}`,
      seq,
    }))
    expect(packNotifications('me', many).length).toBeLessThan(10)
    expect(packNotifications('me', [])).toEqual([])
  })

  it('leave out a hint that is too long', () => {
    const long = { topic: 'x', key: 'é'.repeat(4_000) }
    const short = { topic: 'x', key: 'a' }
    const [only, ...more] = packNotifications('me', [long, short])
    expect(more).toEqual([])
    expect(unpackNotification(String(only))).toEqual({ from: 'me', hints: [short], isGap: false })
  })
})

it('a notification of lost hints has none', () => {
  expect(unpackNotification(packGap('me'))).toEqual({ from: 'me', hints: [], isGap: true })
})

describe('foreign notifications', () => {
  it.each([
    '',
    'hello',
    'null',
    '[]',
    '{}',
    '{"from":1,"hints":[]}',
    '{"from":"x","hints":{}}',
    '{"from":"x","hints":[["topic"]]}',
    '{"from":"x","hints":[["topic","key","1"]]}',
    '{"from":"x","hints":[["topic","key",1.5]]}',
  ])('such as %s are not taken for ours', (payload) => {
    expect(unpackNotification(payload)).toBeUndefined()
  })
})
