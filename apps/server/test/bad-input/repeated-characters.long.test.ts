import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { allOperations } from '@botstead/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addresses } from '../../src/features/inbound/webhooks/address.js'
import { type CommandPlace, createCommandPlace } from '../command-place.js'
import { type ServerProcess, startServerProcess } from '../processes.js'

/** Characters of what an address is filled with: with its headers, a request may have 16 KiB. */
const longest = 12_000

/** Fillings of addresses. */
const fillings = [
  '/',
  '/.',
  '/..',
  '%2F',
  '%2f/',
  '/%5C',
  '\\',
  '?',
  '&',
  ';',
  '=a&',
  '/x',
  '%',
  '+',
]

const paths = [
  ...new Set([
    ...allOperations.map(({ path }) => path.replaceAll(/\{\w+\}/g, ':')),
    ...addresses.map((address) => address.replaceAll(/:\w+|\*/g, ':')),
    '/tunnel/:',
    '/webchat/:/assets/:',
    '/dashboard/:',
    '/docs/:',
    '/',
  ]),
]

/**
 * The addresses with a path that are filled at one of its places, or behind it; once as they are, and once with
 * something behind that no operation has.
 */
function filled(path: string, filling: string): string[] {
  const fill = filling.repeat(longest / filling.length)
  const parts = path.split(':')
  const inside = parts
    .slice(1)
    .map((_, at) => parts.slice(0, at + 1).join('x') + fill + parts.slice(at + 1).join('x'))
  return [...inside, parts.join('x') + fill].flatMap((address) => [
    address,
    `${address}y`,
    `${fill}${address}y`.slice(0, 15_000),
  ])
}

describe('many of the same character', () => {
  let place: CommandPlace
  // In a process of its own: one that is held up could not report it.
  let server: ServerProcess

  beforeAll(async () => {
    place = await createCommandPlace()
    server = await startServerProcess(place.environment)
  })

  afterAll(async () => {
    await server[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
  })

  /** The status of a response to an address as it is, which clients would normalise. */
  async function statusOf(path: string): Promise<number | undefined> {
    const { hostname, port } = new URL(server.url)
    return await new Promise((resolve, reject) => {
      const options = { hostname, port, path, agent: false, timeout: 60_000 }
      const sent = request(options, (response) => {
        text(response).then(() => resolve(response.statusCode), reject)
      })
      sent.on('timeout', () => sent.destroy(new Error(`No response at ${path.slice(0, 200)}`)))
      sent.on('error', reject).end()
    })
  }

  it.each(fillings)('%s in an address hold nothing up', async (filling) => {
    const all = paths.flatMap((path) => filled(path, filling))
    const next = all.values()
    const send = async () => {
      for (const path of next) {
        const status = await statusOf(path)
        expect(status, path.slice(0, 200)).toBeLessThan(500)
      }
    }
    await Promise.all(Array.from({ length: 8 }, send))
  })
})
