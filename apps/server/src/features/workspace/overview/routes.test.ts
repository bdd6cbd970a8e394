import { beforeAll, expect, it, vi } from 'vitest'
import { recordedOperations } from '../../../../test/audit.js'
import { describeSlow } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { startHttpBot, useHttpBots } from '../../../../test/http-bot.js'
import { addAccount, uploadText } from '../../../../test/tenant.js'

/** Milliseconds for which a result is reused. */
const reused = 5000
const hourMs = 60 * 60 * 1000
/** Milliseconds for which lines of logs are kept. */
const keptMs = 7 * 24 * hourMs

describeSlow('the overview of a workspace', (engine) => {
  const server = useServer(engine)
  const https = useHttpBots()
  type Client = ReturnType<ReturnType<typeof server>['client']>
  let login: Awaited<ReturnType<typeof addAccount>>
  let client: Client

  async function begin() {
    login = await addAccount(server())
    client = server().client(login)
  }
  beforeAll(begin)

  async function see(caller = client) {
    server().clock.advance(reused)
    return await caller.getOverview()
  }

  /** Waits until a bot is seen with these reasons. */
  const untilSeen = (id: string, status: string, kinds: string[]) =>
    vi.waitFor(async () => {
      const { bots } = await see()
      const bot = bots.find((each) => each.id === id)
      expect([bot?.status, bot?.reasons.map(({ kind }) => kind)]).toEqual([status, kinds])
      return bot?.reasons ?? []
    })

  /** A message of a new chat user. */
  async function say(bot: { integrations: Record<string, { webhookId?: string }> }) {
    const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
    const { key: userKey } = await server().client({ webhookId }).chatCreateUser({})
    const chat = server().client({ webhookId, userKey })
    const { conversation } = await chat.chatCreateConversation({})
    const payload = { type: 'text', text: 'Hello' } as const
    await chat.chatCreateMessage({ conversationId: conversation.id, payload })
  }

  it('says that there is nothing yet', async () => {
    expect(await see()).toMatchObject({
      status: 'empty',
      bots: [],
      counts: { bots: 0, botsNeedingAttention: 0, integrations: 0, files: 0, conversations: 0 },
      deliveries: { waiting: 0 },
      files: { waiting: 0, failed: 0 },
      errors: { groups: [], isComplete: true },
    })
  })

  it('says which bot works, which is off, and what somebody waits for', async () => {
    const { bot: works } = await client.createBot({ name: 'works', url: https.as().url })
    const { bot: quiet } = await client.createBot({ name: 'quiet' })
    await say(works)
    await untilSeen(works.id, 'ok', [])
    await untilSeen(quiet.id, 'off', ['no_address'])
    expect((await see()).status).toBe('ok')
    await say(quiet)
    const [reason] = await untilSeen(quiet.id, 'attention', ['no_address'])
    expect(reason).toMatchObject({
      message: expect.stringContaining('no address'),
      action: expect.stringContaining('url'),
      target: { type: 'bot', id: quiet.id },
    })
    const { status, counts, bots } = await see()
    expect([status, bots[0]?.id]).toEqual(['attention', quiet.id])
    expect(counts).toMatchObject({ bots: 2, botsNeedingAttention: 1, conversations: 2 })
    await client.updateBot({ id: quiet.id, blocked: true })
    await untilSeen(quiet.id, 'off', ['blocked'])
    await client.deleteBot({ id: quiet.id })
    await client.deleteBot({ id: works.id })
  })

  it('says that a program is gone, before anybody writes to it', async () => {
    const app = await startHttpBot()
    const { bot } = await client.createBot({ name: 'gone', url: app.url })
    await untilSeen(bot.id, 'ok', [])
    await app.kill()
    const [reason] = await untilSeen(bot.id, 'attention', ['receiver_failing'])
    expect(reason).toMatchObject({
      message: expect.stringMatching(/^The bot does not respond\. \S/),
      action: expect.stringContaining('Start the program of the bot, or correct its url'),
      target: { type: 'bot', id: bot.id },
    })
    await client.updateBot({ id: bot.id, url: https.as().url })
    server().clock.advance(60_000)
    await untilSeen(bot.id, 'ok', [])
    await client.deleteBot({ id: bot.id })
  })

  it('does not speak of the url of code that was deployed', async () => {
    const { bot } = await client.createBot({ name: 'deployed' })
    const refuses = `exports.handler = async ({ headers }) =>
      headers['x-bp-operation'] === 'event_received' ? { status: 500, body: 'Out of order' } : { body: '{}' }`
    await client.updateBot({ id: bot.id, code: refuses })
    await say(bot)
    const [reason] = await untilSeen(bot.id, 'attention', ['receiver_failing'])
    expect(reason?.action).toMatch(/^Look at its log and its issues, correct the code and deploy/)
    await client.deleteBot({ id: bot.id })
  })

  it('names paused receivers, and what waits for them', async () => {
    const { bot } = await client.createBot({ name: 'paused', url: https.as().url })
    await client.pauseDeliveries({ id: bot.id })
    await say(bot)
    const [reason] = await untilSeen(bot.id, 'attention', ['receiver_paused'])
    expect(reason).toMatchObject({ since: expect.any(String) })
    expect(reason?.action).toContain(`deliveries resume --bot ${bot.id}`)
    const { deliveries } = await see()
    expect(deliveries).toMatchObject({ waiting: 1, oldest: { botId: bot.id } })
    await client.resumeDeliveries({ id: bot.id })
    await untilSeen(bot.id, 'ok', [])
    await vi.waitFor(async () => expect((await see()).deliveries).toEqual({ waiting: 0 }))
    await client.deleteBot({ id: bot.id })
  })

  it('groups failed deliveries by receiver and reason, and errors of logs by pattern', async () => {
    const { bot } = await client.createBot({ name: 'refusing', url: https.as('refusing').url })
    for (let i = 0; i < 3; i += 1) await say(bot)
    await untilSeen(bot.id, 'attention', ['deliveries_failed'])
    const logs = [1, 2].map((number) => ({
      level: 'error' as const,
      message: `Invoice ${number} has no total`,
    }))
    await server()
      .client({ ...login, botId: bot.id })
      .writeBotLogs({ logs })
    await vi.waitFor(async () => {
      const { errors } = await see()
      expect(errors.groups).toMatchObject([
        {
          kind: 'delivery',
          message: expect.stringMatching(/^Status 4\d\d: I do not want this\.$/),
          pattern: 'Status #: I do not want this.',
          botId: bot.id,
          count: 3,
          target: { type: 'delivery', botId: bot.id },
        },
        {
          kind: 'log',
          message: expect.stringMatching(/^Invoice [12] has no total$/),
          pattern: 'Invoice # has no total',
          count: 2,
          target: { type: 'log' },
        },
      ])
      for (const { hours, count } of errors.groups) expect(hours.at(-1)).toBe(count)
    })
    await untilSeen(bot.id, 'attention', ['deliveries_failed', 'log_errors'])
    server().clock.advance(25 * 3_600_000)
    await untilSeen(bot.id, 'ok', [])
    expect((await see()).errors.groups).toEqual([])
    await client.deleteBot({ id: bot.id })
  })

  it('names installations whose registration failed, and files that failed', async () => {
    const { bot } = await client.createBot({ name: 'broken', url: https.as().url })
    const { integration } = await client.createIntegration({ name: 'mail', version: '1.0.0' })
    const mail = { integrationId: integration.id, enabled: true, configuration: {} }
    await client.updateBot({ id: bot.id, integrations: { mail } })
    const own = server().client({ ...login, botId: bot.id })
    await uploadText(own, 'fine.txt', 'Fine')
    await uploadText(own, 'broken.pdf', 'This is no PDF', true)
    const reasons = await untilSeen(bot.id, 'attention', [
      'registration_failed',
      'files_failed',
      'log_errors',
    ])
    expect(reasons[0]?.message).toMatch(/^The registration of mail \(mail\) failed\. \S/)
    const { files, counts, errors } = await see()
    expect(files).toEqual({ waiting: 0, failed: 1 })
    expect(counts).toMatchObject({ files: 2, integrations: 1 })
    expect(errors.groups.map(({ kind }) => kind).toSorted()).toEqual(['file', 'log'])
  })

  it('shows jobs and disks to the operator alone', async () => {
    expect(await see()).not.toHaveProperty('operator')
    const { operator } = await see(server().client())
    expect(operator).toMatchObject({ deadJobs: 0, disks: expect.any(Array) })
    expect(operator?.disks.map(({ of }) => of)).toContain('contents')
    expect(operator?.disks[0]?.freeBytes).toBeGreaterThan(0)
  })

  it('does not count replayed deliveries as failed, nor a bot as failing that works again', async () => {
    await begin()
    const { bot } = await client.createBot({ name: 'mended', url: https.as('refusing').url })
    for (let i = 0; i < 2; i += 1) await say(bot)
    const own = server().client({ ...login, botId: bot.id })
    await own.writeBotLogs({ logs: [{ level: 'error', message: 'No handler for this' }] })
    await untilSeen(bot.id, 'attention', ['deliveries_failed', 'log_errors'])
    await client.updateBot({ id: bot.id, url: https.as().url })
    const [one] = (await client.listDeliveries({ id: bot.id, status: 'failed' })).deliveries
    server().clock.advance(1000)
    await client.replayDelivery({ id: bot.id, deliveryId: one?.id ?? '' })
    await untilSeen(bot.id, 'ok', [])
    const seen = (await see()).bots.find(({ id }) => id === bot.id)
    expect(seen?.past.map(({ kind, message }) => [kind, message])).toEqual([
      ['deliveries_failed', '1 delivery of the last day failed.'],
      ['log_errors', 'There is 1 error of the last day in its logs.'],
    ])
    const { groups } = (await see()).errors
    expect(groups.map(({ kind, count }) => `${count} ${kind}`).sort()).toEqual([
      '1 delivery',
      '1 log',
    ])
    await client.createDeliveryReplay({ botId: bot.id })
    await vi.waitFor(async () => {
      const { errors, bots } = await see()
      expect(errors.groups.map(({ kind }) => kind)).toEqual(['log'])
      const past = bots.find(({ id }) => id === bot.id)?.past ?? []
      expect(past.map(({ kind }) => kind)).toEqual(['log_errors'])
    })
    // A new failure counts again, together with the earlier ones.
    await client.updateBot({ id: bot.id, url: https.as('refusing').url })
    server().clock.advance(1000)
    await own.writeBotLogs({ logs: [{ level: 'error', message: 'No handler for that' }] })
    await say(bot)
    await untilSeen(bot.id, 'attention', ['deliveries_failed', 'log_errors'])
    await client.deleteBot({ id: bot.id })
  })

  it('leaves out errors that somebody resolved, until the next of their kind', async () => {
    await begin()
    const { bot } = await client.createBot({ name: 'resolved', url: https.as().url })
    const own = server().client({ ...login, botId: bot.id })
    const report = async (message: string) => {
      server().clock.advance(1000)
      await own.writeBotLogs({ logs: [{ level: 'error', message }] })
    }
    /** The groups of the bot, with their counts. */
    const groups = async (counts: Record<string, number>) =>
      await vi.waitFor(async () => {
        const found = (await see()).errors.groups.filter(({ botId }) => botId === bot.id)
        expect(Object.fromEntries(found.map((group) => [group.pattern, group.count]))).toEqual(
          counts,
        )
        return found
      })
    await report('Order 1 is lost')
    await report('Order 2 is lost')
    await report('The shop is closed')
    await untilSeen(bot.id, 'attention', ['log_errors'])
    const [lost] = await groups({ 'Order # is lost': 2, 'The shop is closed': 1 })
    const errorId = lost?.id ?? ''
    await client.resolveErrors({ errorId })
    // At once, without waiting for the result to be read again.
    const left = (await client.getOverview()).errors.groups
    expect(left.map(({ pattern }) => pattern)).toEqual(['The shop is closed'])
    await client.resolveErrors({ errorId })
    await client.resolveErrors({ errorId: left[0]?.id ?? '' })
    await untilSeen(bot.id, 'ok', [])
    await client.reopenErrors({ errorId })
    expect(await recordedOperations(client)).toEqual(
      expect.arrayContaining(['reopenErrors', 'resolveErrors']),
    )
    await untilSeen(bot.id, 'attention', ['log_errors'])
    await groups({ 'Order # is lost': 2 })
    await client.resolveErrors({ errorId })
    await groups({})
    await report('Order 3 is lost')
    const [again] = await groups({ 'Order # is lost': 1 })
    expect(again?.id).toBe(errorId)
    await untilSeen(bot.id, 'attention', ['log_errors'])
    // Errors that came after the caller looked are not resolved.
    await report('Order 4 is lost')
    const lastAt = again?.lastAt ?? ''
    await client.resolveErrors({ errorId, lastAt })
    await groups({ 'Order # is lost': 1 })
    await client.resolveErrors({ errorId, lastAt: '2999-01-01T00:00:00Z' })
    await report('Order 5 is lost')
    await groups({ 'Order # is lost': 1 })
    await client.deleteBot({ id: bot.id })
  })

  it('resolves no errors of other workspaces, and refuses an unknown group', async () => {
    await begin()
    const { bot } = await client.createBot({ name: 'guarded', url: https.as('refusing').url })
    await say(bot)
    await untilSeen(bot.id, 'attention', ['deliveries_failed'])
    const [group] = (await see()).errors.groups
    const errorId = group?.id ?? ''
    const other = server().client(await addAccount(server()))
    await expect(other.resolveErrors({ errorId })).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
    await expect(other.reopenErrors({ errorId })).rejects.toMatchObject({
      type: 'ResourceNotFound',
      message: `There is no resolved group of errors ${errorId} in this workspace.`,
    })
    await expect(client.resolveErrors({ errorId: 'none' })).rejects.toMatchObject({
      type: 'ResourceNotFound',
      message: 'There is no group of errors none in the last 24 hours of this workspace.',
    })
    await expect(client.resolveErrors({ errorId, lastAt: 'soon' })).rejects.toMatchObject({
      type: 'InvalidPayload',
      message: expect.stringContaining('body.lastAt'),
    })
    expect((await see()).errors.groups.map(({ id }) => id)).toEqual([errorId])
    // A delivery that fails again after it was resolved is a new error.
    await client.resolveErrors({ errorId })
    await untilSeen(bot.id, 'ok', [])
    server().clock.advance(1000)
    await client.replayDelivery({ id: bot.id, deliveryId: group?.target.id ?? '' })
    await untilSeen(bot.id, 'attention', ['deliveries_failed'])
    await client.deleteBot({ id: bot.id })
  })

  it('forgets which errors were resolved after the time for which logs are kept', async () => {
    await begin()
    const { bot } = await client.createBot({ name: 'old', url: https.as().url })
    const own = server().client({ ...login, botId: bot.id })
    await own.writeBotLogs({ logs: [{ level: 'error', message: 'The shop is closed' }] })
    await untilSeen(bot.id, 'attention', ['log_errors'])
    const [group] = (await see()).errors.groups
    const errorId = group?.id ?? ''
    await client.resolveErrors({ errorId })
    server().clock.advance(keptMs - hourMs)
    // A group that is resolved can be resolved again, although its errors are no longer shown.
    await client.resolveErrors({ errorId })
    server().clock.advance(3 * hourMs)
    await vi.waitFor(() =>
      expect(client.resolveErrors({ errorId })).rejects.toMatchObject({ type: 'ResourceNotFound' }),
    )
  })

  it('is about one bot if that is wanted, with its errors alone', async () => {
    await begin()
    const { bot } = await client.createBot({ name: 'one', url: https.as('refusing').url })
    const { bot: other } = await client.createBot({ name: 'other', url: https.as('refusing').url })
    const { integration } = await client.createIntegration({ name: 'mail', version: '1.0.0' })
    const mail = { integrationId: integration.id, enabled: true, configuration: {} }
    for (const { id } of [bot, other]) {
      await client.updateBot({ id, integrations: { mail } })
      await server()
        .client({ ...login, botId: id })
        .writeBotLogs({ logs: [{ level: 'error', message: 'It broke' }] })
    }
    for (const each of [bot, bot, other]) await say(each)
    await untilSeen(bot.id, 'attention', ['registration_failed', 'deliveries_failed', 'log_errors'])
    const seeOne = async (botId: string, caller = client) => {
      server().clock.advance(reused)
      return await caller.getOverview({ botId })
    }
    const whole = await see()
    const one = await seeOne(bot.id)
    expect(one.bots).toEqual(whole.bots.filter(({ id }) => id === bot.id))
    expect(one.counts).toMatchObject({ bots: 2, botsNeedingAttention: 1, conversations: 2 })
    const groupsOf = ({ errors }: typeof one) =>
      errors.groups
        .filter(({ botId }) => botId === bot.id)
        .map(({ id, count, hours }) => ({ id, count, hours }))
    expect(groupsOf(one)).toEqual(groupsOf(whole))
    expect(one.errors.groups.every(({ botId }) => botId === bot.id)).toBe(true)
    // The server itself belongs to no bot.
    const { bot: own } = await server().client().createBot({})
    expect(await seeOne(own.id, server().client())).not.toHaveProperty('operator')

    const [group] = one.errors.groups.filter(({ kind }) => kind === 'delivery')
    const errorId = group?.id ?? ''
    await expect(client.resolveErrors({ errorId, botId: other.id })).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
    await client.resolveErrors({ errorId, botId: bot.id })
    expect(groupsOf(await client.getOverview({ botId: bot.id })).map(({ id }) => id)).not.toContain(
      errorId,
    )
    expect((await see()).errors.groups.map(({ id }) => id)).not.toContain(errorId)
  })

  it('refuses bots of other workspaces, and ids that only begin like one', async () => {
    await begin()
    const { bot } = await server().client().createBot({})
    const { bot: own } = await client.createBot({})
    for (const botId of [bot.id, 'nothing', `${own.id} too`]) {
      await expect(client.getOverview({ botId })).rejects.toMatchObject({
        type: 'ReferenceNotFound',
        message: `query.botId: there is no bot ${botId} in this workspace.`,
      })
      await expect(client.resolveErrors({ errorId: 'x', botId })).rejects.toMatchObject({
        type: 'ReferenceNotFound',
        message: `body.botId: there is no bot ${botId} in this workspace.`,
      })
    }
  })

  it('shows nothing of other workspaces', async () => {
    const other = server().client(await addAccount(server()))
    expect(await see(other)).toMatchObject({ status: 'empty', errors: { groups: [] } })
  })
})
