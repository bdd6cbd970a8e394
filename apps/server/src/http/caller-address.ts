import { isIP } from 'node:net'
import proxyAddress from '@fastify/proxy-addr'
import type { FastifyRequest } from 'fastify'
import { createLruCache } from '../platform/lru-cache.js'

/** Text that is not an address, such as a name that a proxy made up, shares one limit. */
const unreadable = 'unknown'
/** Groups of an IPv6 address that identify the network of one customer. */
const groupsOfNetwork = 4

/**
 * The caller's address as rate limits count it. IPv4 addresses are counted one by one. One
 * IPv6 caller usually owns a whole /64 network, so all of its addresses count as one.
 */
export function callerAddress({ ip }: Pick<FastifyRequest, 'ip'>): string {
  return addressOf(ip)
}

/** Texts that were read before, with their addresses: all requests of a connection have the same. */
const knownAddresses = createLruCache<string, string>(10_000)
/** Characters up to which a text is kept: enough for any address with a zone and a port. Proxies may make up longer ones. */
const maxKnownLength = 80

function addressOf(text: string): string {
  if (text.length > maxKnownLength) return readAddress(text)
  const known = knownAddresses.get(text)
  if (known !== undefined) return known
  const address = readAddress(text)
  knownAddresses.set(text, address)
  return address
}

function readAddress(text: string): string {
  if (isIP(text) === 4) return text
  // Some proxies append the port: `192.0.2.1:1234`, `[2001:db8::1]:1234`.
  const bare = /^(\d+(?:\.\d+){3}):\d+$/.exec(text)?.[1] ?? /^\[(.+)\](?::\d+)?$/.exec(text)?.[1]
  const [address = ''] = (bare ?? text).split('%', 1)
  switch (isIP(address)) {
    case 4:
      return address
    case 6:
      return ipv6Address(address)
    default:
      return unreadable
  }
}

function ipv6Address(address: string): string {
  const groups = groupsOf(address)
  const isShort = groups.slice(0, 5).every((group) => group === '0')
  if (isShort && groups[5] === 'ffff') return ipv4Address(groups.slice(6))
  if (isShort && groups.slice(5).join(':') === '0:0:1') return '::1'
  return `${groups.slice(0, groupsOfNetwork).join(':')}::/64`
}

/** The eight groups of an address, in hexadecimal without leading zeros. */
function groupsOf(address: string): string[] {
  const { hostname } = new URL(`http://[${address}]`)
  const [left = [], right = []] = hostname
    .slice(1, -1)
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''))
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0')
  return [...left, ...zeros, ...right]
}

/** The IPv4 address in the last groups of an IPv4-mapped IPv6 address. */
function ipv4Address(groups: readonly string[]): string {
  const bytes = groups.map((group) => Number.parseInt(group, 16)).flatMap((n) => [n >> 8, n & 255])
  return bytes.join('.')
}

/** Whether a network address belongs to this machine. */
export function isLoopback(address: string): boolean {
  const read = addressOf(address)
  return read === '::1' || read.startsWith('127.')
}

/**
 * Sets the address that trusted proxies forward on requests where the framework did not: it
 * creates the requests of malformed paths without it.
 */
export function createForwardedAddresses(
  trustedProxies: readonly string[],
): (request: FastifyRequest) => void {
  if (trustedProxies.length === 0) return () => {}
  const isTrusted = proxyAddress.compile([...trustedProxies])
  return (request) =>
    Object.defineProperty(request, 'ip', { value: proxyAddress(request.raw, isTrusted) })
}
