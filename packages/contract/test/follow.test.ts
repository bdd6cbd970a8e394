import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { followConversation, type Signal } from '../src/index.js'

/** Responds to a connection that continues after a number, or begins with 0. */
type Respond = (response: ServerResponse, after: number) => void

/** A server that responds to each connection as the script says, and keeps the requested URLs. */
async function startScript(script: Respond[]) {
  const requested: string[] = []
  const server = createServer((request, response) => {
    const { url = '' } = request
    requested.push(url)
    const respond = script.shift()
    if (respond === undefined) response.destroy()
    else respond(response, Number(new URL(url, 'http://server').searchParams.get('lastEventId')))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return { requested, baseUrl: `http://127.0.0.1:${port}/` }
}

const frame = (sequence: number | undefined, text: string) =>
  `${sequence === undefined ? '' : `id: ${sequence}\n`}event: message\ndata: ${JSON.stringify({
    type: 'message_deleted',
    data: { id: text },
  })}\n\n`

const stream = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'text/event-stream' })

const options = {
  webhookId: 'w',
  userKey: 'k',
  conversationId: 'a/b',
  pauses: { first: 1, max: 4 },
}

async function collect(
  signals: AsyncIterable<Signal>,
  count: number,
  received: string[] = [],
): Promise<string[]> {
  for await (const { data, sequence } of signals) {
    received.push(`${sequence} ${'id' in data ? data.id : ''}`)
    if (received.length === count) break
  }
  return received
}

describe('following a conversation', () => {
  it('continues after the last number when a connection breaks', async () => {
    const received: string[] = []
    const { requested, baseUrl } = await startScript([
      (response) => {
        const bytes = Buffer.from(`${frame(4, 'füür')}data: ping\n\n${frame(5, 'two')}`)
        // In the middle of a character, and of a frame.
        stream(response).write(bytes.subarray(0, 63))
        setTimeout(() => response.end(bytes.subarray(63)), 5)
      },
      (response) => response.writeHead(503).end('down'),
      (response) => response.destroy(),
      async (response) => {
        stream(response).write(`${frame(undefined, 'aside')}${frame(6, 'three')}id: 7\nda`)
        await vi.waitUntil(() => received.includes('6 three'))
        response.destroy()
      },
      (response) => stream(response).write(frame(7, 'four')),
    ])
    const states: string[] = []
    const signals = followConversation({
      ...options,
      baseUrl,
      after: 3,
      onConnection: (state) => states.push(state),
    })
    expect(await collect(signals, 5, received)).toEqual([
      '4 füür',
      '5 two',
      'undefined aside',
      '6 three',
      '7 four',
    ])
    const path = '/chat/w/conversations/a%2Fb/listen?lastEventId='
    expect(requested).toEqual([3, 5, 5, 5, 6].map((last) => path + last))
    expect(states).toEqual(['open', 'broken', 'broken', 'broken', 'open', 'broken', 'open'])
  })

  it('reconnects when a connection is silent', async () => {
    const sendNext: Respond = (response, after) =>
      stream(response).write(frame(after + 1, 'number'))
    // On a busy machine even the first data may come too late, and it connects once more.
    const { baseUrl } = await startScript(Array(1000).fill(sendNext))
    expect(await collect(followConversation({ ...options, baseUrl, silence: 30 }), 2)).toEqual([
      '1 number',
      '2 number',
    ])
  })

  it('throws the error of a refusal, and ends when its signal is aborted', async () => {
    const body = { id: 'x', code: 403, type: 'Forbidden', message: 'no part' }
    const { baseUrl } = await startScript([
      (response) => response.writeHead(403).end(JSON.stringify(body)),
      (response) => stream(response).write(frame(1, 'one')),
    ])
    await expect(collect(followConversation({ ...options, baseUrl }), 1)).rejects.toMatchObject({
      type: 'Forbidden',
      message: 'no part',
    })
    const controller = new AbortController()
    const received: Signal[] = []
    for await (const signal of followConversation({
      ...options,
      baseUrl,
      signal: controller.signal,
    })) {
      received.push(signal)
      controller.abort()
    }
    expect(received).toHaveLength(1)
  })
})
