import { existingClient } from '../existing-clients.js'
import type { TestServer } from '../harness.js'
import type { Remote } from './server.js'

let count = 0

/** An integration whose server is the remote one, and a bot in which it is installed as `mail`. */
export async function installMail(server: TestServer, remote: Remote) {
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
    return updated.bot.integrations.mail
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
