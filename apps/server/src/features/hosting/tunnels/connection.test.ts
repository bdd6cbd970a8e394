import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { useServer } from '../../../../test/harness.js'
import { eventually } from '../../../../test/jobs.js'
import { installAt, openTunnel, output } from '../../../../test/tunnel-tool.js'

/** The bytes of a text as a program sends it, with a mask that changes nothing. */
function frameOf(text: string): Buffer {
  const length = Buffer.alloc(8)
  length.writeBigUInt64BE(BigInt(Buffer.byteLength(text)))
  return Buffer.concat([Buffer.from([0x81, 0xff]), length, Buffer.alloc(4), Buffer.from(text)])
}

describe('the connection of a tunnel', () => {
  const server = useServer()

  it('survives a large response to a call that was given up', async () => {
    using tool = await openTunnel(server())
    const { act } = await installAt(server(), tool.url, {}, { maxExecutionTime: 1 })
    await expect(act()).rejects.toThrow(/No answer within 1000 ms/)
    const [late] = tool.calls
    late?.respond(output({ text: 'x'.repeat(1_000_000) }))
    const next = act({ n: 2 })
    const call = await eventually(() => {
      const [, second] = tool.calls
      expect(second).toBeDefined()
      return second
    })
    call?.respond(output({ n: 2 }))
    expect(await next).toEqual({ n: 2 })
  })

  it('counts as alive while a long response arrives, which delays pongs', async () => {
    using tool = await openTunnel(server(), { autoPong: false })
    const { act } = await installAt(server(), tool.url)
    const waiting = act()
    waiting.catch(() => {})
    await eventually(() => expect(tool.calls).toHaveLength(1))
    const { _socket: socket } = tool.socket as unknown as { _socket: NodeJS.WritableStream }
    const response = { requestId: tool.calls[0]?.id, status: 200, ...output({ done: true }) }
    const bytes = frameOf(JSON.stringify(response))
    for (let at = 0; at < 5; at++) {
      socket.write(bytes.subarray(at * 5, (at + 1) * 5))
      // The server has read what came before another request.
      await server().fetch('/readyz')
      const asked = Promise.race([once(tool.socket, 'ping'), tool.closed])
      server().clock.advance(20_000)
      await asked
    }
    socket.write(bytes.subarray(25))
    expect(await waiting).toEqual({ done: true })
  })
})
