import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { ownerOf } from '../../../../test/actors.js'
import { describeSlow } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { eventually } from '../../../../test/jobs.js'
import { useRemote } from '../../../../test/remote/server.js'
import { inDatabase } from '../../../../test/tenancy/seed.js'
import { addAccount } from '../../../../test/tenant.js'
import { installAt, openTunnel, output, untilAllAreGone } from '../../../../test/tunnel-tool.js'

const minute = 60_000

describeSlow('a tunnel with the id in an address of others', (engine) => {
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

describeSlow('a tunnel of a bot that is moved to another workspace', (engine) => {
  const server = useServer(engine)

  it('stays with the others that use it, and calls the bot no more', async () => {
    const login = await addAccount(server())
    const owner = server().client(login)
    const { id: target } = await owner.createWorkspace({ name: 'Target' })
    const id = randomUUID()
    using tool = await openTunnel(server(), { id, onCall: (call) => call.respond(output({})) })
    const url = `${server().url}/${id}`
    const { bot } = await owner.createBot({ url, dev: true })
    const { bot: other } = await owner.createBot({ url, dev: true })
    const call = async (botId: string) => {
      const before = tool.calls.length
      const inBot = server().client({ token: login.token, botId })
      await inBot.createEvent({ type: 'noticed', payload: {} })
      return before
    }
    const before = await call(bot.id)
    await eventually(() => expect(tool.calls.length).toBeGreaterThan(before))
    await owner.transferBot({ id: bot.id, targetWorkspaceId: target })
    const calls = await call(bot.id)
    const { lastError } = await eventually(async () => {
      const { deliveries } = await server()
        .client({ ...login, workspaceId: target })
        .listDeliveries({ id: bot.id })
      const failed = deliveries.find((delivery) => delivery.lastError !== undefined)
      return failed ?? expect.fail()
    })
    expect(lastError).toMatch(/belongs to another workspace/)
    expect(tool.calls.length).toBe(calls)
    await call(other.id)
    await eventually(() => expect(tool.calls.length).toBeGreaterThan(calls))
  })
})

describeSlow('a tunnel of a workspace that was deleted at another process', (engine) => {
  const server = useServer(engine)

  it('the tunnel does not begin to belong to it, even where the deletion was missed', async () => {
    const login = await addAccount(server())
    const { account } = await server().client(login).getAccount()
    const id = randomUUID()
    const url = `${server().url}/${id}`
    const { act } = await installAt(server(), url, login)
    await server().clock.hold(async () => {
      await expect(act()).rejects.toThrow(/no development tunnel with this id/)
      await inDatabase(server(), ({ workspaces }) => {
        const { workspaceId } = login
        return workspaces.remove(ownerOf(workspaceId, account.id), workspaceId)
      })
      using tool = await openTunnel(server(), { id, onCall: (call) => call.respond(output({})) })
      await expect(act()).rejects.toThrow('The workspace of the receiver was deleted.')
      expect(tool.calls).toEqual([])
      const rows = await inDatabase(server(), ({ db }) =>
        db.selectFrom('tunnels').select('workspace_id').where('id', '=', id).execute(),
      )
      expect(rows).toEqual([{ workspace_id: null }])
    })
  })

  it('an open tunnel says so when its lease is not prolonged, before a hint comes', async () => {
    using tool = await openTunnel(server(), { onCall: (call) => call.respond(output({})) })
    const { act } = await installAt(server(), tool.url)
    expect(await act()).toEqual({})
    await inDatabase(server(), ({ run }) =>
      run((tx) => tx.deleteFrom('tunnels').where('id', '=', tool.id).execute()),
    )
    server().clock.advance(minute)
    expect(await tool.closed).toEqual({
      code: 4000,
      reason: 'the workspace of this tunnel was deleted',
    })
  })
})

describeSlow('a call that another process has sent through a tunnel', (engine) => {
  const server = useServer(engine)

  it('fails when that process has died, before the time of the call is over', async () => {
    const tool = await openTunnel(server())
    const { act } = await installAt(server(), tool.url)
    tool.socket.close()
    await untilAllAreGone(server())
    const connection = randomUUID()
    const lease_until = new Date(server().clock.now() + minute).toISOString()
    const held = { connection, lease_until }
    await inDatabase(server(), ({ run }) =>
      run((tx) => tx.updateTable('tunnels').set(held).where('id', '=', tool.id).execute()),
    )
    const failed = expect(act()).rejects.toThrow(/broke before there was a response/)
    const sent = { state: 'sent', connection } as const
    await inDatabase(server(), async ({ run }) =>
      eventually(async () => {
        const { numUpdatedRows } = await run((tx) =>
          tx
            .updateTable('tunnel_calls')
            .set(sent)
            .where('tunnel_id', '=', tool.id)
            .executeTakeFirst(),
        )
        expect(numUpdatedRows).toBe(1n)
      }),
    )
    server().clock.advance(2 * minute)
    await failed
  })
})
