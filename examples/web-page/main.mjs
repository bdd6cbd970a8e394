// Serves a page with a web chat: node examples/web-page/main.mjs <chat address>
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'

const [, , chatAddress = ''] = process.argv
const port = Number(process.env.PAGE_PORT ?? 8081)

// The address of the web chat is /webchat/<id>, next to the chat address /chat/<id>.
const webchat = chatAddress.replace(/\/chat\/([^/]+)\/*$/, '/webchat/$1')
if (webchat === chatAddress) {
  console.error('Add the chat address of a bot, such as http://localhost:8787/chat/<webhook id>.')
  process.exit(1)
}

const read = (name) => readFile(new URL(name, import.meta.url), 'utf8')
const files = {
  '/': [async () => (await read('index.html')).replace('WEBCHAT', webchat), 'text/html'],
  '/page.mjs': [() => read('page.mjs'), 'text/javascript'],
}

const server = createServer((request, response) => {
  const [make, type] = files[request.url] ?? []
  if (make === undefined) return response.writeHead(404).end('There is no such page.\n')
  make().then(
    (content) => response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(content),
    (error) => {
      console.error(error)
      response.writeHead(500).end('The page cannot be read: the reason is in the terminal.\n')
    },
  )
})

server.once('error', (error) => {
  if (error.code !== 'EADDRINUSE') throw error
  console.error(`Port ${port} is in use: PAGE_PORT=0 takes a free one.`)
  process.exitCode = 1
})
server.listen(port, '127.0.0.1', () => {
  console.log(`Open http://127.0.0.1:${server.address().port}/`)
  console.log(`or, without a page of your own, ${webchat}`)
})
