import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** Connections of callers through this proxy, which can break as those of a real network do. */
export interface TcpProxy {
  url: string
  /** Forwards nothing more in either direction, so that neither side notices anything. */
  freeze(): void
  /** Resets the connections of the callers, and forwards again what new ones send. */
  thaw(): void
}

/** Starts a proxy in front of a server, which ends with the test. */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target)
  const callers = new Set<Socket>()
  const upstreams = new Set<Socket>()
  let isFrozen = false
  const proxy = createServer((caller) => {
    callers.add(caller)
    caller.on('error', () => undefined).on('close', () => callers.delete(caller))
    if (isFrozen) {
      caller.pause()
      return
    }
    const upstream = connect(Number(port), hostname)
    upstreams.add(upstream)
    upstream
      .on('error', () => undefined)
      .on('close', () => {
        upstreams.delete(upstream)
        if (!isFrozen) caller.destroy()
      })
    caller.on('close', () => upstream.destroy())
    caller.pipe(upstream).pipe(caller)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const thaw = () => {
    isFrozen = false
    for (const caller of callers) caller.resetAndDestroy()
  }
  onTestFinished(() => {
    proxy.close()
    thaw()
  })
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    freeze() {
      isFrozen = true
      for (const socket of [...callers, ...upstreams]) socket.unpipe().pause()
    },
    thaw,
  }
}
