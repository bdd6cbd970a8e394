import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { freePort } from './ports.js'

it('gives each port once, and only free ones', async () => {
  const first = await freePort()
  const occupant = createServer().listen(first + 2, '127.0.0.1')
  await once(occupant, 'listening')
  const ports = await Promise.all(Array.from({ length: 120 }, freePort))
  expect(new Set([first, first + 2, ...ports]).size).toBe(122)
  occupant.close()
})
