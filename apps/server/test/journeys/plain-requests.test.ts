import { createHash } from 'node:crypto'
import type { contract, Output } from '@botstead/contract'
import { beforeAll, expect, it, vi } from 'vitest'
import { describeSlow } from '../engines.js'
import { useServer } from '../harness.js'

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const text = expect.any(String)
const uuid = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/
const document =
  '# Pumps\n\nA worn seal makes a pump leak.\n\n## Motors\n\nA motor hums at 50 Hz.\n'

/** The calls as a reader of the documentation types them: no client, no types. */
describeSlow('plain requests', (engine) => {
  const server = useServer(engine)
  let botId: string
  let webhookId: string

  async function call<Json>(method: string, path: string, headers: object, body?: object) {
    const response = await server().fetch(path, {
      method,
      headers: { ...(body && { 'Content-Type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(response.headers.get('x-request-id')).toMatch(/^req_/)
    return { status: response.status, json: (await response.json()) as Json }
  }

  const authorized = () => ({ Authorization: `Bearer ${server().token}` })
  const admin = () => ({ ...authorized(), 'x-workspace-id': server().workspaceId })
  const inBot = () => ({ ...authorized(), 'x-bot-id': botId })

  beforeAll(async () => {
    const { json } = await call<Output<typeof contract.bots.create>>(
      'POST',
      '/v1/admin/bots',
      admin(),
      { name: 'Pump helper' },
    )
    botId = json.bot.id
    webhookId = Object.values(json.bot.integrations)[0]?.webhookId ?? ''
  })

  it('list bots', async () => {
    const { status, json } = await call('GET', '/v1/admin/bots', admin())
    expect(status).toBe(200)
    expect(json).toEqual({
      bots: [
        {
          id: botId,
          name: 'Pump helper',
          type: 'studio',
          tags: {},
          createdAt: time,
          updatedAt: time,
        },
      ],
      meta: {},
    })
  })

  it('list bots page by page', async () => {
    const deployed = { name: 'Deployed', url: 'http://[::1]:9' }
    await call('POST', '/v1/admin/bots', admin(), deployed)
    const first = await call<Output<typeof contract.bots.list>>(
      'GET',
      '/v1/admin/bots?pageSize=1',
      admin(),
    )
    expect(first.json).toMatchObject({
      bots: [{ name: 'Deployed', deployedAt: time }],
      meta: { nextToken: text },
    })
    const next = encodeURIComponent(first.json.meta.nextToken ?? '')
    const second = await call('GET', `/v1/admin/bots?pageSize=1&nextToken=${next}`, admin())
    expect(second.json).toMatchObject({ bots: [{ id: botId }], meta: {} })
  })

  const file = {
    id: expect.stringMatching(/^file_/),
    key: 'pump.md',
    url: expect.stringMatching(/^http:\/\/localhost:\d+\/content\/file_/),
    contentType: 'text/markdown',
    tags: { lang: 'en' },
    metadata: { edition: 3 },
    createdAt: time,
    updatedAt: time,
    accessPolicies: ['integrations'],
    index: true,
  }

  it('create a file, send its content and search in it', async () => {
    const expiresAt = new Date(Date.now() + 60 * 60_000)
    const headers = { ...inBot(), 'x-integration-alias': 'docs', 'x-user-role': 'editor' }
    const created = await call<Output<typeof contract.files.upsert>>('PUT', '/v1/files', headers, {
      key: 'pump.md',
      size: Buffer.byteLength(document),
      tags: { lang: 'en' },
      index: true,
      accessPolicies: ['integrations'],
      expiresAt: expiresAt.toISOString(),
      metadata: { edition: 3 },
    })
    const expires = `${expiresAt.toISOString().slice(0, 16)}:00.000Z`
    const common = { ...file, botId, expiresAt: expires, owner: { type: 'bot', id: botId } }
    expect(created.status).toBe(200)
    expect(created.json).toEqual({
      file: {
        ...common,
        size: document.length,
        status: 'upload_pending',
        uploadUrl: expect.stringMatching(/^http:\/\/localhost:\d+\/uploads\//),
      },
    })
    const { id, uploadUrl } = created.json.file
    expect((await fetch(uploadUrl, { method: 'PUT', body: document })).status).toBe(200)
    const completed = {
      ...common,
      size: document.length,
      sha256: createHash('sha256').update(document).digest('hex'),
      status: 'indexing_completed',
    }
    await vi.waitFor(async () => {
      const { json } = await call('GET', `/v1/files/${id}`, inBot())
      expect(json).toEqual({ file: { ...completed, indexingStack: 'v1', indexingOmissions: 0 } })
    })

    const query = 'query=Why%20does%20the%20pump%20leak%3F&contextDepth=0&limit=1&withContext=true'
    const found = await call<Output<typeof contract.search.files>>(
      'GET',
      `/v1/files/search?${query}`,
      inBot(),
    )
    expect(found.status).toBe(200)
    expect(found.json.passages).toEqual([
      {
        content: expect.stringContaining('worn seal'),
        score: expect.any(Number),
        meta: { type: 'chunk', subtype: text, position: expect.any(Number) },
        file: {
          id,
          key: 'pump.md',
          contentType: 'text/markdown',
          tags: { lang: 'en' },
          metadata: { edition: 3 },
          createdAt: time,
          updatedAt: time,
        },
        context: expect.arrayContaining([
          { type: 'current', id: expect.stringMatching(uuid), text, offset: 0 },
        ]),
      },
    ])
  })

  it('create a conversation and a message in it', async () => {
    const { status, json } = await call<Output<typeof contract.conversations.create>>(
      'POST',
      '/v1/chat/conversations',
      inBot(),
      {
        channel: 'channel',
        tags: { topic: 'pumps' },
        integrationName: 'chat',
      },
    )
    expect(status).toBe(201)
    const conversation = {
      id: expect.stringMatching(/^conv_/),
      createdAt: time,
      updatedAt: time,
      channel: 'channel',
      integration: 'chat',
      tags: { topic: 'pumps' },
      messageCount: 0,
    }
    expect(json).toEqual({ conversation })
    const conversationId = json.conversation.id

    const made = await call<Output<typeof contract.chat.createUser>>(
      'POST',
      `/chat/${webhookId}/users`,
      {},
      {},
    )
    expect(made.status).toBe(201)
    expect(made.json).toEqual({ user: { id: text, createdAt: time, updatedAt: time }, key: text })
    const { user, key } = made.json
    const payload = { type: 'audio', audioUrl: 'https://example.com/a.mp3' }
    const sent = await call(
      'POST',
      `/chat/${webhookId}/messages`,
      { 'x-user-key': key },
      { payload, conversationId },
    )
    expect(sent.status).toBe(201)
    expect(sent.json).toEqual({
      message: {
        id: expect.stringMatching(/^msg_/),
        createdAt: time,
        payload,
        userId: user.id,
        conversationId,
      },
    })
  })
})
