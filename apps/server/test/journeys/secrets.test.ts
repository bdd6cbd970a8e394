import { readFile } from 'node:fs/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLog } from '../../src/platform/telemetry/log.js'
import { engines } from '../engines.js'
import { readBelow } from '../files-below.js'
import { startTestServer, type TestServer } from '../harness.js'
import { eventually } from '../jobs.js'
import { freePort } from '../ports.js'

/** All bytes below the data folder, by path, except files whose purpose is to hold a secret. */
async function keptBytes({ server }: TestServer): Promise<Map<string, Buffer>> {
  const { dataDir } = server.config
  const secret = /\/(admin-token|secret)$/
  return await readBelow(dataDir, async (path, isFile) =>
    isFile && !secret.test(path) ? await readFile(path) : Buffer.alloc(0),
  )
}

describe('a secret', () => {
  const [sqlite] = engines
  if (sqlite === undefined) throw new Error('There is no engine to test on')

  it('is neither in the data folder nor in the log, even when bots fail and calls are refused', async () => {
    const lines: string[] = []
    const log = await createLog({
      level: 'debug',
      destination: { write: (line) => void lines.push(line) },
    })
    const server = await startTestServer(sqlite, {}, log)
    onTestFinished(server.close)
    const admin = server.client()
    const nobody = `http://127.0.0.1:${await freePort()}`
    const given = {
      botSecret: 'the-secret-of-the-bot',
      configured: 'the-credential-of-the-mailbox',
      encryptionKey: 'the-key-of-the-chat-users',
      webhookSecret: 'the-secret-of-the-webhook',
    }

    const { pat } = await admin.createPersonalAccessToken({ note: 'laptop' })
    const { integration } = await admin.createIntegration({
      name: 'mail',
      version: '1.0.0',
      url: nobody,
      configuration: { schema: { type: 'object', properties: { token: { type: 'string' } } } },
    })
    const { bot } = await admin.createBot(
      { url: nobody, secrets: { API: given.botSecret } },
      { idempotencyKey: 'once' },
    )
    const [chatId = '', chat] = Object.entries(bot.integrations)[0] ?? []
    const botKey = await admin.createBotApiKey({ botId: bot.id, note: 'uploader' })
    const mailKey = await admin.createIntegrationApiKey({ integrationId: integration.id })
    const guest = await server.client({ webhookId: chat?.webhookId ?? '' }).chatCreateUser({})
    const { newSigningSecret } = await admin.rotateBotSigningSecrets({ id: bot.id })
    const { encryptionKey, webhookSecret } = given
    await admin.updateBot({
      id: bot.id,
      integrations: {
        [integration.id]: { enabled: true, configuration: { token: given.configured } },
        [chatId]: {
          configuration: { encryptionKey, webhookSecret, webhookUrl: `${nobody}/signals` },
        },
      },
    })

    const inBot = server.client({ token: botKey.value, botId: bot.id })
    const { file } = await inBot.upsertFile({ key: 'plan.txt', size: 4 })
    await server.fetch(new URL(file.uploadUrl).pathname, { method: 'PUT', body: 'plan' })
    const headers = { 'x-user-key': guest.key, 'content-type': 'application/json' }
    const body = JSON.stringify({
      conversationId: 'none',
      payload: { type: 'text', text: 'a body' },
    })
    const chatPath = `/chat/${chat?.webhookId}`
    // The key of the guest is refused, since the chat now has an encryption key of its own.
    expect(
      (await server.fetch(`${chatPath}/messages`, { method: 'POST', headers, body })).status,
    ).toBe(401)
    await server.fetch(`${chatPath}/conversations/none/listen?x-user-key=${guest.key}`)
    await inBot.createEvent({ type: 'news', payload: { text: 'a body' } })
    await eventually(async () => {
      const { logs } = await admin.getBotLogs({ id: bot.id, timeStart: '2000-01-01T00:00:00Z' })
      expect(logs.map(({ message }) => message).join('\n')).toContain('Not delivered: news')
    })

    const secrets = {
      ...given,
      first: server.token,
      personal: pat.value,
      botKey: botKey.value,
      mailKey: mailKey.value,
      userKey: guest.key,
      newSigningSecret,
      signingSecret: bot.signingSecret,
      ofIntegration: integration.signingSecret,
      uploadUrl: new URL(file.uploadUrl).pathname,
    }
    for (const secret of Object.values(secrets)) expect(secret.length).toBeGreaterThan(20)
    const written = lines.join('')
    expect(written).toContain('request refused')
    expect(written).not.toContain('a body')
    const kept = [...(await keptBytes(server))]
    expect(kept.some(([, bytes]) => bytes.includes(bot.id))).toBe(true)
    for (const [name, secret] of Object.entries(secrets)) {
      const files = kept.filter(([, bytes]) => bytes.includes(secret)).map(([path]) => path)
      expect({ name, logged: written.includes(secret), files }).toEqual({
        name,
        logged: false,
        files: [],
      })
    }
  })
})
