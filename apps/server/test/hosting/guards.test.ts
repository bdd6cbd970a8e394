import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { useServer } from '../harness.js'
import { deployBot, program } from './hosted.js'

// Everything that deployed code must not do, by the permissions of Node or by the guards of the host program, with public
// functions and with the handles below them. `major` is the version of Node.

/** The value that handles return instead of throwing. */
const refusedByHandle = -13

/** The beginning of the code, before every attempt. */
const tools = `
  const net = require('net'), os = require('os'), dns = require('dns'), dgram = require('dgram'), childProcess = require('child_process')
  const [major] = process.versions.node.split('.').map(Number)
  /** The handle of a socket that is about to connect. */
  const handleOf = (options) => {
    const socket = new net.Socket().on('error', () => {})
    socket.connect(options)
    const handle = socket._handle
    socket.destroy()
    return handle
  }
  const tcp = () => new (handleOf({ host: '1.1.1.1', port: 9 }).constructor)(0)
  const pipe = () => new (process.stdin._handle?.constructor ?? Object)(0)
  const udp = () => {
    const socket = dgram.createSocket('udp4')
    const state = Object.getOwnPropertySymbols(socket).map((key) => socket[key]).find((part) => part?.handle)
    return state.handle
  }
  /** A request for a connection, which Node shows to hooks. */
  const requestOf = (kind) => new Promise((resolve) => {
    const hook = require('async_hooks').createHook({
      init: (id, type, trigger, resource) => { if (type === kind) resolve(new resource.constructor()) },
    }).enable()
    const { hostname, port } = new URL(process.env.BP_API_URL)
    net.connect(port, hostname).on('error', () => {}).once('connect', function () { this.destroy(); hook.disable() })
  })
  /** Runs something while a method that the guards could call is another one. */
  const during = (object, name, value, run) => {
    const own = object[name]
    object[name] = value
    try { return run() } finally { object[name] = own }
  }
  const outcome = (connecting) => new Promise((resolve, reject) =>
    connecting.once('connect', () => resolve('connected')).once('error', reject))
`

/** Attempts that are refused: code, and how. */
const refused: Record<string, readonly [attempt: string, how?: unknown]> = {
  'reading a file': [`require('fs').readFileSync('/etc/passwd')`],
  'reading the environment of the server': [
    `require('fs').readFileSync('/proc/' + process.ppid + '/environ')`,
  ],
  'writing a file': [`require('fs').writeFileSync('x', 'y')`],
  'a report of Node in a file': [`process.report.writeReport('x')`],
  'a report of Node in a file when the memory is used up': [
    `process.report.reportOnFatalError = true; return process.report.reportOnFatalError ? 'set' : 'not set'`,
    'not set',
  ],
  'a trace of V8 in a file': [`require('v8').setFlagsFromString('--trace-turbo-cfg-file=/tmp/x')`],
  'an imported trace of V8 in a file': [
    `(await import('node:v8')).setFlagsFromString('--trace-turbo')`,
  ],
  'a trace of events in a file': [
    `require('trace_events').createTracing({ categories: ['v8'] }).enable()`,
  ],
  'an imported trace of events in a file': [
    `(await import('node:trace_events')).createTracing({ categories: ['v8'] }).enable()`,
  ],
  'a module of Node that opens databases': [
    // Older versions do not have the module.
    `if (major < 22) return 'ERR_UNKNOWN_BUILTIN_MODULE'; new (require('node:sqlite').DatabaseSync)(database)`,
    'ERR_UNKNOWN_BUILTIN_MODULE',
  ],
  'databases, as Node gives its modules to anybody': [
    `const sqlite = process.getBuiltinModule?.('node:sqlite'); if (sqlite) new sqlite.DatabaseSync(database); return 'none'`,
    'none',
  ],
  'importing databases': [
    `const sqlite = await import('node:sqlite'); new sqlite.DatabaseSync(database)`,
    'ERR_UNKNOWN_BUILTIN_MODULE',
  ],
  'native code': [
    `process.dlopen({ exports: {} }, '/tmp/x.node')`,
    expect.stringMatching(/^ERR_(DLOPEN_DISABLED|ACCESS_DENIED)$/),
  ],
  'functions of libraries': [
    `try { require('node:ffi') } catch { return 'ERR_ACCESS_DENIED' }; require('node:ffi').dlopen('libc.so.6', {})`,
  ],
  'starting a process': [`childProcess.execSync('id')`],
  'replacing the process': [
    `if (!process.execve) return 'ERR_ACCESS_DENIED'; process.execve('/bin/true', [], {})`,
  ],
  'a thread': [`new (require('worker_threads').Worker)('1', { eval: true })`],
  'hooks of modules, which run in a thread': [
    `if (!require('module').register) return 'ERR_ACCESS_DENIED'; require('module').register('data:text/javascript,')`,
  ],
  'WASI with files': [
    `new (require('wasi').WASI)({ version: 'preview1', preopens: { '/': '/' } })`,
  ],
  'bindings of Node': [`process.binding('tcp_wrap')`],
  'a debugger': [`require('inspector').open(0, '127.0.0.1')`],
  'a session of a debugger': [`new (require('inspector').Session)().connect()`],
  'a debugger in another process': [`process._debugProcess(process.ppid)`, 'TypeError'],

  'a signal to the server': [`process.kill(process.ppid, 0)`],
  'a signal to the group': [`process.kill(0, 0)`],
  'a signal to the group of the server': [`process.kill(-process.ppid, 0)`],
  'a signal to a process by text': [`process.kill(String(process.ppid), 0)`],
  'a signal below the public function': [`process._kill(process.ppid, 0)`],
  'a signal with a process id of its own': [
    `Object.defineProperty(process, 'pid', { value: process.ppid }); process.kill(process.pid, 0)`,
  ],
  'a signal of a child that was not started': [`new childProcess.ChildProcess()._handle.kill(0)`],
  'a signal of a child that was not started, with replaced methods of sets': [
    `const { _handle } = new childProcess.ChildProcess(); during(WeakSet.prototype, 'has', () => true, () => _handle.kill(0))`,
  ],
  'a signal to the server with a replaced conversion': [
    `const { pid, ppid } = process; during(globalThis, 'Number', () => pid, () => process._kill(ppid, 0))`,
  ],
  'a debugger by a signal to itself': [
    `process.kill(process.pid, 'SIGUSR1'); await new Promise((resolve) => setTimeout(resolve, 100)); return require('inspector').url() ?? 'none'`,
    expect.stringMatching(/^(none|ERR_ACCESS_DENIED)$/),
  ],
  'a priority of the server': [`os.setPriority(process.ppid, 19)`],
  'an imported priority': [`(await import('node:os')).setPriority(process.ppid, 19)`],

  'listening on a port': [`net.createServer().listen(0)`],
  'listening with HTTP': [`require('http').createServer().listen(0)`],
  'listening with HTTP/2': [`require('http2').createServer().listen(0)`],
  'listening with TLS': [`require('tls').createServer().listen(0)`],
  'listening on a path': [`net.createServer().listen('/tmp/s')`],
  'listening on a descriptor': [`net.createServer().listen({ fd: 0 })`],
  'listening below the public function': [
    `const server = net.createServer(); server._listen2('127.0.0.1', 0, 4); return await new Promise((resolve) => server.once('error', ({ code }) => resolve(code)).once('listening', () => resolve('listens')))`,
  ],
  'listening with a handle': [
    `const handle = tcp(); handle.bind('127.0.0.1', 0); handle.listen(1)`,
  ],
  'listening with a handle of a path': [`pipe().bind('/tmp/s')`],
  'a method that is put back': [
    `const prototype = Object.getPrototypeOf(tcp()); delete prototype.listen; tcp().listen(1)`,
  ],

  'a datagram': [`dgram.createSocket('udp4').send('x', 53, '127.0.0.1')`],
  'a socket of datagrams': [`dgram.createSocket('udp4').bind(0)`],
  'a connected socket of datagrams': [`dgram.createSocket('udp6').connect(53, '::1')`],
  'binding a handle of datagrams': [`udp().bind('127.0.0.1', 0, 0)`],
  'sending with a handle of datagrams': [
    `udp().send({}, [Buffer.from('x')], 1, 53, '127.0.0.1', false)`,
  ],
  'connecting a handle of datagrams': [`udp().connect('127.0.0.1', 53)`],
  'making a handle of datagrams': [
    `if (!dgram._createSocketHandle) return 'ERR_ACCESS_DENIED'; dgram._createSocketHandle('127.0.0.1', 0, 'udp4', undefined, 0)`,
  ],

  'a private address': [`return await outcome(net.connect(80, '10.0.0.1'))`, 'EACCES'],
  'a port of this machine': [`return await outcome(net.connect(9, '127.0.0.1'))`, 'EACCES'],
  'a private address in IPv6': [`return await outcome(net.connect(80, 'fd00::1'))`, 'EACCES'],
  'a private address within IPv6': [
    `return await outcome(net.connect(80, '::ffff:10.0.0.1'))`,
    'EACCES',
  ],
  'a private address by HTTP': [
    `return await fetch('http://169.254.169.254/').catch(({ cause }) => cause.code)`,
    'EACCES',
  ],
  'a private address by TLS': [
    `return await outcome(require('tls').connect(443, '192.168.0.1'))`,
    'EACCES',
  ],
  'a private address by a name': [
    `return await outcome(net.connect({ host: 'somewhere', port: 80, lookup: (host, options, done) => options.all ? done(null, [{ address: '10.1.2.3', family: 4 }]) : done(null, '10.1.2.3', 4) }))`,
    'EACCES',
  ],
  'a private address by a changed list': [
    `net.BlockList.prototype.check = () => false; return await outcome(net.connect(80, '10.0.0.1'))`,
    'EACCES',
  ],
  'a private address by a changed list below the public one': [
    `const list = new net.BlockList()
     const part = Object.getOwnPropertySymbols(list).map((key) => list[key]).find((value) => value?.check)
     const request = await requestOf('TCPCONNECTWRAP')
     return during(Object.getPrototypeOf(part), 'check', () => false, () => tcp().connect(request, '10.0.0.1', 80))`,
    refusedByHandle,
  ],
  'a private address by replaced methods of texts': [
    `const request = await requestOf('TCPCONNECTWRAP'), handle = tcp()
     return during(String.prototype, 'replace', () => '1.1.1.1', () => handle.connect(request, '10.0.0.1', 80))`,
    refusedByHandle,
  ],
  'a private address by a replaced conversion': [
    `const request = await requestOf('TCPCONNECTWRAP'), handle = tcp()
     return during(globalThis, 'String', () => '1.1.1.1', () => handle.connect(request, '10.0.0.1', 80))`,
    refusedByHandle,
  ],
  'a private address by replaced codes of characters': [
    `const request = await requestOf('TCPCONNECTWRAP'), handle = tcp()
     return during(String.prototype, 'charCodeAt', () => 49, () => handle.connect(request, '10.0.0.1', 80))`,
    refusedByHandle,
  ],
  'a private address by replaced iterators': [
    `const request = await requestOf('TCPCONNECTWRAP'), handle = tcp()
     return during(Array.prototype, Symbol.iterator, function* () {}, () => handle.connect(request, '10.0.0.1', 80))`,
    refusedByHandle,
  ],
  'the port of the server at another address, by replaced methods of sets': [
    `const request = await requestOf('TCPCONNECTWRAP'), handle = tcp()
     const { port } = new URL(process.env.BP_API_URL)
     return during(Set.prototype, 'has', () => true, () => handle.connect(request, '10.0.0.1', Number(port)))`,
    refusedByHandle,
  ],
  'a private address with a handle': [
    `return tcp().connect(await requestOf('TCPCONNECTWRAP'), '10.0.0.1', 80)`,
    refusedByHandle,
  ],
  'a private address with a handle of IPv6': [
    `return tcp().connect6(await requestOf('TCPCONNECTWRAP'), 'fd00::1', 80)`,
    refusedByHandle,
  ],
  'an address that is none, with a handle': [
    `return tcp().connect(await requestOf('TCPCONNECTWRAP'), 'localhost', 80)`,
    refusedByHandle,
  ],
  'the port of the server at another address': [
    `const { hostname: host, port } = new URL(process.env.BP_API_URL)
     return await outcome(net.connect({ host: host === '127.0.0.1' ? '127.0.0.2' : '127.0.0.1', port }))`,
    'EACCES',
  ],
  'a local socket': [`net.connect('/tmp/s')`],
  'a local socket with HTTP': [
    `require('http').get({ socketPath: '/tmp/s' }).on('error', () => {})`,
  ],
  'a local socket with a handle': [`pipe().connect({}, '/tmp/s')`],
  'name servers': [`dns.setServers(['127.0.0.1'])`],
  'name servers of promises': [`dns.promises.setServers(['127.0.0.1'])`],
  'imported name servers': [`(await import('node:dns')).setServers(['127.0.0.1'])`],
  'imported name servers of promises': [
    `(await import('node:dns/promises')).setServers(['127.0.0.1'])`,
  ],
  'name servers of a resolver': [`new dns.Resolver().setServers(['127.0.0.1'])`],
  'name servers of a resolver of promises': [
    `new dns.promises.Resolver().setServers(['127.0.0.1'])`,
  ],
  'name servers with a handle': [`new dns.Resolver()._handle.setServers([[4, '127.0.0.1', 53]])`],
}

/** Calls that the code may make, with their results. */
const permitted: Record<string, readonly [attempt: string, result: unknown]> = {
  'a signal to itself': [`return process.kill(process.pid, 0)`, true],
  'a signal to itself that it handles': [
    `const heard = new Promise((resolve) => process.once('SIGUSR2', () => resolve('heard'))); process.kill(process.pid, 'SIGUSR2'); return await heard`,
    'heard',
  ],
  'a lower priority of its own': [
    `os.setPriority(19); const first = os.getPriority(); os.setPriority(process.pid, 19); return [first, os.getPriority()]`,
    [19, 19],
  ],
  'calling the server': [`return (await fetch(process.env.BP_API_URL + '/healthz')).status`, 200],
  'connecting to the server': [
    `const { hostname, port } = new URL(process.env.BP_API_URL); return await outcome(net.connect(Number(port), hostname))`,
    'connected',
  ],
  'a report of Node': [`return typeof process.report.getReport()`, 'object'],
  'the collection of garbage': [
    `require('v8').setFlagsFromString('--expose-gc'); return typeof require('vm').runInNewContext('gc')`,
    'function',
  ],
  'random numbers, hashes and compression': [
    `require('crypto').randomUUID(); return require('zlib').gunzipSync(require('zlib').gzipSync('x')).toString()`,
    'x',
  ],
}

interface Tried {
  [name: string]: unknown
}

describe('the code of a bot', () => {
  // A server for all networks, so that addresses of its own machine are refused.
  const server = useServer(undefined, { HOST: '0.0.0.0', BOTSTEAD_HOSTING: 'trusted' })
  let tried: Tried = {}
  beforeAll(async () => {
    const attempts = [...Object.entries(permitted), ...Object.entries(refused)]
    const functions = attempts.map(
      ([name, [attempt]]) => `[${JSON.stringify(name)}]: async () => { ${attempt}\n }`,
    )
    const { call } = await deployBot(
      server(),
      program(`
        const { database } = input
        ${tools}
        const tried = {}
        for (const [name, attempt] of Object.entries({ ${functions.join(',\n')} })) {
          tried[name] = await attempt().then((value) => value ?? 'done', (error) => error.code ?? error.name)
        }
        return tried
      `),
    )
    tried = await call({ database: join(server().server.config.dataDir, 'botstead.db') })
  })

  it.each(Object.keys(permitted))('may do this: %s', (name) => {
    expect(tried[name]).toEqual(permitted[name]?.[1])
  })

  it.each(Object.keys(refused))('cannot do this: %s', (name) => {
    const [, how = 'ERR_ACCESS_DENIED'] = refused[name] ?? []
    expect(tried[name]).toEqual(how)
  })

  it('code runs in the version of Node of the server', async () => {
    const { call } = await deployBot(server(), program('return { version: process.version }'))
    const { stdout } = await promisify(execFile)(process.execPath, ['--version'])
    expect(await call()).toEqual({ version: stdout.trim() })
  })
})
