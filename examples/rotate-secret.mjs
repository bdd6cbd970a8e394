// Rotates the secret that signs the calls to a bot, without a refused call.
//
//   npm start                         in one terminal
//   node examples/rotate-secret.mjs   in another one, in the folder of this checkout
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { Client } from '@botpress/client'
import { findServer } from './server.mjs'
import { isSigned } from './signed.mjs'

/** Secrets that the bot accepts. A real one reads them from its settings. */
const known = []

// A bot without any SDK: it refuses calls that none of its secrets has signed.
const bot = createServer(async (request, response) => {
  const call = { headers: request.headers, body: await text(request) }
  const fits = known.some((secret) => isSigned(call, secret))
  response.writeHead(fits ? 200 : 401).end('{}')
}).listen(0, '127.0.0.1')
await once(bot, 'listening')

const server = await findServer()
const { id, signingSecret } = (
  await new Client(server).createBot({
    name: 'Rotation',
    url: `http://127.0.0.1:${bot.address().port}/`,
  })
).bot

/** A call that the client package does not have. */
async function call(path) {
  const response = await fetch(`${server.apiUrl}/v1/admin/bots/${id}/${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${server.token}`,
      'x-workspace-id': server.workspaceId,
      'content-type': 'application/json',
    },
    body: '{}',
  })
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
  return await response.json()
}

async function tryIt(when) {
  const { result } = await call('deliveries/test')
  console.log(`${when}: ${result.delivered ? 'accepted' : 'refused'}, ${result.status}`)
}

known.push(signingSecret)
await tryIt('before the rotation')

// From now on each call has two signatures, for 24 hours.
const { newSigningSecret } = await call('signing-secrets/rotate')
await tryIt('the bot knows the old secret')
known.push(newSigningSecret)
await tryIt('the bot knows both')
known.shift()
await tryIt('the bot knows the new secret')
known.shift()
await tryIt('the bot knows none')

await new Client(server).deleteBot({ id })
bot.close()
