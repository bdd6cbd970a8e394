import { expect, it, vi } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { existingClient, makeBot } from '../../../../test/existing-clients.js'
import { useServer } from '../../../../test/harness.js'
import { bundleCode, talkTo } from '../../../../test/hosted-code.js'
import { addAccount } from '../../../../test/tenant.js'

const act = { input: { schema: {} }, output: { schema: {} } }

/** Code without the SDK: `handle` gets the input of an action. */
const program = (handle: string) => `
const logger = { issue(given) { console.info(JSON.stringify(given)) } }
const handle = async (input) => { ${handle} }
exports.handler = async (request) => {
  if (request.headers['x-bp-operation'] !== 'action_triggered') return { body: '{}' }
  const output = await handle(JSON.parse(request.body).input)
  return { body: JSON.stringify({ output: output ?? {} }) }
}`

const day = 24 * 60 * 60 * 1000

describeSlow('issues of a bot', (engine) => {
  const server = useServer(engine, {
    BOTSTEAD_HOSTING_MEMORY_BYTES: '64MiB',
    BOTSTEAD_HOSTING_LOG_LINES: '5',
  })

  async function deployed(handle: string, rest: { maxExecutionTime?: number } = {}) {
    const { admin, bot, client } = await makeBot(server())
    const { id } = bot
    await admin.updateBot({ id, code: program(handle), actions: { act }, ...rest })
    const call = async (input: Record<string, unknown> = {}) =>
      (await client.callAction({ type: 'act', input })).output
    const fail = async (input: Record<string, unknown> = {}) =>
      await expect(call(input)).rejects.toMatchObject({ type: 'Runtime' })
    const issues = async (pageSize = 20) => (await admin.listBotIssues({ id, pageSize })).issues
    const untilIssue = async (code: string, eventsCount = 1) =>
      await vi.waitFor(async () => {
        const found = (await issues(100)).filter((issue) => issue.code === code)
        expect(found).toMatchObject([{ eventsCount }])
        return found[0] ?? expect.fail()
      })
    return { admin, id, call, fail, issues, untilIssue }
  }

  it('are errors that the code did not handle, once for each place, with their events', async () => {
    const { admin, id, fail, untilIssue } = await deployed(`
      const find = (number) => { throw new Error('There is no order ' + number) }
      find(input.number)
    `)
    await fail({ number: 1 })
    await fail({ number: 22 })
    const issue = await untilIssue('unhandled_error', 2)
    expect(issue).toMatchObject({
      category: 'user_code',
      title: 'Error: There is no order 22',
      description: expect.stringContaining('at find'),
      groupedData: { place: { raw: 'at find (/bundle.cjs:<n>:<n>)' } },
      resolutionLink: null,
    })
    expect(await admin.getBotIssue({ id, issueId: issue.id })).toEqual({ issue })
    const { issueEvents } = await admin.listBotIssueEvents({ id, issueId: issue.id })
    expect(issueEvents.map(({ data }) => data.error?.raw.split('\n')[0])).toEqual([
      'Error: There is no order 22',
      'Error: There is no order 1',
    ])
    await admin.deleteBotIssue({ id, issueId: issue.id })
    for (const reach of [
      () => admin.getBotIssue({ id, issueId: issue.id }),
      () => admin.listBotIssueEvents({ id, issueId: issue.id }),
      () => admin.deleteBotIssue({ id, issueId: issue.id }),
    ]) {
      await expect(reach()).rejects.toMatchObject({ type: 'ResourceNotFound' })
    }
    await fail({ number: 3 })
    expect((await untilIssue('unhandled_error')).id).not.toBe(issue.id)
  })

  it.each(['@botpress/sdk', 'sdk7'])(
    'are errors of handlers with %s, and what the logger reports, with what they are about',
    async (sdk) => {
      const { admin, bot, webhookId } = await makeBot(server())
      const code = await bundleCode(`
        import { Bot } from '${sdk}'
        const bot = new Bot({ actions: {}, plugins: {} })
        bot.on.message('*', async ({ message, logger }) => {
          logger.issue({
            type: 'issue',
            code: 'no_stock',
            category: 'configuration',
            title: 'Nothing in stock',
            description: 'Order more',
            data: { item: { raw: 'tea', pretty: 'Tea' }, left: { raw: '0' } },
            groupBy: ['item'],
          })
          throw new TypeError('I cannot answer ' + message.payload.text)
        })
        export default bot
      `)
      await admin.updateBot({ id: bot.id, code })
      const { say, conversationId } = await talkTo(server(), webhookId)
      await say('this')
      const issues = await vi.waitFor(async () => {
        const found = (await admin.listBotIssues({ id: bot.id })).issues
        expect(found.map((issue) => issue.code).toSorted()).toEqual(['no_stock', 'unhandled_error'])
        return found
      })
      const [stock, thrown] = issues.toSorted((a, b) => (a.code < b.code ? -1 : 1))
      expect(stock).toMatchObject({
        category: 'configuration',
        title: 'Nothing in stock',
        description: 'Order more',
        groupedData: { item: { raw: 'tea', pretty: 'Tea' } },
      })
      expect(thrown).toMatchObject({ title: 'TypeError: I cannot answer this' })
      for (const issue of issues) {
        const { issueEvents } = await admin.listBotIssueEvents({ id: bot.id, issueId: issue.id })
        expect(issueEvents[0]?.data.conversationId).toEqual({ raw: conversationId })
        expect(issueEvents[0]?.data.messageId?.raw).toMatch(/^msg_/)
      }
    },
  )

  it('are ends of the code by itself and by too much memory', async () => {
    const { fail, untilIssue } = await deployed(`
      if (input.end) { setTimeout(() => { throw new Error('Out of tea') }); await new Promise(() => {}) }
      const all = []
      for (;;) all.push(new Array(10000).fill({}))
    `)
    await fail({ end: true })
    expect(await untilIssue('code_stopped')).toMatchObject({
      category: 'user_code',
      title: expect.stringMatching(/^The code stopped: .*exit code 1: Error: Out of tea/),
    })
    server().clock.advance(1000)
    await fail({})
    expect(await untilIssue('memory_exceeded')).toMatchObject({ category: 'limits' })
  })

  it('are requests that take too long, and code that responds to nothing', async () => {
    const { fail, issues, untilIssue } = await deployed('for (;;);', { maxExecutionTime: 1 })
    await fail()
    // Other requests, such as the registration, may have to wait for it in vain.
    await vi.waitFor(async () =>
      expect(await issues()).toContainEqual(
        expect.objectContaining({
          code: 'request_timed_out',
          category: 'limits',
          title: 'The code did not finish action_triggered in time',
          description: expect.stringContaining('1 s'),
          groupedData: {
            operation: { raw: 'action_triggered' },
            type: { raw: 'action_triggered' },
          },
        }),
      ),
    )
    expect((await untilIssue('code_unresponsive')).category).toBe('limits')
  })

  it('are floods of output', async () => {
    const { call, issues, untilIssue } = await deployed(
      'for (let at = 0; at < 50; at++) console.log(at)',
    )
    await call()
    // They are counted for ten seconds.
    await vi.waitFor(
      async () => {
        server().clock.advance(1000)
        expect((await issues()).map(({ code }) => code)).toContain('output_dropped')
      },
      { interval: 100 },
    )
    expect(await untilIssue('output_dropped')).toMatchObject({
      category: 'limits',
      description: expect.stringContaining('BOTSTEAD_HOSTING_LOG_LINES'),
    })
  })

  it('are bounded: a hundred of a bot, and fifty events of one; the oldest go', async () => {
    const { admin, id, call, untilIssue } = await deployed(`
      const { code, from, to, size = 1 } = input
      for (let at = from; at < to; at++) {
        const data = { at: { raw: String(at) }, text: { raw: 'x'.repeat(size) } }
        logger.issue({ type: 'issue', code: code ?? 'c' + at, title: 't', data })
      }
    `)
    await call({ from: 0, to: 60 })
    // All of them, because no more than a hundred may wait to be stored.
    await untilIssue('c59')
    await call({ from: 60, to: 150 })
    const all = async () => {
      const found: string[] = []
      let nextToken: string | undefined
      do {
        const page = await admin.listBotIssues({
          id,
          pageSize: 40,
          ...(nextToken && { nextToken }),
        })
        found.push(...page.issues.map(({ code }) => code))
        nextToken = page.meta.nextToken
      } while (nextToken !== undefined)
      return found
    }
    await vi.waitFor(async () => {
      const codes = await all()
      for (const code of ['c149', 'c60']) expect(codes).toContain(code)
      expect(codes).toHaveLength(100)
      expect(new Set(codes).size).toBe(100)
    })

    await call({ code: 'often', from: 0, to: 300 })
    const often = await untilIssue('often', 300)
    const events = async (issueId: string) =>
      (await admin.listBotIssueEvents({ id, issueId })).issueEvents
    expect((await events(often.id)).length).toBeLessThanOrEqual(50)
    await call({ code: 'large', from: 0, to: 1, size: 60_000 })
    const large = await untilIssue('large')
    expect((await events(large.id))[0]?.data.text?.raw).toHaveLength(60_000)

    // 300 events a minute of all problems together; the problems are counted nevertheless.
    await call({ from: 150, to: 240 })
    await untilIssue('c239')
    await call({ from: 240, to: 330 })
    expect(await events((await untilIssue('c329')).id)).toEqual([])
  })

  it('are of the bot that the code of an integration names, if it is installed there', async () => {
    const { admin, bot, client } = await makeBot(server())
    const other = (await admin.createBot({})).bot.id
    const own = server().client()
    const { integration } = await own.createIntegration({
      name: `shop-${engine.name}`,
      version: '1.0.0',
      actions: { act },
      code: program(`
        const line = { type: 'issue', code: 'shop_closed', title: 'Closed', description: 'd' }
        logger.issue(line)
        logger.issue({ ...line, options: {}, botId: '${other}' })
        throw new Error('Failed')
      `),
    })
    const integrations = { shop: { integrationId: integration.id, enabled: true } }
    await own.updateBot({ id: bot.id, integrations })
    await expect(client.callAction({ type: 'shop:act', input: {} })).rejects.toMatchObject({
      type: 'Runtime',
    })
    await vi.waitFor(async () => {
      const { issues } = await admin.listBotIssues({ id: bot.id })
      expect(issues.map(({ code }) => code)).toEqual(['shop_closed'])
      const { logs } = await admin.getIntegrationLogs({
        id: integration.id,
        timeStart: '2000-01-01T00:00:00Z',
      })
      expect(logs.map(({ message }) => message)).toContainEqual(
        expect.stringMatching(/^Error: Failed/),
      )
    })
    expect((await admin.listBotIssues({ id: other })).issues).toEqual([])
  })

  it('belong to their bot and workspace, and go after a time', async () => {
    const { admin, id, fail, issues, untilIssue } = await deployed('throw new Error("x")')
    await fail()
    const { id: issueId } = await untilIssue('unhandled_error')
    const { bot: other } = await admin.createBot({})
    const stranger = existingClient(server(), await addAccount(server()))
    for (const reach of [
      () => admin.getBotIssue({ id: other.id, issueId }),
      () => admin.listBotIssueEvents({ id: other.id, issueId }),
      () => admin.deleteBotIssue({ id: other.id, issueId }),
      () => stranger.listBotIssues({ id }),
      () => stranger.getBotIssue({ id, issueId }),
      () => stranger.listBotIssueEvents({ id, issueId }),
    ]) {
      await expect(reach()).rejects.toMatchObject({ type: 'ResourceNotFound' })
    }
    await server().pass(31 * day)
    await vi.waitFor(async () => expect(await issues()).toEqual([]))
  })
})
