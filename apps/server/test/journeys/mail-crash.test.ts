import { createClient } from '@botstead/contract'
import { expect, it, vi } from 'vitest'
import { createCommandPlace } from '../command-place.js'
import { describeSlow } from '../engines.js'
import { startMailServer } from '../mail-server.js'
import { startServerProcess } from '../processes.js'

const token = 'a-token-for-tests-only'

describeSlow('mail under kill -9', (engine) => {
  it('is sent after the next start, once', async () => {
    await using place = await createCommandPlace(engine)
    let isOut = true
    let attempts = 0
    await using mails = await startMailServer({
      onMailFrom: (_address, _session, done) => {
        attempts += 1
        done(isOut ? Object.assign(new Error('out of order'), { responseCode: 421 }) : null)
      },
    })
    const environment = {
      ...place.environment,
      BOTSTEAD_ADMIN_TOKEN: token,
      BOTSTEAD_SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
      BOTSTEAD_MAIL_FROM: 'bots@example.com',
      LOG_LEVEL: 'fatal',
    }
    let server = await startServerProcess(environment)
    const client = (workspaceId?: string) =>
      createClient({ baseUrl: server.url, token, workspaceId })
    const { workspaces } = await client().listWorkspaces({})
    const made = await client(workspaces[0]?.id).createWorkspaceMember({
      email: 'bea@example.com',
      role: 'viewer',
      sendEmail: true,
    })
    await vi.waitFor(() => expect(attempts).toBeGreaterThan(0))
    await server.kill()
    isOut = false
    server = await startServerProcess(environment)
    await vi.waitFor(() => expect(mails.mails).toHaveLength(1), { timeout: 30_000 })
    expect(mails.mails[0]?.text).toContain(made.invitationUrl.split('#')[1])
    expect(await server.stop()).toBe(0)
    expect(mails.mails).toHaveLength(1)
  })
})
