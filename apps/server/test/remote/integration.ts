import { expect, vi } from 'vitest'
import { existingClient } from '../existing-clients.js'
import type { TestServer } from '../harness.js'
import type { Remote } from './server.js'

let count = 0

/** An installation once its registration has ended, for which a change of the bot waits seconds at most. */
export async function registered(
  admin: ReturnType<typeof existingClient>,
  id: string,
  alias: string,
) {
  return await vi.waitFor(async () => {
    const installed = (await admin.getBot({ id })).bot.integrations[alias]
    expect(installed?.status).not.toMatch(/_pending$/)
    return installed
  })
}

/**
 * An integration whose server is the remote one, and a bot in which it is installed as `mail`.
 * @param takesLong whether its registration does not end by itself
 */
export async function installMail(server: TestServer, remote: Remote, takesLong = false) {
  const admin = existingClient(server, { headers: { 'x-multiple-integrations': 'true' } })
  const { integration } = await admin.createIntegration({
    name: `mail-${++count}`,
    version: '1.0.0',
    url: remote.url,
    configuration: {
      schema: { type: 'object', properties: { token: { type: 'string' } } },
    },
    configurations: { sandbox: { schema: { type: 'object', required: ['account'] } } },
    channels: { inbox: { messages: { text: { schema: {} } } } },
    actions: {
      send: { input: { schema: { type: 'object', required: ['to'] } }, output: { schema: {} } },
      look: { cacheable: true, input: { schema: {} }, output: { schema: {} } },
    },
  })
  const made = await admin.createIntegrationApiKey({ integrationId: integration.id })
  const { bot } = await admin.createBot({ name: 'With mail' })
  const install = async (patch: object) => {
    const updated = await admin.updateBot({
      id: bot.id,
      integrations: { mail: { integrationId: integration.id, ...patch } },
    })
    return takesLong ? updated.bot.integrations.mail : await registered(admin, bot.id, 'mail')
  }
  const installed = await install({ enabled: true, configuration: { token: 'tkn' } })
  return {
    admin,
    integration,
    bot,
    key: made.value,
    keyId: made.id,
    install,
    installed,
    inBot: existingClient(server, { botId: bot.id }),
    inMail: existingClient(server, {
      token: made.value,
      botId: bot.id,
      integrationId: integration.id,
      integrationAlias: 'mail',
    }),
    /** The installation as it is now. */
    now: async () => (await admin.getBot({ id: bot.id })).bot.integrations.mail,
  }
}
