import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { describeEachEngine } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { eventually } from '../../../../test/jobs.js'
import { useRemote } from '../../../../test/remote/server.js'
import { installAt, openTunnel, output } from '../../../../test/tunnel-tool.js'

describeEachEngine('a tunnel with the id in an address of others', (engine) => {
  const server = useServer(engine)
  const remote = useRemote()

  it('gets no calls to a service that is not in development', async () => {
    const id = randomUUID()
    using stranger = await openTunnel(server(), { id, onCall: (call) => call.respond(output({})) })
    const { act } = await installAt(server(), `${remote().url}/${id}`, {}, { dev: false })
    remote().behave(() => output({ by: 'the service' }))
    expect(await act()).toEqual({ by: 'the service' })
    expect(stranger.calls).toEqual([])
  })

  it('gets no calls to webhooks of this server', async () => {
    const { webhookUrl } = await installAt(server(), remote().url)
    const id = webhookUrl.split('/').at(-1) ?? ''
    using stranger = await openTunnel(server(), { id, onCall: (call) => call.respond() })
    const { bot } = await server()
      .client()
      .createBot({ url: `${webhookUrl}/in`, dev: true })
    await server().client({ botId: bot.id }).createEvent({ type: 'noticed', payload: {} })
    await eventually(() => {
      const received = remote().requestsOf('webhook_received')
      expect(received.map(({ json }) => json.req)).toContainEqual(
        expect.objectContaining({ path: '/in', body: expect.stringContaining('noticed') }),
      )
    })
    expect(stranger.calls).toEqual([])
  })
})
