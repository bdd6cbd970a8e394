import { expect, it, vi } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { installMail } from '../../../../test/remote/integration.js'
import { useRemote } from '../../../../test/remote/server.js'
import { inDatabase } from '../../../../test/tenancy/seed.js'

const day = 24 * 60 * 60 * 1000

describeSlow('runs of actions', (engine) => {
  const server = useServer(engine)
  const remote = useRemote()

  it('are listed with their results, newest first, for a week', async () => {
    const { admin, bot, inBot, integration } = await installMail(server(), remote())
    const { id } = bot
    const since = new Date(server().clock.now()).toISOString()
    const list = async (query: object = {}) =>
      await admin.listActionRuns({ id, integrationName: 'mail', ...query })
    const long = 'x'.repeat(200_000)
    remote().behave(({ json }) => {
      if (json.input?.to === 'nobody') return { status: 400, body: { message: 'No\0such mailbox' } }
      return { body: { output: json.input?.to === 'all' ? { long } : { sent: true } } }
    })
    const call = (name: string, input: object) =>
      inBot.callAction({ type: `mail:${name}`, input: { ...input } }).catch(() => {})
    await call('send', { to: 'ada' })
    await call('send', { to: 'nobody' })
    await call('send', { to: 'all', long })
    await call('look', {})
    await call('look', {})
    // No integration was called for these.
    await call('send', {})
    await call('dance', {})
    const { data, meta } = await list()
    expect(meta).toEqual({})
    const common = { timestamp: expect.any(String), durationMs: expect.any(Number) }
    const fine = { ...common, integrationName: integration.name, cached: false, status: 'SUCCESS' }
    const beginning = expect.stringMatching(/^\{.*x{1000}$/)
    expect(data).toEqual([
      { ...fine, actionType: 'look', input: {}, output: { sent: true }, cached: true },
      { ...fine, actionType: 'look', input: {}, output: { sent: true } },
      {
        ...fine,
        actionType: 'send',
        input: { beginning },
        inputTruncated: true,
        output: { beginning },
        outputTruncated: true,
      },
      {
        ...fine,
        actionType: 'send',
        input: { to: 'nobody' },
        output: null,
        status: 'FAILURE',
        errorMessage: 'No\uFFFDsuch mailbox',
      },
      { ...fine, actionType: 'send', input: { to: 'ada' }, output: { sent: true } },
    ])
    const { usage } = await server().client().getUsage({ id, type: 'action_calls' })
    expect(usage.value).toBe(data.length)
    const first = await list({ pageSize: 2 })
    const { nextToken } = first.meta
    expect(first.data).toEqual(data.slice(0, 2))
    expect((await list({ pageSize: 2, nextToken })).data).toEqual(data.slice(2, 4))
    expect((await list({ integrationName: integration.name })).data).toHaveLength(5)
    expect((await list({ integrationName: 'chat' })).data).toEqual([])
    expect((await list({ timestampFrom: since })).data).toHaveLength(5)
    expect((await list({ timestampUntil: '2020-01-01T00:00:00Z' })).data).toEqual([])
    remote().behave(() => ({ breaks: true }))
    const unreached = inBot.callAction({ type: 'mail:send', input: { to: 'eve' } })
    await expect(unreached).rejects.toThrow(/^The integration mail cannot be reached: /)
    server().clock.advance(8 * day)
    await vi.waitFor(async () => expect((await list()).data).toEqual([]))
  })

  it('runs are not kept if the bot was deleted before they ended', async () => {
    const { admin, bot, inBot } = await installMail(server(), remote())
    const rowsOf = (kind: string) =>
      inDatabase(server(), ({ db }) =>
        db.selectFrom('jobs').select('id').where('kind', '=', kind).execute(),
      )
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    remote().behave(async () => {
      await ended
      return { body: { output: { to: 'ada' } } }
    })
    const call = inBot.callAction({ type: 'mail:send', input: { to: 'ada' } })
    await vi.waitFor(() => expect(remote().requestsOf('action_triggered')).toHaveLength(1))
    await admin.deleteBot({ id: bot.id })
    server().clock.advance(60_000)
    await vi.waitFor(async () => expect(await rowsOf('bots.purge')).toEqual([]))
    end()
    await call
    const kept = await inDatabase(server(), ({ db }) =>
      db.selectFrom('action_runs').select('id').where('bot_id', '=', bot.id).execute(),
    )
    expect(kept).toEqual([])
  })
})
