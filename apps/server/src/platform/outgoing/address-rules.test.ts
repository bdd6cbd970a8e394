import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAddressRules } from './address-rules.js'

const strict = createAddressRules({ allowed: [], allowLoopback: false })

/** The host of a URL after parsing, which connections are made to. */
function hostOf(text: string): string {
  return new URL(`http://${text}/`).hostname.replace(/^\[|\]$/g, '')
}

describe('addresses', () => {
  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.32.0.1',
    '2606:4700::1111',
    '64:ff9b::808:808',
    '::ffff:8.8.8.8',
  ])('that are public may be called: %s', (address) => {
    expect(strict.permits(address)).toBe(true)
  })

  it.each([
    '0.0.0.0',
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '169.254.169.254',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fd00::1',
    'fe80::1%eth0',
    'ff02::1',
    '2002:7f00:1::',
    '64:ff9b::7f00:1',
    '::ffff:169.254.169.254',
    'localhost',
    '',
  ])('that are not public may not: %s', (address) => {
    expect(strict.permits(address)).toBe(false)
  })

  it.each(['2130706433', '0x7f.1', '017700000001', '127.1', '[::ffff:127.0.0.1]', '127.0.0.1.'])(
    'hidden in another notation are found: %s',
    (host) => {
      expect(strict.permits(hostOf(host).replace(/\.$/, ''))).toBe(false)
    },
  )

  it('are refused in every notation of the same address', () => {
    const byte = fc.integer({ min: 0, max: 255 })
    fc.assert(
      fc.property(byte, byte, byte, byte, (a, b, c, d) => {
        const dotted = `${a}.${b}.${c}.${d}`
        const number = ((a * 256 + b) * 256 + c) * 256 + d
        const permitted = strict.permits(dotted)
        expect(strict.permits(hostOf(String(number)))).toBe(permitted)
        expect(strict.permits(hostOf(`0x${number.toString(16)}`))).toBe(permitted)
        expect(strict.permits(hostOf(`[::ffff:${dotted}]`))).toBe(permitted)
        expect(strict.permits(hostOf(`[64:ff9b::${dotted}]`))).toBe(permitted)
      }),
    )
  })

  it('that the operator allows may be called, and no others', () => {
    const rules = createAddressRules({ allowed: ['10.1.0.0/16', 'fd00::5'], allowLoopback: true })
    expect(
      ['10.1.9.9', '::ffff:10.1.9.9', 'fd00::5', '127.8.8.8', '::1'].map(rules.permits),
    ).toEqual([true, true, true, true, true])
    expect(['10.2.0.1', 'fd00::6', '192.168.0.1'].map(rules.permits)).toEqual([false, false, false])
  })

  it('of every kind may be called with any, but names are not addresses', () => {
    const rules = createAddressRules({ allowed: 'any', allowLoopback: false })
    expect(['10.0.0.1', '::1', 'localhost'].map(rules.permits)).toEqual([true, true, false])
  })
})
