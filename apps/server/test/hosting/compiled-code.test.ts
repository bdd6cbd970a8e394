import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { eventually } from '../jobs.js'

/** Code whose stack names the line and column at which it was thrown. */
const codeOf = (join: string) => `exports.handler = async (request) => {
  if (request.headers['x-bp-operation'] !== 'action_triggered') return { body: '{}' }
  const { stack } = new Error('here')
  const { join } = ${join}
  return { body: JSON.stringify({ output: { pid: process.pid, stack, joined: join('a', 'b') } }) }
}`

describe('deployed code', () => {
  const server = useServer()
  const folder = () => join(server().server.config.dataDir, 'compiled')

  async function deploy(code: string) {
    const { admin, bot, client } = await makeBot(server())
    const actions = { act: { input: { schema: {} }, output: { schema: {} } } }
    await admin.updateBot({ id: bot.id, code, actions })
    const call = async () => (await client.callAction({ type: 'act', input: {} })).output
    /** Lets the program rest, and calls it again. */
    const callAnew = async () => {
      const { pid } = await call()
      await eventually(async () => {
        server().clock.advance(6 * 60_000)
        expect(() => process.kill(Number(pid), 0)).toThrow()
      })
      const output = await call()
      expect(output.pid).not.toBe(pid)
      return output
    }
    return { call, callAnew }
  }

  it('is kept as it was compiled, and starts with that, without it and with what is damaged', async () => {
    const { call, callAnew } = await deploy(codeOf("require('node:path')"))
    const { stack } = await call()
    expect(stack).toContain('/bundle.cjs:3:21')
    // A file that is being written has another name.
    const name = await eventually(async () => {
      const [kept] = (await readdir(folder())).filter((name) => !name.startsWith('draft-'))
      if (kept === undefined) throw new Error('Nothing is kept yet')
      return kept
    })
    const path = join(folder(), name)
    const kept = await readFile(path)
    expect(await callAnew()).toMatchObject({ stack, joined: 'a/b' })

    const damaged = Buffer.from(kept)
    damaged.fill(7, 40)
    await writeFile(path, damaged)
    expect(await callAnew()).toMatchObject({ stack, joined: 'a/b' })
    // It was compiled anew, and that was kept in place of what was damaged.
    await eventually(async () => expect((await readFile(path)).equals(damaged)).toBe(false))
  })

  it('may import modules while it runs, in every start', async () => {
    const { call, callAnew } = await deploy(codeOf("await import('node:path')"))
    expect(await call()).toMatchObject({ joined: 'a/b' })
    expect(await callAnew()).toMatchObject({ joined: 'a/b' })
  })
})
