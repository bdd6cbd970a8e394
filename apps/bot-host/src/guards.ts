import dgram from 'node:dgram'
import dns, { type LookupAddress, lookup } from 'node:dns'
import net, { BlockList, isIP, type LookupFunction } from 'node:net'
import type { NetworkRules } from './order.js'

/**
 * Closes what Node's permission flags leave open. None of this is a sandbox: it keeps trusted code from
 * harming the server or others by mistake.
 */
export function installGuards(rules: NetworkRules | undefined): void {
  guardProcesses()
  guardListening()
  guardDatagrams()
  if (rules) {
    guardConnections(rules)
    guardNameServers()
  }
}

/** A signal could end the server or another bot, which may run as the same user. */
function guardProcesses(): void {
  const kill = process.kill
  process.kill = (pid, signal) => {
    if (pid !== process.pid) throw refusal('Signals to other processes are not available.')
    return kill(pid, signal)
  }
  for (const name of ['_kill', '_debugProcess', '_debugEnd', '_startProfilerIdleNotifier']) {
    Object.defineProperty(process, name, { value: undefined })
  }
}

/** The code is called through the server only, so it needs no listener of its own. */
function guardListening(): void {
  net.Server.prototype.listen = () => {
    throw refusal('The code cannot listen on a port or socket: it is called through the server.')
  }
}

function guardDatagrams(): void {
  const refuse = () => {
    throw refusal('UDP is not available.')
  }
  Object.assign(dgram.Socket.prototype, { bind: refuse, connect: refuse, send: refuse })
}

type Connect = (this: net.Socket, ...given: unknown[]) => net.Socket

interface ConnectOptions {
  host?: string
  port?: number | string
  path?: string | null
  lookup?: LookupFunction
}

/** With a name server of its choice, the code could send datagrams to any address. */
function guardNameServers(): void {
  const setServers = () => {
    throw refusal('Name servers cannot be chosen: those of the system are asked.')
  }
  for (const part of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype]) {
    Object.assign(part, { setServers })
  }
}

/** Connections go to permitted addresses only; names are checked as they are resolved. */
function guardConnections({ refused, permitted, api }: NetworkRules): void {
  const refusedList = listOf(refused)
  const permittedList = listOf(permitted)
  const permits = (address: string) => {
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    const bare = address.replace(/%.*$/, '')
    return permittedList.check(bare, family) || !refusedList.check(bare, family)
  }
  const connect = net.Socket.prototype.connect as Connect
  const guarded: Connect = function (...given) {
    const [options, then] = connectOptionsOf(given)
    const { host = 'localhost', port, path } = options
    // Agents of HTTP clients pass null.
    if (path) throw refusal('Local sockets are not available.')
    if (host === api.host && Number(port) === api.port) return connect.call(this, options, then)
    if (isIP(host) !== 0 && !permits(host)) {
      // As an `error` event, like every other failure to connect, so that the code handles it in one place.
      process.nextTick(() => this.destroy(unreachable(host)))
      return this
    }
    const lookup = guardedLookup(permits, options.lookup)
    return connect.call(this, { ...options, lookup }, then)
  }
  net.Socket.prototype.connect = guarded
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
      const [first] = usable
      if (first === undefined) return callback(unreachable(hostname), [])
      if (options.all) callback(null, usable)
      else callback(null, first.address, first.family)
    })
  }
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const isV4 = isIP(address) === 4
    list.addSubnet(address, Number(bits ?? (isV4 ? 32 : 128)), isV4 ? 'ipv4' : 'ipv6')
  }
  return list
}

function unreachable(host: string): NodeJS.ErrnoException {
  return Object.assign(
    new Error(
      `${host} is not a public address, and code on this server may not connect to it: its network is not in BOTSTEAD_ALLOWED_NETWORKS.`,
    ),
    { code: 'EACCES' },
  )
}

function refusal(message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code: 'ERR_ACCESS_DENIED' })
}
