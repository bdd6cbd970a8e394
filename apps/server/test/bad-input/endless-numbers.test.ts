import { allOperations, type Operation } from '@botstead/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { credentialsOf, exampleOf } from '../examples.js'
import { useServer } from '../harness.js'
import { expectRefusal, replaced, send } from '../request.js'
import { settle, type Tenant } from '../tenant.js'

/** Places of an address that take a number. */
function numberPlaces({ params, query }: Operation): string[] {
  return Object.entries({ params, query }).flatMap(([part, schema]) =>
    Object.entries(schema?.properties ?? {})
      .filter(([, member]) => ['integer', 'number'].includes(Object(member).type))
      .map(([name]) => `${part}.${name}`),
  )
}

const rows = allOperations
  .filter(({ auth }) => auth !== 'signature')
  .flatMap((operation) => numberPlaces(operation).map((place) => ({ operation, place })))

describe('numbers without end', () => {
  const server = useServer()
  let own: Tenant
  beforeAll(async () => {
    own = await settle(server(), server())
  })

  it('are tried at the sizes of pages, and at more', () => {
    const names = new Set(rows.map(({ place }) => place))
    expect([...names]).toEqual(expect.arrayContaining(['query.pageSize', 'query.limit']))
  })

  it.each(rows)('are refused at $place of $operation.id', async ({ operation, place }) => {
    const { request, headers } = exampleOf(operation)
    const whole = {
      ...request(own),
      headers: { ...credentialsOf(operation.auth, own), ...headers },
    }
    for (const value of ['Infinity', '-Infinity', '1e999']) {
      const response = await send(server(), operation, replaced(whole, place, value))
      await expectRefusal(response, {
        status: 400,
        type: place.startsWith('query.') ? 'InvalidQuery' : 'InvalidPayload',
        message: new RegExp(`^${place} must be (?:a number|an integer)\\.$`),
      })
    }
  })
})
