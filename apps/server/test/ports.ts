import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

// A port that was free a moment ago may be in use when a test listens on it: by another test, by
// another run of the tests, or by any outgoing connection, if the port is in the range that the system
// assigns to those. So each process has a block of ports of its own, below that range, and returns
// none of them twice.

/** The range of all blocks, and the ports in each. Linux assigns ports from 32768 to connections. */
const range = { begin: 10_000, end: 32_000, block: 100 }

interface Block {
  /** Listens on the first port of the block as long as this process lives: the block is taken. */
  guard: Server
  next: number
  end: number
}

let block: Promise<Block> | undefined

/** Returns a free port, which stays reserved for the caller even after the caller closes it. */
export async function freePort(): Promise<number> {
  for (;;) {
    block ??= takeBlock()
    const current = block
    const own = await current
    if (own.next === own.end) {
      if (block === current) block = undefined
      continue
    }
    const port = own.next
    own.next += 1
    const probe = await listen(port)
    if (probe === undefined) continue
    probe.close()
    await once(probe, 'close')
    return port
  }
}

async function takeBlock(): Promise<Block> {
  const blocks = (range.end - range.begin) / range.block
  // Each process begins at another block, so that they do not all try the same ones.
  for (let tried = 0; tried < blocks; tried++) {
    const begin = range.begin + ((process.pid + tried) % blocks) * range.block
    const guard = await listen(begin)
    if (guard) return { guard: guard.unref(), next: begin + 1, end: begin + range.block }
  }
  throw new Error('All blocks of ports are taken')
}

/** Listens on a port; returns undefined if it is taken. */
async function listen(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return server
  } catch {
    return undefined
  }
}
