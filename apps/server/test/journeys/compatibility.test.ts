import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '@botpress/client'
import { allOperations } from '@botstead/contract'
import { expect, it } from 'vitest'
import { patternOfUnserved, unserved } from '../../src/http/paths.js'
import { checkout } from '../documents.js'
import { existingClient } from '../existing-clients.js'
import { useServer } from '../harness.js'

const server = useServer()

/** Members of the client that are not operations. */
const helpers = ['constructor', 'uploadFile', 'list', 'props', 'config', 'axiosInstance']

/** Names of all operations of the existing client. */
function operationsOfClient(): string[] {
  const names = new Set<string>()
  let part: object | null = new Client({ token: 'none' })
  while (part !== null && part !== Object.prototype) {
    for (const name of Object.getOwnPropertyNames(part)) names.add(name)
    part = Object.getPrototypeOf(part)
  }
  return [...names].filter((name) => !helpers.includes(name)).toSorted()
}

it('the guide names exactly the operations of the existing client that are not served', async () => {
  const guide = await readFile(join(checkout, 'docs/guides/compatibility.md'), 'utf8')
  const [, table = ''] = guide.split('## Not served')
  const rows = table.split('\n').filter((line) => line.startsWith('|'))
  const named = rows.flatMap((row) => [...row.matchAll(/`(\w+)`/g)].map(([, name = '']) => name))
  const served = new Set(allOperations.map(({ id }) => id))
  const missing = operationsOfClient().filter((name) => !served.has(name))
  expect(named.toSorted()).toEqual(missing)
})

it('nothing that is served counts as not served', () => {
  const counted = allOperations.filter(({ path }) => {
    const example = path.replaceAll(/\{\w+\}/g, 'any')
    return unserved.some((entry) => patternOfUnserved(entry).test(example))
  })
  expect(counted.map(({ id }) => id)).toEqual([])
})

it('names the guide in the error of each of them', async () => {
  const served = new Set(allOperations.map(({ id }) => id))
  const messages: Record<string, string> = {}
  for (const name of operationsOfClient().filter((each) => !served.has(each))) {
    // Without any input, each id in a path is the word "undefined".
    const call: unknown = Reflect.get(existingClient(server()), name)
    if (typeof call !== 'function') throw new Error(`${name} is no operation`)
    const error = await Promise.resolve(call({})).catch((thrown: unknown) => thrown)
    messages[name] = error instanceof Error ? error.message : 'It was answered'
  }
  const silent = Object.entries(messages).filter(
    ([, message]) => !message.includes('docs/guides/compatibility.md'),
  )
  expect(silent.map(([name]) => name)).toEqual([])
  expect(messages.listTables).toMatch(/^\/v1\/tables is not served by this version\. docs\/guides/)
  // Each error begins with the path that was called. The client for billing is another one.
  const paths = Object.values(messages).map((message) => message.split(' ', 1)[0] ?? '')
  const unused = unserved
    .filter((entry) => !entry.startsWith('v2/'))
    .filter((entry) => !paths.some((path) => patternOfUnserved(entry).test(path)))
  expect(unused).toEqual([])
})
