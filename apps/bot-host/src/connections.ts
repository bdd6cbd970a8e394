import dns, { type LookupAddress, type LookupOptions } from 'node:dns'
import net, { type LookupFunction } from 'node:net'
import { constants } from 'node:os'
import { isInSome, readAddress, readNetworks } from './addresses.js'
import { refusal, replaceForGood } from './handles.js'
import type { NetworkRules } from './order.js'

// As they are before the code can replace them.
const { isIP } = net
const { lookup } = dns
const toNumber = Number
const { apply } = Reflect

/** The value that a handle returns for `EACCES`. */
const accessDenied = -constants.errno.EACCES

type Connect = (this: net.Socket, ...given: unknown[]) => net.Socket

interface KnownAddress {
  address: string
  before: KnownAddress | undefined
}

interface ConnectOptions {
  host?: string
  port?: number | string
  path?: string | null
  lookup?: LookupFunction
}

/** Connections go to permitted addresses only; names are checked as they are resolved. */
export function guardConnections(
  { refused, permitted, api }: NetworkRules,
  tcp: object,
  pipe: object,
): void {
  const refusedNetworks = readNetworks(refused)
  const permittedNetworks = readNetworks(permitted)
  const permits = (text: string) => {
    const address = readAddress(text)
    if (address === undefined) return false
    return isInSome(address, permittedNetworks) || !isInSome(address, refusedNetworks)
  }
  /** Addresses of the server's interface. */
  let ofApi: KnownAddress | undefined = { address: api.host, before: undefined }
  const isOfApi = (address: string) => {
    for (let known = ofApi; known !== undefined; known = known.before) {
      if (known.address === address) return true
    }
    return false
  }
  // Whatever name it is asked for: the code may have got hold of it.
  const lookupApi: LookupFunction = (_, options, callback) =>
    lookup(api.host, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, [])
      for (let index = 0; index < found.length; index++) {
        const address = found[index]?.address
        if (address !== undefined && !isOfApi(address)) ofApi = { address, before: ofApi }
      }
      pass(found, options, callback)
    })

  const connect = net.Socket.prototype.connect as Connect
  const guarded: Connect = function (...given) {
    const [options, then] = connectOptionsOf(given)
    const { host = 'localhost', port, path } = options
    // Agents of HTTP clients pass null.
    if (path) throw refusal('Local sockets are not available.')
    if (host === api.host && Number(port) === api.port) {
      return apply(connect, this, [{ ...options, lookup: lookupApi }, then])
    }
    if (isIP(host) !== 0 && !permits(host)) {
      // As an `error` event, like every other failure to connect, so that the code handles it in one place.
      process.nextTick(() => this.destroy(unreachable(host)))
      return this
    }
    const lookup = guardedLookup(permits, options.lookup)
    return apply(connect, this, [{ ...options, lookup }, then])
  }
  net.Socket.prototype.connect = guarded
  const permitsPort = (address: string, port: number) =>
    permits(address) || (port === api.port && isOfApi(address))
  guardHandles(permitsPort, tcp, pipe)
}

/** Guards the handles, through which every connection is opened in the end. */
function guardHandles(
  permits: (address: string, port: number) => boolean,
  tcp: object,
  pipe: object,
): void {
  replaceForGood(tcp, ['connect', 'connect6'], (connect) => {
    return function (request, givenAddress, givenPort) {
      const address = `${givenAddress}`
      const port = toNumber(givenPort)
      if (isIP(address) === 0 || !permits(address, port)) return accessDenied
      return apply(connect, this, [request, address, port])
    }
  })
  replaceForGood(pipe, ['connect'], () => () => {
    throw refusal('Local sockets are not available.')
  })
}

/** The arguments of `connect` in one form: options, or a path, or a port with or without a host. */
function connectOptionsOf(given: unknown[]): [options: ConnectOptions, then: unknown] {
  // Node itself passes the arguments as an array that it has already put into this form.
  const [first, ...rest] = Array.isArray(given[0]) ? given[0] : given
  const then = rest.findLast((value) => typeof value === 'function')
  if (typeof first === 'object' && first !== null) return [first, then]
  if (typeof first === 'string' && !/^\d+$/.test(first)) return [{ path: first }, then]
  const [host] = rest
  return [{ port: Number(first), ...(typeof host === 'string' && { host }) }, then]
}

function guardedLookup(
  permits: (address: string) => boolean,
  resolve: LookupFunction = lookup as LookupFunction,
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, [])
      const addresses: LookupAddress[] = Array.isArray(found)
        ? found
        : [{ address: found, family: isIP(found) }]
      const usable = addresses.filter(({ address }) => permits(address))
      if (usable.length === 0) return callback(unreachable(hostname), [])
      pass(usable, options, callback)
    })
  }
}

/** Passes addresses on in the form that was asked for. */
function pass(
  found: readonly LookupAddress[],
  options: LookupOptions,
  callback: Parameters<LookupFunction>[2],
): void {
  const [first] = found
  if (options.all || first === undefined) callback(null, [...found])
  else callback(null, first.address, first.family)
}

function unreachable(host: string): NodeJS.ErrnoException {
  return Object.assign(
    new Error(
      `${host} is not a public address, and code on this server may not connect to it: its network is not in BOTSTEAD_ALLOWED_NETWORKS.`,
    ),
    { code: 'EACCES' },
  )
}
