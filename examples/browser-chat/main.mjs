// Serves the page, from another origin than the chat: node examples/browser-chat/main.mjs [chat address]
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'

const [, , chatAddress] = process.argv
const port = Number(process.env.PAGE_PORT ?? 8080)

const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const files = {
  '/': [here('index.html'), 'text/html'],
  '/page.mjs': [here('page.mjs'), 'text/javascript'],
  '/payload.mjs': [here('payload.mjs'), 'text/javascript'],
  '/follow.mjs': [here('follow.mjs'), 'text/javascript'],
  '/outbox.mjs': [here('outbox.mjs'), 'text/javascript'],
  // The file of the package for browsers.
  '/chat-client.mjs': [here('../../node_modules/@botpress/chat/dist/index.mjs'), 'text/javascript'],
}

async function respond(request, response) {
  const [address] = request.url.split('?')
  const [path, type] = files[address] ?? []
  if (path === undefined) return response.writeHead(404).end('There is no such page.\n')
  const content = await readFile(path)
  response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(content)
}

const server = createServer((request, response) => {
  respond(request, response).catch((error) => {
    console.error(error)
    response.writeHead(500).end('The page cannot be read: the reason is in the terminal.\n')
  })
})

server.once('error', (error) => {
  if (error.code !== 'EADDRINUSE') throw error
  console.error(`Port ${port} is in use: PAGE_PORT=0 takes a free one.`)
  process.exitCode = 1
})
server.listen(port, '127.0.0.1', () => {
  const page = new URL(`http://127.0.0.1:${server.address().port}/`)
  if (chatAddress !== undefined) page.searchParams.set('chat', chatAddress)
  console.log(`Open ${page}`)
  if (chatAddress === undefined) console.log('and add ?chat=<chat address> of a bot.')
})
