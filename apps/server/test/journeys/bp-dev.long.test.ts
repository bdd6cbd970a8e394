import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { useBp } from '../bp.js'
import { connect, existingClient } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { eventually } from '../jobs.js'
import { freePort } from '../ports.js'
import { runCommand } from '../processes.js'

describe('bp dev', () => {
  const server = useServer()
  const bp = useBp()
  beforeAll(async () => {
    await bp().login(server())
    await existingClient(server()).updateWorkspace({ id: server().workspaceId, handle: 'acme' })
  })

  /** Starts it in a project and waits until its bot or integration is known to the server. */
  async function develop(folder: string, path = '/tunnel', more: readonly string[] = []) {
    const port = String(await freePort())
    const tunnel = ['--tunnelUrl', `${server().url}${path}`, '--port', port]
    const running = bp().start(['dev', '--workDir', folder, ...tunnel, ...more])
    await running.wrote(/deployed with id "/i)
    // Until then it refuses calls, which are repeated later and later.
    await running.wrote(/Listening on port/)
    const [, id = ''] = /deployed with id "([^"]+)"/i.exec(running.output()) ?? []
    return { running, id }
  }

  async function chatWith(botId: string) {
    const { bot } = await existingClient(server()).getBot({ id: botId })
    const chat = Object.values(bot.integrations).find(({ name }) => name === 'chat')
    const user = await connect(server(), chat?.webhookId ?? '')
    const { conversation } = await user.createConversation({})
    const { id: conversationId } = conversation
    return {
      say: (text: string) =>
        user.createMessage({ conversationId, payload: { type: 'text', text } }),
      /** Longer than the pauses between calls to a tool that has just begun, or has not noticed that another ended. */
      heard: async (text: string) =>
        await vi.waitFor(
          async () => {
            const { messages } = await user.listMessages({ conversationId })
            const texts = messages.map(({ payload }) => 'text' in payload && payload.text)
            expect(texts).toContain(text)
          },
          { timeout: 40_000, interval: 100 },
        ),
    }
  }

  it('runs a bot that answers in the chat, and again after a change', async () => {
    const folder = await bp().project('echo-bot')
    const { running, id } = await develop(folder)
    const { bot } = await existingClient(server()).getBot({ id })
    expect(bot).toMatchObject({ dev: true, url: expect.stringMatching(/^http:.*\/[0-9a-f-]{36}$/) })
    const chat = await chatWith(id)
    await chat.say('hello')
    await chat.heard('echo: hello')
    // As the guide for developers has it.
    const { url, token } = server()
    const environment = { BOTSTEAD_URL: url, BOTSTEAD_TOKEN: token }
    const talk = await runCommand(['chat', '--bot', id], environment, 'Good morning')
    expect(talk).toMatchObject({ status: 0, stdout: expect.stringContaining('echo: Good morning') })

    const source = join(folder, 'src/index.ts')
    const changed = (await readFile(source, 'utf8')).replace('echo:', 'changed:')
    // At once: the command would see the file empty, and then changed again.
    await writeFile(`${folder}.changed`, changed)
    await rename(`${folder}.changed`, source)
    await running.wrote(/Changes detected[\s\S]*Listening on port/)
    await chat.say('again')
    await chat.heard('changed: again')

    await running.kill()
    const next = await develop(folder)
    expect(next.id).toBe(id)
    await chat.say('still there')
    await chat.heard('changed: still there')
    await next.running.kill()
  })

  it('serves nothing through the tunnel but the calls of the server', async () => {
    const folder = await bp().project('echo-bot', 'closed-bot')
    const { running, id } = await develop(folder, '/tunnel/a-key-of-the-developer')
    const { url = '' } = (await server().client().getBot({ id })).bot
    const tunnelId = url.split('/').at(-1) ?? ''
    for (const path of [`/${tunnelId}`, `/${tunnelId}/health`, `/tunnel/${tunnelId}`]) {
      const response = await server().fetch(path)
      expect([response.status, await response.json()]).toMatchObject([403, { type: 'Forbidden' }])
    }
    const posted = await server().fetch(`/${tunnelId}`, { method: 'POST', body: '{}' })
    expect(posted.status).toBe(403)
    const chat = await chatWith(id)
    await chat.say('hello')
    await chat.heard('echo: hello')
    await running.kill()
  })

  it('runs an integration: actions, webhooks and messages', async () => {
    const admin = existingClient(server(), { headers: { 'x-multiple-integrations': 'true' } })
    const secret = ['--secrets', 'API_KEY=key of the service']
    const deployed = await bp().project('messenger', 'deployed-messenger')
    await bp().succeed(['deploy', '--workDir', deployed, ...secret])
    const folder = await bp().project('messenger', 'dev-messenger')
    const { running, id } = await develop(folder, '/tunnel', secret)
    const { integration } = await admin.getIntegration({ id })
    expect(integration).toMatchObject({ dev: true, name: 'messenger' })
    // It sends the names of its scripts, and takes no address from what is deployed.
    const extractScript = 'extract.vrl'
    expect(integration.identifier).toMatchObject({ extractScript })
    await eventually(async () => {
      const { logs } = await admin.getIntegrationLogs({ id, timeStart: '2000-01-01T00:00:00Z' })
      const lines = logs.map(({ message }) => message).join('\n')
      expect(lines).toContain(`extractScript is the name of a file, ${extractScript}`)
      expect(lines).toContain('/integration/global/messenger do not reach this integration')
    })
    for (const name of ['messenger', 'acme/messenger']) {
      const path = `/integration/global/${name}?challenge=42`
      expect(await (await server().fetch(path)).text()).toBe('42')
    }
    const { bot } = await admin.createBot({ name: 'Uses the integration in development' })
    const configuration = { serviceUrl: 'http://127.0.0.1:9' }
    const integrations = { messenger: { integrationId: id, enabled: true, configuration } }
    const installed = await admin.updateBot({ id: bot.id, integrations })
    expect(installed.bot.integrations.messenger).toMatchObject({ status: 'registered' })

    const inBot = existingClient(server(), { botId: bot.id })
    const { output } = await inBot.callAction({ type: 'messenger:greet', input: { name: 'Ada' } })
    expect(output).toEqual({ greeting: 'Hello Ada' })
    const received = await fetch(installed.bot.integrations.messenger?.webhookUrl ?? '', {
      method: 'POST',
      body: JSON.stringify({ from: 'ada', text: 'hello' }),
    })
    expect(received.status).toBe(200)
    const { messages } = await inBot.listMessages({})
    expect(messages.map(({ payload }) => payload.text)).toEqual(['hello'])
    await running.kill()
  })
})
