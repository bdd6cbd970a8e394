import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { describeEachEngine } from '../engines.js'
import { existingClient } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { bundleCode } from '../hosted-code.js'
import { eventually } from '../jobs.js'
import { addAccount } from '../tenant.js'
import { messengerCode, messengerDefinition, typingBot } from './messenger-code.js'

/** The service of a messenger, which records what it is told about the conversation with somebody. */
async function startService() {
  const calls: { path: string; secret: string | undefined; body: Record<string, unknown> }[] = []
  const server = createServer(async (request, response) => {
    const { url: path = '', headers } = request
    calls.push({ path, secret: headers.authorization, body: JSON.parse(await text(request)) })
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  const heardBy = (person: string) =>
    calls
      .filter(({ body }) => body.to === person)
      .map(({ path, body }) => [path, body.text ?? body.on])
  return { url, calls, heardBy }
}

/** Repeats a deployment whose code did not load in time, as it happens on a machine that is very busy. */
async function patiently<T>(deploy: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await deploy()
    } catch (error) {
      const isLate = error instanceof Error && error.message.includes('was not loaded within')
      if (!isLate || attempt === 5) throw error
    }
  }
}

/** Milliseconds: eight programs start one after the other. */
const patience = 600_000

const versions = [
  { name: '@botpress/sdk', title: 'messenger' },
  { name: 'sdk7', title: 'messenger-7' },
]

describeEachEngine('a messenger that is deployed as an integration', (engine) => {
  const server = useServer(engine)
  const client = (login = {}) =>
    existingClient(server(), { ...login, headers: { 'x-multiple-integrations': 'true' } })

  it.each(versions)(
    'serves the bots of two workspaces, with $name',
    async ({ name: sdk, title }) => {
      const service = await startService()
      const developer = client()
      const typing = {
        input: { schema: { type: 'object', required: ['conversationId'] } },
        output: { schema: {} },
      }
      const { interface: typingIndicator } = await developer.createInterface({
        name: `typing-indicator-${title}`,
        version: '1.0.0',
        public: true,
        actions: { startTyping: typing, stopTyping: typing },
      })
      const creating = {
        name: title,
        version: '1.0.0',
        ...messengerDefinition(typingIndicator.id),
        code: await bundleCode(messengerCode(sdk)),
      }
      // Its code needs the secret when it is loaded, so that it cannot be deployed without.
      await expect(patiently(() => developer.createIntegration(creating))).rejects.toMatchObject({
        message: expect.stringContaining('APP_SECRET is missing'),
      })
      const secrets = { APP_SECRET: 'sesame' }
      await patiently(() => developer.createIntegration({ ...creating, secrets }))

      /** A bot of a workspace of its own that is connected to a page. */
      async function connectPage(page: string) {
        const login = await addAccount(server())
        const admin = client(login)
        const { integration: found } = await admin.getPublicIntegration({
          name: title,
          version: '>=1.0.0 <2.0.0',
        })
        const actions = found.interfaces['typing-indicator']?.actions ?? {}
        const { bot } = await admin.createBot({})
        const code = await bundleCode(
          typingBot(sdk, {
            start: actions.startTyping?.name ?? '',
            stop: actions.stopTyping?.name ?? '',
          }),
        )
        const configuration = { serviceUrl: service.url }
        const messenger = { integrationId: found.id, enabled: true, configuration }
        const updated = await patiently(() =>
          admin.updateBot({ id: bot.id, code, integrations: { messenger } }),
        )
        const installed = updated.bot.integrations.messenger
        expect(installed).toMatchObject({
          status: 'registration_pending',
          statusReason: expect.stringContaining('waits for its account'),
        })
        // As the dashboards of people do: the script makes the address at which the setup begins.
        const { result } = await admin.runVrl({
          script: found.configuration.identifier.linkTemplateScript ?? '',
          data: {
            webhookId: installed?.webhookId,
            webhookUrl: `${server().url}/webhooks`,
            env: 'production',
          },
        })
        const first = await fetch(String(result))
        expect(first.headers.get('set-cookie')).toBeNull()
        expect(first.headers.get('content-security-policy')).toMatch(/^sandbox .*allow-forms/)
        const form = /action="([^"]+)"/.exec(await first.text())?.[1] ?? ''
        expect(form).toBe(`${server().url}/oauth/wizard/account?state=${installed?.webhookId}`)
        const submit = (fields: Record<string, string>) =>
          fetch(form, { method: 'POST', body: new URLSearchParams(fields) })
        const failed = await submit({})
        expect(await failed.text()).toContain('No page was chosen')
        const done = await submit({ bp_page: page })
        expect(done.url).toBe(`${server().url}/apps/oauth/interstitial?success=true`)
        expect(await done.text()).toContain('reports that it succeeded')
        await eventually(async () => {
          const { bot: now } = await admin.getBot({ id: bot.id })
          expect(now.integrations.messenger).toMatchObject({
            status: 'registered',
            identifier: page,
          })
        })
        return existingClient(server(), { ...login, botId: bot.id })
      }

      const address = `${server().url}/integration/global/${title}`
      const challenge = await fetch(`${address}?hub.mode=subscribe&hub.challenge=4711`)
      expect([challenge.status, await challenge.text()]).toEqual([200, '4711'])

      const one = await connectPage('P1')
      const two = await connectPage('P2')
      expect(service.calls.map(({ path, body }) => [path, body.page])).toEqual([
        ['/subscriptions', 'P1'],
        ['/subscriptions', 'P2'],
      ])
      const write = (page: string, from: string, said: string, secret = 'sesame') =>
        fetch(address, {
          method: 'POST',
          headers: { 'x-app-secret': secret },
          body: JSON.stringify({ object: 'page', page, from, text: said, id: `${page}-${said}` }),
        })
      expect((await write('P1', 'ada', 'hi', 'wrong')).status).toBe(401)
      expect((await write('P3', 'ada', 'hi')).status).toBe(404)
      for (const [page, from, said] of [
        ['P1', 'ada', 'hello'],
        ['P2', 'bob', 'good day'],
        // Services repeat a call that they believe lost.
        ['P1', 'ada', 'hello'],
      ] as const) {
        expect((await write(page, from, said)).status).toBe(200)
      }
      const answered = (said: string) => [
        ['/typing', true],
        ['/messages', `echo: ${said}`],
        ['/typing', false],
      ]
      await eventually(() => {
        expect(service.heardBy('ada')).toHaveLength(3)
        expect(service.heardBy('bob')).toHaveLength(3)
      })
      // The message leaves by a delivery of its own, which may overtake the call that ends the indicator.
      expect(service.heardBy('ada').toSorted()).toEqual(answered('hello').toSorted())
      expect(service.heardBy('bob').toSorted()).toEqual(answered('good day').toSorted())
      expect(new Set(service.calls.map(({ secret }) => secret))).toEqual(new Set(['Bearer sesame']))
      for (const [inBot, said] of [
        [one, 'hello'],
        [two, 'good day'],
      ] as const) {
        const { messages } = await inBot.listMessages({})
        expect(messages.map(({ payload }) => payload.text).toSorted()).toEqual(
          [said, `echo: ${said}`].toSorted(),
        )
        expect(await inBot.listConversations({})).toMatchObject({ conversations: { length: 1 } })
      }
    },
    patience,
  )
})
