// A bot in a process of its own: accepts every call, records the order of each conversation, and
// replies to messages that request it.
import { createServer } from 'node:http'

const [, , address, token] = process.argv
const seen = new Map()
let count = 0

async function reply({ botId, conversationId, payload }) {
  const { text } = payload.message.payload
  const response = await fetch(`${address}/v1/chat/messages`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'x-bot-id': botId,
    },
    body: JSON.stringify({
      conversationId,
      userId: botId,
      type: 'text',
      payload: { text: text.replace('ask', 'reply') },
      tags: {},
    }),
  })
  if (!response.ok) throw new Error(`reply: ${response.status} ${await response.text()}`)
}

const server = createServer((request, response) => {
  const pieces = []
  request.on('data', (piece) => pieces.push(piece))
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    if (request.headers['x-bp-type'] !== 'message_created') return
    const { event } = JSON.parse(Buffer.concat(pieces).toString())
    const text = event.payload?.message?.payload?.text ?? ''
    const botId = request.headers['x-bot-id']
    if (text.startsWith('ask')) return void reply({ ...event, botId })
    if (botId === undefined) return
    const order = seen.get(event.conversationId) ?? []
    order.push(Number(text))
    seen.set(event.conversationId, order)
    count += 1
  })
})
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.send?.({ url: `http://127.0.0.1:${port}/` })
})
process.once('disconnect', () => process.exit())
process.on('message', (command) => {
  if (command === 'stop') process.exit(0)
  process.send?.(command === 'orders' ? [...seen] : { count })
})
