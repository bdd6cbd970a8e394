import { createUser } from '@botpress/webchat-client'
import { beforeAll, expect, it, vi } from 'vitest'
import { describeSlow } from '../engines.js'
import { makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { openWebchat, webchatAddress } from '../webchats.js'

const day = 86_400_000

describeSlow('files of web chats', (engine) => {
  const server = useServer(engine, {
    BOTSTEAD_MAX_CHAT_FILE_BYTES: '1000B',
    BOTSTEAD_MAX_CHAT_FILES_BYTES: '2500B',
    BOTSTEAD_CHAT_FILE_TYPES: 'image/*, text/plain',
    BOTSTEAD_CHAT_USER_FILES: '6',
  })
  let made: Awaited<ReturnType<typeof makeBot>>
  beforeAll(async () => {
    made = await makeBot(server())
  })
  const address = () => webchatAddress(server(), made.webhookId, 'chat')

  const open = async () => {
    const { init, client } = await openWebchat(address())
    const { id } = init.conversation
    const create = async (key: string, size: number, more: object = {}) =>
      (await client.createFile({ key, size, tags: { conversation: id }, ...more })).file
    return { id, client, create }
  }

  it('are kept with the conversation and deleted with it', async () => {
    const { id, client, create } = await open()
    const expiresAt = new Date(server().clock.now() + day).toISOString()
    const file = await create('a-note.txt', 5, { expiresAt, index: true })
    expect(file).toMatchObject({ contentType: 'text/plain', index: false })
    expect(file).not.toHaveProperty('expiresAt')
    const again = await create('a-note.txt', 5)
    expect(again.id).not.toBe(file.id)
    await fetch(file.uploadUrl, { method: 'PUT', body: 'words' })
    expect(await (await fetch(file.url)).text()).toBe('words')
    expect((await made.client.getFile({ id: file.id })).file.tags).toMatchObject({
      conversation: id,
      source: 'chat',
    })
    await client.deleteConversation({ conversationId: id })
    await vi.waitFor(async () => expect((await fetch(file.url)).status).toBe(404))
    await vi.waitFor(async () => expect((await made.client.listFiles({})).files).toEqual([]))
  })

  it('have limits of their own', async () => {
    const { create, client } = await open()
    // On a busy machine there would be room for another file before the last one comes.
    const first = await server().clock.hold(async () => {
      await expect(create('a.png', 1001)).rejects.toMatchObject({
        code: 413,
        message: expect.stringContaining('BOTSTEAD_MAX_CHAT_FILE_BYTES'),
      })
      await expect(create('a.html', 10)).rejects.toMatchObject({
        code: 415,
        message: expect.stringContaining('BOTSTEAD_CHAT_FILE_TYPES'),
      })
      await expect(client.createFile({ key: 'a.txt', size: 1 })).rejects.toMatchObject({
        code: 400,
      })
      const made = await create('a.png', 1000)
      await create('b.png', 1000)
      await expect(create('c.png', 1000)).rejects.toMatchObject({
        code: 413,
        message: expect.stringContaining('BOTSTEAD_MAX_CHAT_FILES_BYTES'),
      })
      await expect(create('d.png', 1)).rejects.toMatchObject({ code: 429 })
      return made
    })
    expect((await made.client.listFiles({})).files).toHaveLength(2)
    // A file that the bot deleted stops counting after the next sweep.
    await made.client.deleteFile({ id: first.id })
    const other = await open()
    await vi.waitFor(async () => {
      await server().pass(25 * 60 * 60 * 1000)
      await other.create('d.png', 1000)
    })
  })

  it('that were announced and not sent give way after an hour', async () => {
    const { id, client } = await open()
    await client.deleteConversation({ conversationId: id })
    const other = await makeBot(server())
    const opened = await openWebchat(webchatAddress(server(), other.webhookId, 'chat'))
    const tags = { conversation: opened.init.conversation.id }
    const create = async (key: string) =>
      (await opened.client.createFile({ key, size: 1000, tags })).file
    const sent = await create('a.png')
    await fetch(sent.uploadUrl, { method: 'PUT', body: 'a'.repeat(1000) })
    const unsent = await create('b.png')
    await expect(create('c.png')).rejects.toMatchObject({ code: 413 })
    server().clock.advance(60 * 60 * 1000 + 1)
    const third = await create('c.png')
    const ids = (await other.client.listFiles({})).files.map((file) => file.id)
    expect(ids.toSorted()).toEqual([sent.id, third.id].toSorted())
    const late = await fetch(unsent.uploadUrl, { method: 'PUT', body: 'a'.repeat(1000) })
    expect(late.status).toBe(404)
  })

  it('belong to a conversation of their user', async () => {
    const one = await open()
    const other = await open()
    const tags = { conversation: one.id }
    await expect(other.client.createFile({ key: 'a.txt', size: 1, tags })).rejects.toMatchObject({
      code: 403,
    })
  })

  it('have no other type for browsers than for the server', async () => {
    const { create } = await open()
    // A browser reads a list, and takes its last type.
    for (const contentType of ['text/plain;,text/html', 'image/png; a=b ,text/html;charset=x']) {
      await expect(create('a.png', 1, { contentType })).rejects.toMatchObject({
        code: 400,
        message: expect.stringContaining('body.contentType'),
      })
    }
    // The name without slashes has another extension.
    await expect(create('a.png/', 1)).rejects.toMatchObject({ code: 415 })
    // Recordings of browsers have such types.
    const contentType = 'image/png;codecs=vp8,opus'
    expect(await create('a.png', 1, { contentType })).toMatchObject({ contentType })
  })

  it('in no conversation are deleted with their user', async () => {
    const { client } = await open()
    const expiresAt = new Date(server().clock.now() + day).toISOString()
    const { file } = await client.createFile({ key: 'a.txt', size: 1, expiresAt })
    expect((await made.client.getFile({ id: file.id })).file.id).toBe(file.id)
    await client.deleteUser({ userId: '' })
    await vi.waitFor(async () =>
      expect((await made.client.listFiles({ ids: [file.id] })).files).toEqual([]),
    )
  })
})

describeSlow('files of one network address', (engine) => {
  const server = useServer(engine, {
    BOTSTEAD_MAX_CHAT_FILE_BYTES: '1000B',
    BOTSTEAD_CHAT_ADDRESS_FILE_BYTES: '3000B',
  })

  it('have a number of bytes an hour in each chat, whoever sends them', async () => {
    const { webhookId } = await makeBot(server())
    const open = async (id = webhookId) => {
      const { init, client } = await openWebchat(webchatAddress(server(), id, 'chat'))
      const tags = { conversation: init.conversation.id }
      return (size: number) => client.createFile({ key: 'a.png', size, tags })
    }
    const [one, other] = [await open(), await open()]
    await one(1000)
    await other(1000)
    // Refused for another reason, so not counted.
    await expect(one(1001)).rejects.toMatchObject({ code: 413 })
    await one(1000)
    await expect(other(500)).rejects.toMatchObject({
      code: 429,
      message: expect.stringContaining('BOTSTEAD_CHAT_ADDRESS_FILE_BYTES'),
    })
    await (await open((await makeBot(server())).webhookId))(1000)
    server().clock.advance(30 * 60 * 1000)
    await other(1000)
    await expect(other(1000)).rejects.toMatchObject({ code: 429 })
  })
})

describeSlow('the admin secret of a chat', (engine) => {
  const server = useServer(engine)
  let made: Awaited<ReturnType<typeof makeBot>>
  beforeAll(async () => {
    made = await makeBot(server())
  })
  const address = () => webchatAddress(server(), made.webhookId)
  const keyOf = async (secret: string | undefined, body: object) =>
    await server().fetch(`/chat/${made.webhookId}/users/key`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(secret && { 'x-admin-secret': secret }) },
      body: JSON.stringify(body),
    })

  it('permits creating keys until it is replaced or removed', async () => {
    const admin = server().client()
    expect((await keyOf('anything-that-is-long-enough-for-one', { id: 'ada' })).status).toBe(401)
    const own = 'a-secret-of-our-own-that-is-long-enough'
    expect(await admin.setChatAdminSecret({ id: made.bot.id, secret: own })).toEqual({
      secret: own,
    })
    expect((await keyOf(undefined, { id: 'ada' })).status).toBe(401)
    expect((await keyOf(`${own}!`, { id: 'ada' })).status).toBe(401)
    expect((await keyOf(own, { id: 'ada', expiresAt: server().clock.now() })).status).toBe(400)
    const expiresAt = server().clock.now() + 60_000
    const { key } = (await (await keyOf(own, { id: 'ada', expiresAt })).json()) as { key: string }
    const { init } = await openWebchat(address(), { userToken: key })
    expect(init.user).toMatchObject({ id: 'ada', userKey: key })
    const other = await makeBot(server())
    const elsewhere = await openWebchat(webchatAddress(server(), other.webhookId), {
      userToken: key,
    })
    expect(elsewhere.init.user.id).not.toBe('ada')
    server().clock.advance(60_001)
    expect((await openWebchat(address(), { userToken: key })).init.user.id).not.toBe('ada')

    const { secret } = await admin.setChatAdminSecret({ id: made.bot.id })
    expect((await keyOf(own, { id: 'ada' })).status).toBe(401)
    expect((await keyOf(secret, { id: 'ada' })).status).toBe(200)
    await admin.removeChatAdminSecret({ id: made.bot.id })
    expect((await keyOf(secret, { id: 'ada' })).status).toBe(401)
  })

  it('permits creating users where an app signs their keys', async () => {
    const admin = server().client()
    const { secret } = await admin.setChatAdminSecret({ id: made.bot.id })
    const configuration = { encryptionKey: 'the key of an app' }
    await admin.updateBot({ id: made.bot.id, integrations: { chat: { configuration } } })
    await expect(createUser(address())).rejects.toMatchObject({ code: 401 })
    const { key } = await createUser({ ...address(), adminSecret: secret })
    const { init } = await openWebchat(address(), { userToken: key })
    expect(init.user.userKey).toBe(key)
    const fresh = await openWebchat(address(), { adminSecret: secret })
    expect(fresh.init.user.id).not.toBe(init.user.id)
    const path = `/chat/${made.webhookId}/initialize`
    expect((await server().fetch(path)).status).toBe(401)
    const wrong = { headers: { 'x-user-key': 'wrong' } }
    expect((await server().fetch(path, wrong)).status).toBe(401)
    const nowhere = await server().fetch('/chat/nowhere/initialize')
    expect(nowhere.status).toBe(404)
  })
})
