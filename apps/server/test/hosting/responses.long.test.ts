import { describe, expect, it, vi } from 'vitest'
import { useServer } from '../harness.js'
import { eventually } from '../jobs.js'
import { deployBot, program } from './hosted.js'

/** Code that writes to the connections of the server itself. */
const writing = (write: string) =>
  program(
    'return {}',
    `
      const { ServerResponse } = require('http')
      const { writeHead } = ServerResponse.prototype
      ServerResponse.prototype.writeHead = function (...given) {
        if (this.req.headers['x-bp-operation'] !== 'action_triggered') return writeHead.apply(this, given)
        const { socket } = this
        socket.on('error', () => {})
        const endless = (text) => {
          const bytes = Buffer.from(text.repeat(Math.ceil(65536 / text.length)))
          const more = () => { while (!socket.destroyed && socket.write(bytes)); }
          socket.on('drain', more)
          more()
        }
        this.end = () => this
        ${write}
        return this
      }
    `,
  )

const begin = `socket.write('HTTP/1.1 200 OK\\r\\n')`
const head = `socket.write('HTTP/1.1 200 OK\\r\\ntransfer-encoding: chunked\\r\\n\\r\\n')`

describe('what code writes to a connection of the server', () => {
  const server = useServer()

  // Each of them waits some seconds for the end of a program, which does not come.
  it.concurrent.each([
    ['interim responses without end', `endless('HTTP/1.1 103 Early Hints\\r\\n\\r\\n')`, /interim/],
    ['pieces of one byte', `${head}; endless('1\\r\\na\\r\\n')`, /how long/],
    ['a chunk whose length has no end', `${head}; endless('0000')`, /how long/],
    [
      'extensions of a chunk without end',
      `${head}; socket.write('1'); endless(';a=b')`,
      /how long/,
    ],
    ['a reason phrase without end', `socket.write('HTTP/1.1 200 '); endless('x')`, /head of its/],
    ['a header name without end', `${begin}; endless('x')`, /head of its/],
    [
      'spaces without end before a value',
      `${begin}; socket.write('x:'); endless(' ')`,
      /head of its/,
    ],
    [
      'zeros without end before a length',
      `${begin}; socket.write('content-length: '); endless('0')`,
      /head of its/,
    ],
    ['headers without end', `${begin}; endless('a: b\\r\\n')`, /head of its/],
    ['empty lines without end before a response', `endless('\\r\\n')`, /other than/],
    ['line feeds without end', `endless('\\n')`, /head of its/],
    [
      'a body without a length',
      `${begin}; socket.write('\\r\\n'); endless('{}')`,
      /head of its|other than/,
    ],
    ['bytes that are no response', `endless('\\0\\xff')`, /head of its/],
  ])('a response that would occupy the server is refused: %s', async (_, write, reason) => {
    const { call, redeploy } = await deployBot(server(), writing(write))
    await Promise.all([1, 2, 3, 4].map(() => expect(call()).rejects.toThrow(reason)))
    await redeploy(program('return { fine: true }'))
    expect(await call()).toEqual({ fine: true })
  })

  it.concurrent.each([
    ['empty lines', '\\r\\n'],
    ['responses', 'HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\n{}'],
    ['anything', 'x'],
  ])('what follows a response is not read: %s', async (_, text) => {
    const { call } = await deployBot(
      server(),
      program(
        'return flooded ? { written: flooded.bytesWritten, isClosed: flooded.destroyed } : {}',
        `
          const { ServerResponse } = require('http')
          const { end } = ServerResponse.prototype
          let flooded
          ServerResponse.prototype.end = function (...given) {
            const { socket } = this
            end.apply(this, given)
            if (flooded || this.req.headers['x-bp-operation'] !== 'action_triggered') return
            flooded = socket
            socket.on('error', () => {})
            const bytes = Buffer.from('${text}'.repeat(1000))
            const more = () => { while (!socket.destroyed && socket.write(bytes)); }
            socket.on('drain', more)
            more()
          }
        `,
      ),
    )
    // The response before may arrive with too much of what follows.
    await call().catch(() => {})
    await eventually(async () => expect(await call()).toMatchObject({ isClosed: true }))
    // Bytes that the system takes before anybody reads them count as written.
    expect((await call()).written).toBeLessThan(1_000_000)
  })

  it('large responses arrive whole, however many there are at a time', async () => {
    const { call } = await deployBot(
      server(),
      `exports.handler = async ({ headers, body }) => {
        if (headers['x-bp-operation'] !== 'action_triggered') return { body: '{}' }
        const { letter } = JSON.parse(body).input
        return { body: JSON.stringify({ output: { text: letter.repeat(2_000_000) } }) }
      }`,
    )
    const letters = [...'abcdefghijklmnopqrst']
    const outputs = await Promise.all(letters.map((letter) => call({ letter })))
    for (const [at, { text }] of outputs.entries()) {
      expect(text === letters[at]?.repeat(2_000_000)).toBe(true)
    }
  })

  it('responses in progress take bounded memory, and leave room to other programs', async () => {
    const other = await deployBot(
      server(),
      `exports.handler = async () => ({ body: JSON.stringify({ output: { text: 'x'.repeat(3_000_000) } }) })`,
    )
    const { call, admin, bot } = await deployBot(
      server(),
      writing(`
        socket.write('HTTP/1.1 200 OK\\r\\ncontent-length: 4000000\\r\\n\\r\\n')
        socket.write(Buffer.alloc(3_999_999, 32))
      `),
    )
    const reasons: unknown[] = []
    const calls = Array.from({ length: 30 }, async () => {
      reasons.push(await call().catch((error: unknown) => String(error)))
    })
    // Each takes up to 4 MiB of 128 MB, of which one program gets half: 16 at most wait for their last byte.
    // All programs together are read at 40 MB a second at most, and less on a busy machine.
    await vi.waitFor(() => expect(reasons.length).toBeGreaterThanOrEqual(14), { timeout: 60_000 })
    expect(reasons).toEqual(
      reasons.map(() => expect.stringContaining('exceed its share of the memory')),
    )
    expect(await other.call()).toEqual({ text: 'x'.repeat(3_000_000) })
    await admin.deleteBot({ id: bot.id })
    await Promise.all(calls)
    expect(reasons.length).toBe(30)
  })

  it('a response has a known length, whatever headers the code names', async () => {
    const { call } = await deployBot(
      server(),
      `exports.handler = async (request) => ({
        body: JSON.stringify({ output: { long: 'ü'.repeat(70000) } }),
        headers: { 'Transfer-Encoding': 'chunked', 'content-length': '1', 'x-other': 'a' },
      })`,
    )
    expect(await call()).toEqual({ long: 'ü'.repeat(70000) })
  })
})
