// The framework of the server with the schema of a message and nothing else: the most that the server could do.
import { createRequire } from 'node:module'
import { contract } from '@botstead/contract'

const ofServer = createRequire(new URL('../apps/server/package.json', import.meta.url))
const { default: Fastify } = ofServer('fastify')

const app = Fastify({ ajv: { customOptions: { strict: false, discriminator: true } } })
const { body } = contract.chat.createMessage
const response = { 201: { type: 'object', properties: {} } }
app.post('/bench/empty', { schema: { body, response } }, async (_request, reply) => {
  reply.code(201)
  return {}
})
const address = await app.listen({ port: 0, host: '127.0.0.1' })
process.send?.({ address })
for (const end of ['message', 'disconnect']) process.once(end, () => process.exit())
