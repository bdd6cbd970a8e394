import { BlockList, isIP } from 'node:net'
import { describe, expect, it } from 'vitest'
import { isInSome, readAddress, readNetworks } from './addresses.js'

const familyOf = (address: string) => (isIP(address) === 4 ? 'ipv4' : 'ipv6')

const addresses = [
  '0.0.0.0',
  '9.255.255.255',
  '10.0.0.0',
  '10.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.64.0.1',
  '100.127.255.255',
  '100.128.0.0',
  '127.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::2',
  '::ffff:10.0.0.1',
  '::FFFF:a00:1',
  '0:0:0:0:0:ffff:0a00:0001',
  '::10.0.0.1',
  '64:ff9b::10.1.2.3',
  '64:ff9b::a01:203',
  '64:ff9b::8.8.8.8',
  '64:ff9b:1::',
  '1:2:3:4:5:6:7:8',
  '1:2:3:4:5:6:1.2.3.4',
  '1::8',
  '1:2:3:4:5:6:7::',
  '::2:3:4:5:6:7:8',
  '2001:db8:0:1::',
  'fbff::1',
  'fc00::1',
  'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  'fe00::',
]

const networks = [
  '0.0.0.0/0',
  '0.0.0.0/8',
  '10.0.0.0/8',
  '10.0.0.1',
  '100.64.0.0/10',
  '127.0.0.1/32',
  '255.255.255.255',
  '::/128',
  '::1',
  '::/8',
  '64:ff9b::10.0.0.0/104',
  '64:ff9b:1::/48',
  '1:2:3:4:5:6:7:8',
  '1:2:3:4:5:6:7::/112',
  '2001:db8::/32',
  'fc00::/7',
]

describe('addresses and networks', () => {
  it('match as the lists of Node do', () => {
    for (const network of networks) {
      const [start = '', bits = isIP(start) === 4 ? '32' : '128'] = network.split('/')
      const list = new BlockList()
      list.addSubnet(start, Number(bits), familyOf(start))
      for (const address of addresses) {
        const bytes = readAddress(address)
        const found = bytes && isInSome(bytes, readNetworks([network]))
        expect([address, network, found]).toEqual([
          address,
          network,
          list.check(address, familyOf(address)),
        ])
      }
    }
  })

  it('are read with a network interface, and refused if they are none', () => {
    expect(readAddress('fe80::1%eth0')).toEqual(readAddress('fe80::1'))
    for (const text of ['', 'localhost', '1.2.3', '1.2.3.4.5', '::1::', '10.0.0.1 ', '%', ':']) {
      expect(readAddress(text)).toBeUndefined()
    }
  })
})
