import { ChildProcess } from 'node:child_process'
import dgram from 'node:dgram'
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import os from 'node:os'
import traceEvents from 'node:trace_events'
import v8 from 'node:v8'
import { guardConnections } from './connections.js'
import {
  handlePrototypeOf,
  pipePrototype,
  refusal,
  replaceForGood,
  tcpPrototype,
} from './handles.js'
import type { NetworkRules } from './order.js'
import { reportSignal } from './reports.js'

// As they are before the code can replace them.
const { apply } = Reflect
const { listenerCount } = process
const { add, has } = WeakSet.prototype
const toNumber = Number
/** Signals that the server expects from others, such as whoever stops it with all of its processes. */
const signalsOfOthers = (['SIGHUP', 'SIGINT', 'SIGTERM'] as const).map((name) => ({
  name,
  number: os.constants.signals[name],
}))

/**
 * Closes what Node's permission flags leave open, for public functions and for the handles below them,
 * which objects of the public classes refer to. None of this is a sandbox: it keeps trusted code from
 * harming the server or others by mistake.
 */
export function installGuards(rules: NetworkRules | undefined): void {
  const [tcp, pipe] = [tcpPrototype(), pipePrototype()]
  guardProcesses()
  guardFiles()
  guardListening(tcp, pipe)
  guardDatagrams()
  if (rules) {
    guardConnections(rules, tcp, pipe)
    guardNameServers()
  }
  // `import` of a module of Node returns copies of its functions, which must follow.
  syncBuiltinESMExports()
}

/** A signal or a priority could stop the server or another bot, which may run as the same user. */
function guardProcesses(): void {
  const { pid: own } = process
  replaceForGood(process, ['_kill'], (kill) => (pid, signal) => {
    if (toNumber(pid) !== own) throw refusal('Signals to other processes are not available.')
    const ending = signalsOfOthers.find(({ number }) => number === signal)
    const isHeard = ending && apply(listenerCount, process, [ending.name]) > 0
    if (ending && !isHeard) reportSignal(ending.name)
    return apply(kill, process, [own, signal])
  })
  const debugging = ['_debugProcess', '_debugEnd', '_startProfilerIdleNotifier']
  replaceForGood(process, debugging, () => undefined)
  guardChildren()
  const { setPriority } = os
  os.setPriority = (...given: [number, number?]) => {
    const [pid, priority = pid] = given
    if (given.length > 1 && pid !== 0 && pid !== own) {
      throw refusal('Priorities of other processes are not available.')
    }
    setPriority(own, priority)
  }
}

/**
 * Reports and traces of Node and V8 empty and write files, whatever the permissions are: a report when the memory is
 * used up, the others at once.
 */
function guardFiles(): void {
  const { report } = process
  const getReport = (...given: [Error?]) => report.getReport(...given)
  const writeReport = () => {
    throw refusal('Reports of Node are not written into files.')
  }
  const value = Object.freeze({ getReport, writeReport })
  Object.defineProperty(process, 'report', { value, enumerable: true, configurable: false })
  traceEvents.createTracing = () => {
    throw refusal('Traces are not written into files.')
  }
  const { setFlagsFromString } = v8
  v8.setFlagsFromString = (flags) => {
    if (flags !== '--expose-gc' && flags !== '--expose_gc') {
      throw refusal('Flags of V8 are not available, except for --expose-gc.')
    }
    setFlagsFromString(flags)
  }
}

/** The handle of a child that was never started sends its signals to the group of this process, with the server in it. */
function guardChildren(): void {
  const prototype = handlePrototypeOf(new ChildProcess())
  const started = new WeakSet<object>()
  replaceForGood(prototype, ['spawn'], (spawn) => {
    return function (...given) {
      const failure = apply(spawn, this, given)
      if (failure === 0) apply(add, started, [this])
      return failure
    }
  })
  replaceForGood(prototype, ['kill'], (kill) => {
    return function (signal) {
      if (!apply(has, started, [this]))
        throw refusal('Signals to other processes are not available.')
      return apply(kill, this, [signal])
    }
  })
}

/** The code is called through the server only, so it needs no listener of its own. */
function guardListening(tcp: object, pipe: object): void {
  const refuse = () => {
    throw refusal('The code cannot listen on a port or socket: it is called through the server.')
  }
  net.Server.prototype.listen = refuse
  replaceForGood(tcp, ['listen'], () => refuse)
  replaceForGood(pipe, ['listen', 'bind'], () => refuse)
}

function guardDatagrams(): void {
  const refuse = () => {
    throw refusal('UDP is not available.')
  }
  const socket = dgram.createSocket('udp4')
  const state = Object.getOwnPropertySymbols(socket).map((key) => Reflect.get(socket, key))
  const prototype = handlePrototypeOf({ _handle: state.find((part) => part?.handle)?.handle })
  socket.close()
  Object.assign(dgram.Socket.prototype, { bind: refuse, connect: refuse, send: refuse })
  const calls = ['open', 'bind', 'bind6', 'connect', 'connect6', 'send', 'send6']
  replaceForGood(prototype, calls, () => refuse)
}

/** With a name server of its choice, the code could send datagrams to any address. */
function guardNameServers(): void {
  const setServers = () => {
    throw refusal('Name servers cannot be chosen: those of the system are asked.')
  }
  for (const part of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype]) {
    Object.assign(part, { setServers })
  }
  replaceForGood(handlePrototypeOf(new dns.Resolver()), ['setServers'], () => setServers)
}
