import { describe, expect, it, vi } from 'vitest'
import { createCommandPlace } from '../command-place.js'
import { engines } from '../engines.js'
import { runCommand, startServerProcess } from '../processes.js'

describe('botstead token beside a running server', () => {
  // In parallel, because most of the time is spent waiting.
  it.concurrent.each(engines.map((engine) => [engine.name, engine] as const))(
    'creates, lists and revokes tokens that the server then accepts or refuses on %s',
    async (_, engine) => {
      await using place = await createCommandPlace(engine)
      await using server = await startServerProcess({ ...place.environment, LOG_LEVEL: 'error' })
      const call = async (token: string) => {
        const headers = { authorization: `Bearer ${token}` }
        return (await fetch(`${server.url}/v1/admin/account/me`, { headers })).status
      }

      const made = await runCommand(
        ['token', 'create', '--note', 'For the tests'],
        place.environment,
      )
      expect(made.status).toBe(0)
      const token = made.stdout.trim()
      expect(token).toMatch(/^bp_pat_[\w-]{43}$/)
      const id = /Token (\S+) was created/.exec(made.stderr)?.[1] ?? ''
      expect(await call(token)).toBe(200)

      const listed = await runCommand(['token', 'list'], place.environment)
      expect(listed.stdout).toMatch(new RegExp(`^${id}  personal  .*  For the tests$`, 'm'))
      expect(listed.stdout).not.toContain(token)

      const revoked = await runCommand(['token', 'revoke', id], place.environment)
      expect(revoked).toEqual({ status: 0, stdout: '', stderr: `Token ${id} was revoked.\n` })
      // The server may cache the token for five seconds.
      await vi.waitFor(async () => expect(await call(token)).toBe(401), {
        timeout: 7000,
        interval: 200,
      })
      expect((await runCommand(['token', 'list'], place.environment)).stdout).not.toContain(id)

      const twice = await runCommand(['token', 'revoke', id], place.environment)
      expect(twice).toEqual({ status: 1, stdout: '', stderr: `There is no token ${id}.\n` })
    },
  )
})
