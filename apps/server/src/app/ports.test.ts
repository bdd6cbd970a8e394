import { describe, expect, it } from 'vitest'
import { sqliteEngine } from '../../test/engines.js'
import { startTestServer } from '../../test/harness.js'
import { createPorts, type Ports } from '../domain/ports.js'

/** Ports of a server, one of which nobody fills. */
function portsWithout(left?: string): Ports & { names: readonly string[] } {
  const ports = createPorts()
  const names: string[] = []
  return {
    names,
    open(name) {
      names.push(name)
      const port = ports.open<never>(name)
      return name === left ? { ...port, fill: () => {} } : port
    },
    requireFilled: ports.requireFilled,
  }
}

/** The names of the ports of a server that starts. */
async function start(ports: Ports & { names: readonly string[] }): Promise<readonly string[]> {
  const server = await startTestServer(sqliteEngine, {}, undefined, { ports })
  await server.close()
  return ports.names
}

describe('what slices need of those that are built after them', () => {
  it('is there: a server does not start without any of it, and names it', async () => {
    const names = await start(portsWithout())
    expect(names.length).toBeGreaterThan(10)
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) {
      await expect(start(portsWithout(name)), name).rejects.toThrow(name)
    }
  })

  it('cannot be called before it is there, nor be given twice', () => {
    const port = createPorts().open<() => number>('numbers: the next one')
    expect(() => port.call()).toThrow('The port "numbers: the next one" is open')
    port.fill(() => 1)
    expect(port.call()).toBe(1)
    expect(() => port.fill(() => 2)).toThrow('filled already')
  })
})
