import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { describe, expect, it } from 'vitest'
import { useServer } from '../harness.js'
import { eventually } from '../jobs.js'
import { deployBot, program } from './hosted.js'

const files = {
  'pay.ts': `export interface Order {
  amount: number
}

/** Line 5 is a comment, and what the compiler leaves out. */
export async function charge(order: Order): Promise<void> {
  await Promise.resolve()
  if (order.amount < 0) throw new TypeError('The amount is negative')
}
`,
  'bot.ts': `import { charge, type Order } from './pay'

interface Given { how?: string; order: Order }

type Handler = (request: { headers: Record<string, string>; body: string }) => Promise<unknown>

async function act({ how, order }: Given): Promise<unknown> {
  if (how === 'rejects') void charge(order)
  if (how === 'ends') setTimeout(() => { throw new Error('Nobody is there') }, 1)
  if (how === 'prints') await charge(order).catch(console.error)
  if (how === 'returns') return await charge(order).catch(({ stack }) => ({ stack }))
  if (how === undefined) await charge(order)
  return {}
}

if (process.env.SECRET_FAULT) throw new Error(process.env.SECRET_FAULT)

export const handler: Handler = async ({ headers, body }) => {
  if (headers['x-bp-operation'] !== 'action_triggered') return { body: '{}' }
  return { body: JSON.stringify({ output: await act(JSON.parse(body).input) }) }
}
`,
}

/** Bundles the files, with a map of them in the bundle. */
async function bundleWithMap(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'botstead-stacks-'))
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
    const build = await rolldown({
      input: join(folder, 'bot.ts'),
      platform: 'node',
      logLevel: 'silent',
    })
    const { output } = await build.generate({
      format: 'cjs',
      sourcemap: 'inline',
      minify: true,
      dir: folder,
    })
    await build.close()
    return output[0].code
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The names of functions may be others: a bundler may have renamed them. */
const thrown =
  /TypeError: The amount is negative\n {4}at (?:async )?\S+ \(pay\.ts:8:\d+\)\n {4}at async \S+ \(bot\.ts:\d+:\d+\)/
const foreign = /node:|file:|bundle\.cjs|bot-host/

describe('stacks of deployed code with a map of its files', () => {
  const server = useServer()

  it.each([
    ['of errors that it throws', undefined, thrown],
    ['of errors that it prints', 'prints', thrown],
    [
      'of rejections that nobody handles',
      'rejects',
      /Unhandled rejection: TypeError: The amount is negative\n {4}at (?:async )?\S+ \(pay\.ts:8:\d+\)/,
    ],
    [
      'of errors that end the program',
      'ends',
      /The code stopped: it ended with[\s\S]*Error: Nobody is there\n {4}at \S*\s?\(?bot\.ts:9:\d+/,
    ],
  ])('stacks show the files of the author: %s', async (_, how, pattern) => {
    const { call, logs } = await deployBot(server(), await bundleWithMap())
    await call({ ...(how !== undefined && { how }), order: { amount: -1 } }).catch(() => {})
    await eventually(async () => expect((await logs()).join('\n')).toMatch(pattern))
    expect((await logs()).join('\n')).not.toMatch(foreign)
  })

  it('the code itself, and issues, see the files of the author', async () => {
    const { admin, bot, call } = await deployBot(server(), await bundleWithMap())
    const { stack } = await call({ how: 'returns', order: { amount: -1 } })
    expect(stack).toMatch(thrown)
    expect(stack).not.toMatch(foreign)
    await expect(call({ order: { amount: -1 } })).rejects.toThrow(/amount is negative/)
    await eventually(async () => {
      const { issues } = await admin.listBotIssues({ id: bot.id })
      expect(issues.map(({ description }) => description).join()).toMatch(thrown)
    })
  })

  it('the refusal of code that cannot be loaded shows the files of the author', async () => {
    const { admin, bot } = await deployBot(server(), program(''))
    const code = await bundleWithMap()
    const refused = admin.updateBot({ id: bot.id, code, secrets: { FAULT: 'No key' } })
    await expect(refused).rejects.toThrow(/Error: No key\n {4}at \S+ \(bot\.ts:16:\d+\)/)
  })

  it.each([
    ['none', ''],
    ['no JSON', '//# sourceMappingURL=data:application/json;base64,eyJ2'],
    ['a number without an end', mapOf({ mappings: 'g'.repeat(100_000) })],
    ['no mappings', mapOf({ mappings: { length: 1e9 } })],
    ['sources that are none', mapOf({ mappings: 'AAAA;AAAA;AAAA;AAAA', sources: [7] })],
  ])('stacks name lines of the bundle where its map is %s', async (_, comment) => {
    const code = `${program('throw new Error("here")')}\n${comment}`
    const { call, logs } = await deployBot(server(), code)
    await expect(call()).rejects.toThrow(/here/)
    await eventually(async () =>
      expect((await logs()).join('\n')).toMatch(
        /Error: here\n {4}at handle \(\/bundle\.cjs:3:\d+\)/,
      ),
    )
  })

  it('a stack is shown at once where an error repeats thousands of places that a visitor wrote', async () => {
    // The last segment of a long map, so that each place is looked for in all of it.
    const map = mapOf({ mappings: `${'AAAA,'.repeat(400_000)}AAAA` })
    const code = `${program('throw new Error(input.text)')}\n${map}`
    const { call, logs } = await deployBot(server(), code)
    const places = Array.from({ length: 6000 }, (_, at) => `/bundle.cjs:1:${at + 1}`)
    await expect(call({ text: places.join(' ') })).rejects.toThrow(/bundle/)
    await expect(call({ text: 'next' })).rejects.toThrow(/next/)
    expect((await logs()).join('\n')).not.toMatch(/The code stopped/)
  })

  it('an error without a stack is named, too', async () => {
    const { call, logs } = await deployBot(
      server(),
      program(`
        const thrown = new Error('here')
        if (input.stack) Object.defineProperty(thrown, 'stack', { get() { throw new Error() } })
        else thrown.stack = { split: 1, toString: () => 'other' }
        throw thrown
      `),
    )
    await expect(call()).rejects.toThrow(/here/)
    await expect(call({ stack: true })).rejects.toThrow(/here/)
    await eventually(async () =>
      expect((await logs()).sort()).toEqual([
        'error: An error that cannot be shown',
        'error: other',
      ]),
    )
  })
})

function mapOf(map: Record<string, unknown>): string {
  const text = JSON.stringify({ version: 3, sources: ['a.ts'], names: [], ...map })
  return `//# sourceMappingURL=data:application/json;base64,${Buffer.from(text).toString('base64')}`
}
