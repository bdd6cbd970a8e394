import { describe, expect, it } from 'vitest'
import { useServer } from '../../../../test/harness.js'
import { eventually } from '../../../../test/jobs.js'
import { installMail } from '../../../../test/remote/integration.js'
import { useRemote } from '../../../../test/remote/server.js'

const second = 1000

describe('the registration of an integration', () => {
  const server = useServer()
  const remote = useRemote()

  it('is repeated by itself while the integration does not listen yet', async () => {
    remote().behave(() =>
      remote().requestsOf('register').length < 3 ? { status: 503, body: 'Not ready yet' } : {},
    )
    const { installed, now } = await installMail(server(), remote())
    expect(installed).toMatchObject({
      status: 'registration_failed',
      statusReason: 'Not ready yet',
    })
    await eventually(async () => {
      await server().pass(second)
      expect(await now()).toMatchObject({ status: 'registered', statusReason: null })
    })
    expect(remote().requestsOf('register')).toHaveLength(3)
  })

  it('is given up after five repetitions', async () => {
    remote().behave(() => ({ breaks: true }))
    const { now } = await installMail(server(), remote())
    await eventually(async () => {
      await server().pass(40 * second)
      expect(remote().requestsOf('register')).toHaveLength(6)
    })
    await server().pass(600 * second)
    expect(await now()).toMatchObject({ status: 'registration_failed' })
    expect(remote().requestsOf('register')).toHaveLength(6)
  })
})
