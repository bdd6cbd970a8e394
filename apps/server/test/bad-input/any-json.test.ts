import fc from 'fast-check'
import { beforeAll, describe, it } from 'vitest'
import { useServer } from '../harness.js'
import { type Request, replaced, send } from '../request.js'
import { settle, type Tenant } from '../tenant.js'
import { bodyCalls, mainCalls } from './calls.js'
import { expectHandled } from './expect-handled.js'
import { payloadExamples } from './payload-examples.js'

/** JSON that is closer to valid input than arbitrary JSON. */
const json = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom('', ' ', 0, -1, 1e308, null, true, [], {}, [[]], { '': '' }, '\0'),
  fc.constantFrom(...Object.values(payloadExamples)),
)
/** Several concurrent requests, so that the disk does not limit them one by one. */
const several = <T>(one: fc.Arbitrary<T>) => fc.array(one, { minLength: 4, maxLength: 4 })

describe('any JSON', () => {
  const server = useServer()
  let own: Tenant
  beforeAll(async () => {
    own = await settle(server(), server())
  })

  describe.each(bodyCalls)('sent to %s', (_, { operation, example }) => {
    const answers = (make: (request: Request, value: unknown) => Request) =>
      fc.assert(
        fc.asyncProperty(several(json), async (values) => {
          await Promise.all(
            values.map(async (value) =>
              expectHandled(await send(server(), operation, make(example(own), value))),
            ),
          )
        }),
        { numRuns: 15 },
      )

    it('as the body gets a valid response', async () => {
      await answers((request, body) => ({ ...request, body }))
    })

    it.each(Object.keys(operation.body?.properties ?? {}))(
      'as %s gets a valid response',
      async (name) => {
        await answers((request, value) => replaced(request, `body.${name}`, value))
      },
    )
  })

  it.each(mainCalls)(
    'as a query of %s gets a valid response',
    async (_, { operation, example }) => {
      const names = fc.constantFrom(
        ...Object.keys(operation.query?.properties ?? {}),
        'tags.a',
        'x',
      )
      const part = fc.string({ unit: 'grapheme' })
      await fc.assert(
        fc.asyncProperty(several(fc.dictionary(names, part)), async (queries) => {
          const request = example(own)
          await Promise.all(
            queries.map(async (query) => {
              const whole = { ...request, query: { ...request.query, ...query } }
              await expectHandled(await send(server(), operation, whole))
            }),
          )
        }),
        { numRuns: 15 },
      )
    },
  )

  it.each(Object.keys(payloadExamples))(
    'inside a payload of type %s gets a valid response',
    async (type) => {
      const [, createMessage] = mainCalls.at(-1) ?? []
      if (createMessage === undefined) throw new Error('createMessage comes last')
      const members = Object.keys(payloadExamples[type] ?? {})
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...members), several(json), async (member, values) => {
          await Promise.all(
            values.map(async (value) => {
              const payload = { ...payloadExamples[type], [member]: value }
              const request = replaced(createMessage.example(own), 'body.payload', payload)
              await expectHandled(await send(server(), createMessage.operation, request))
            }),
          )
        }),
        { numRuns: 10 },
      )
    },
  )
})
