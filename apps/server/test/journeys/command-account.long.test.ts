import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/platform/db/open.js'
import { type CommandPlace, createCommandPlace } from '../command-place.js'
import { engines } from '../engines.js'
import { runCommand, startServerProcess } from '../processes.js'

const password = 'seven green teapots'

describe('botstead account beside a running server', () => {
  // In parallel, because most of the time is spent waiting.
  it.concurrent.each(engines.map((engine) => [engine.name, engine] as const))(
    'creates accounts, lists them and lets people set passwords on %s',
    async (_, engine) => {
      await using place = await createCommandPlace(engine)
      await using server = await startServerProcess({ ...place.environment, LOG_LEVEL: 'error' })
      const post = async (path: string, body: object) => {
        const response = await fetch(`${server.url}/v1/admin/sign-in/${path}`, {
          method: 'POST',
          headers: { origin: server.url, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
        await response.arrayBuffer()
        return response.status
      }
      const account = async (...words: string[]) =>
        await runCommand(['account', ...words], place.environment)
      const codeIn = (printed: string) =>
        /\/dashboard\/reset#(bp_res_[\w-]{43})\n$/.exec(printed)?.[1] ?? ''

      const made = await account('create', 'Cai@Example.com', '--name', 'Cai')
      expect(made.status).toBe(0)
      expect(await post('password', { email: 'cai@example.com', password })).toBe(401)
      expect(await post('reset', { code: codeIn(made.stdout), password })).toBe(201)
      expect(await post('password', { email: 'cai@example.com', password })).toBe(201)
      const listed = await account('list')
      expect(listed.stdout).toMatch(/^admin@localhost {2}\S+ {2}no password {2}Administrator$/m)
      expect(listed.stdout).toMatch(/^cai@example.com {2}\S+ {2}password {2}Cai$/m)
      await addPasskey(place)
      expect((await account('list')).stdout).toMatch(
        /^cai@example.com {2}\S+ {2}password, 1 passkey {2}Cai$/m,
      )

      const reset = await account('reset', 'cai@example.com')
      const next = 'nine purple ladders'
      expect(await post('reset', { code: codeIn(reset.stdout), password: next })).toBe(201)
      expect(await post('password', { email: 'cai@example.com', password })).toBe(401)
      expect((await account('list')).stdout).toMatch(/^cai@example.com {2}\S+ {2}password {2}Cai$/m)

      expect(await account('reset', 'nobody@example.com')).toMatchObject({
        status: 1,
        stderr: 'There is no account with the address nobody@example.com.\n',
      })
      expect((await account('create', 'cai@example.com')).status).toBe(1)
      expect((await account('create', 'no address')).stderr).toContain('is no email address')
    },
  )
})

/** Adds the row of a passkey of Cai, whose device nobody has. */
async function addPasskey({ options }: CommandPlace): Promise<void> {
  await using database = await openDatabase(options)
  await database.run((tx) =>
    sql`
      insert into passkeys (id, account_id, credential_id, public_key, counter, transports, host, name, is_syncable, is_backed_up, created_at)
        select 'passkey_1', id, 'a', 'a', 0, '[]', 'localhost', 'Laptop', 0, 0, created_at from accounts
          where email = 'cai@example.com'`.execute(tx),
  )
}
