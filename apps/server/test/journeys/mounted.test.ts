import { allOperations } from '@botstead/contract'
import { describe, expect, it } from 'vitest'
import { exampleOf, examples } from '../examples.js'
import { useServer } from '../harness.js'
import { beginningOf, send } from '../request.js'
import { settle } from '../tenant.js'

describe('every operation of the contract', () => {
  const server = useServer()

  it('has an example, and no example lacks an operation', () => {
    expect(Object.keys(examples).sort()).toEqual(allOperations.map(({ id }) => id).sort())
  })

  it('is mounted', async () => {
    const own = await settle(server(), server())
    const missing: string[] = []
    for (const operation of allOperations) {
      const response = await send(server(), operation, exampleOf(operation).request(own))
      const text = await beginningOf(response)
      if (response.status === 405 || text.includes('There is nothing at'))
        missing.push(operation.id)
    }
    expect(missing).toEqual([])
  })

  it('has a distinct path and method, whatever its parameters are called', () => {
    const places = allOperations.map(
      ({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`,
    )
    expect(new Set(places).size).toBe(places.length)
  })
})
