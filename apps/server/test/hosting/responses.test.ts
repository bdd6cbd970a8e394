import { describe, expect, it } from 'vitest'
import { useServer } from '../harness.js'
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

const head = `socket.write('HTTP/1.1 200 OK\\r\\ntransfer-encoding: chunked\\r\\n\\r\\n')`

describe('what code writes to a connection of the server', () => {
  const server = useServer()

  it.each([
    ['interim responses without end', `endless('HTTP/1.1 103 Early Hints\\r\\n\\r\\n')`, /interim/],
    ['pieces of one byte', `${head}; endless('1\\r\\na\\r\\n')`, /how long/],
    ['a chunk whose length has no end', `${head}; endless('0000')`, /how long/],
    [
      'extensions of a chunk without end',
      `${head}; socket.write('1'); endless(';a=b')`,
      /how long/,
    ],
  ])('a response that would occupy the server is refused: %s', async (_, write, reason) => {
    const { call, redeploy } = await deployBot(server(), writing(write))
    await Promise.all([1, 2, 3, 4].map(() => expect(call()).rejects.toThrow(reason)))
    await redeploy(program('return { fine: true }'))
    expect(await call()).toEqual({ fine: true })
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
