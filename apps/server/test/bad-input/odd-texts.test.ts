import { allOperations, type Operation } from '@botstead/contract'
import { beforeAll, expect, it } from 'vitest'
import { describeSlow } from '../engines.js'
import { credentialsOf, exampleOf } from '../examples.js'
import { useServer } from '../harness.js'
import { expectRefusal, type Request, replaced, send } from '../request.js'
import { settle, type Tenant } from '../tenant.js'
import { fieldsOf } from './contract-fields.js'
import { expectHandled } from './expect-handled.js'

/** Texts with difficult encodings, patterns or keywords of query languages. */
const oddTexts = [
  'a\0b',
  `'; drop table bots; --%_\\%$1"*c^2:(NEAR)\r\nbreak \u202eright\u202c\uffff 👩‍🚀 İstanbul ß ﬁ`,
]
/** Texts with difficult paths, queries and object members. */
const oddWords = ['__proto__', '../../etc/passwd', '-1e999']

const halves = ['\ud800', '\udc00x']

const callable = allOperations.filter(
  // A stream that is admitted has no end to wait for.
  ({ auth, response }) => auth !== 'public' && auth !== 'signature' && response.kind !== 'stream',
)

/** Paths at which a request may contain a text, maps included. */
function textPlaces(operation: Operation): string[] {
  const places = fieldsOf(operation)
    .filter(({ place, kinds }) => kinds.includes('long') && !place.startsWith('headers.'))
    .map(({ place }) => place)
  return [...new Set(places)]
}

describeSlow('odd texts', (engine) => {
  const server = useServer(engine)
  let own: Tenant
  beforeAll(async () => {
    own = await settle(server(), server())
  })

  const complete = (operation: Operation): Request => ({
    ...exampleOf(operation).request(own),
    headers: credentialsOf(operation.auth, own),
  })

  const rows = callable.map((operation) => [operation.id, operation] as const)
  it.each(rows)('%s handles them wherever it accepts a text', async (_, operation) => {
    for (const place of textPlaces(operation)) {
      const texts = [
        ...oddTexts,
        // Half a character cannot be encoded in an address.
        ...(place.startsWith('body.') ? halves : []),
        // One engine is enough for texts that no engine sees.
        ...(engine.name === 'sqlite' ? oddWords : []),
      ]
      await Promise.all(
        texts.map(async (text) => {
          const request = replaced(complete(operation), place, text)
          await expectHandled(await send(server(), operation, request), `${place}: ${text}`)
        }),
      )
    }
  })

  it.each([
    ['createConversation', 'body.channel'],
    ['createConversation', 'body.tags.name'],
    ['createBot', 'body.tags.name'],
    ['upsertFile', 'body.key'],
    ['listBots', 'query.tags.name'],
    ['listBots', 'query.name'],
    ['searchFiles', 'query.query'],
    ['getFile', 'params.id'],
  ])('%s refuses at %s text that a database cannot store', async (id, place) => {
    const operation = callable.find((one) => one.id === id)
    if (operation === undefined) throw new Error(`There is no operation ${id}`)
    const isQuery = place.startsWith('query.')
    for (const text of isQuery || place.startsWith('params.') ? ['a\0b'] : ['a\0b', ...halves]) {
      const request = replaced(complete(operation), place, text)
      await expectRefusal(await send(server(), operation, request), {
        status: 400,
        type: isQuery ? 'InvalidQuery' : 'InvalidPayload',
        message: `${place} must be made of whole characters, without U+0000.`,
      })
    }
  })

  it('a message keeps every text as it is', async () => {
    const chat = server().client(own)
    const text = [...oddTexts, ...oddWords, ...halves].join('|')
    const payload = { type: 'text' as const, text }
    const { conversationId } = own
    const { message } = await chat.chatCreateMessage({ conversationId, payload })
    const { messages } = await chat.chatListMessages({ conversationId })
    expect(messages.find(({ id }) => id === message.id)?.payload).toEqual(payload)
  })
})
