// A plain HTTP server in a process of its own, as bots and integrations are. It hands every request to
// the test over IPC and sends the response that the test returns.
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

const waiting = new Map()
let count = 0

const server = createServer(async (request, response) => {
  const id = ++count
  waiting.set(id, response)
  response.once('close', () => waiting.delete(id))
  const { method, url, headers } = request
  const body = await text(request)
  // Nobody handles a call that arrives while the test ends.
  if (process.connected) process.send({ id, method, url, headers, body }, () => {})
})

process.on('message', ({ id, status, headers, body, breaks }) => {
  const response = waiting.get(id)
  if (breaks) response?.destroy()
  else response?.writeHead(status, headers).end(body)
})
process.on('disconnect', () => process.exit())

server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
