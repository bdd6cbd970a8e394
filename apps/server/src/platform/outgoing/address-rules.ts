import { BlockList, isIP } from 'node:net'

/** Decides which addresses the server may call on behalf of others. */
export interface AddressRules {
  /** Whether an IP address, in any notation that the system's resolver returns, may be called. */
  permits(address: string): boolean
}

export interface AddressRulesOptions {
  /** Addresses and networks (`10.0.0.0/8`) that may be called although they are not public; `any` permits all. */
  allowed: readonly string[] | 'any'
  /** Whether this machine may be called through its loopback addresses. */
  allowLoopback: boolean
}

const loopback4 = '127.0.0.0/8'
const loopback6 = '::1/128'

/** Networks outside of the public internet (IANA registries of special-purpose addresses, RFC 6890). */
const special4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  loopback4,
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]

const special6 = [
  '::/128',
  loopback6,
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  // 6to4 carries an IPv4 address inside, and nobody needs it any more.
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
  // NAT64 reaches IPv4 through these.
  ...special4.map(throughNat64),
]

/** The networks of the rules, for programs that check addresses themselves. */
export interface NetworkLists {
  refused: readonly string[]
  /** Permitted although a refused network contains them. */
  permitted: readonly string[]
}

/** The networks that are refused and permitted; undefined if any address may be called. */
export function networkListsOf({
  allowed,
  allowLoopback,
}: AddressRulesOptions): NetworkLists | undefined {
  if (allowed === 'any') return undefined
  return {
    refused: [...special4, ...special6],
    permitted: [...allowed, ...(allowLoopback ? [loopback4, loopback6] : [])],
  }
}

/** Refuses everything that is not public, except what is allowed. */
export function createAddressRules(options: AddressRulesOptions): AddressRules {
  const lists = networkListsOf(options)
  const refused = listOf(lists?.refused ?? [])
  const permitted = listOf(lists?.permitted ?? [])
  return {
    permits(address) {
      const version = isIP(address)
      if (version === 0) return false
      if (lists === undefined) return true
      // A zone (`fe80::1%eth0`) names the network interface and is not part of the address.
      const bare = address.replace(/%.*$/, '')
      const family = version === 4 ? 'ipv4' : 'ipv6'
      return permitted.check(bare, family) || !refused.check(bare, family)
    },
  }
}

/** IPv4 networks match their IPv6-mapped addresses too. */
function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const isV4 = isIP(address) === 4
    list.addSubnet(address, Number(bits ?? (isV4 ? 32 : 128)), isV4 ? 'ipv4' : 'ipv6')
  }
  return list
}

function throughNat64(network: string): string {
  const [address, bits] = network.split('/')
  return `64:ff9b::${address}/${96 + Number(bits)}`
}
