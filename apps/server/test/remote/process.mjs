// A plain HTTP server in a process of its own, as bots and integrations are. It hands every request to
// the test over IPC and answers what the test says.
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
  // A call that comes while the test ends has nobody to be told of it.
  if (process.connected) process.send({ id, method, url, headers, body }, () => {})
})

process.on('message', ({ id, status, headers, body, breaks }) => {
  const response = waiting.get(id)
  if (breaks) response?.destroy()
  else response?.writeHead(status, headers).end(body)
})
process.on('disconnect', () => process.exit())

server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
