import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@botstead/contract'
import { expect, it } from 'vitest'
import { describeEachEngine } from '../engines.js'
import { listenBySocket, listenRaw, type RawListener } from '../listening/raw-stream.js'
import { type ServerProcess, startServerProcess } from '../processes.js'

const token = 'a-token-for-tests-only'
const rounds = 2

describeEachEngine('listeners under kill -9', (engine) => {
  it('hear every acknowledged message once and in order', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'botstead-listen-'))
    const place = await engine.createPlace()
    const environment = {
      BOTSTEAD_DATA_DIR: dataDir,
      BOTSTEAD_ADMIN_TOKEN: token,
      LOG_LEVEL: 'error',
      ...(place.options.url !== undefined && { DATABASE_URL: place.options.url }),
    }
    let server = await startServerProcess(environment)
    const room = await openRoom(server)
    const address = () => ({ ...room, url: server.url })
    const views = [listenRaw, listenBySocket].map((listen) => ({
      listen,
      heard: [] as { text: string; sequence: number }[],
      listener: undefined as RawListener | undefined,
    }))
    const connectAll = async () => {
      for (const view of views) {
        const after = view.heard.at(-1)?.sequence ?? 0
        view.listener = await view.listen({ ...address(), after })
      }
    }
    /** Keeps what a listener has heard so far. */
    const collect = () => {
      for (const { heard, listener } of views) {
        for (const { data, sequence = 0 } of listener?.heard.splice(0) ?? []) {
          heard.push({ text: String(Reflect.get(Object(data.payload), 'text')), sequence })
        }
      }
    }
    const acknowledged: string[] = []
    for (let round = 0; round < rounds; round++) {
      await connectAll()
      const sending = Array.from({ length: 4 }, (_, i) =>
        sendUntilDown(server, room, `${round}.${i}`, acknowledged),
      )
      while (acknowledged.length < (round + 1) * 30) await new Promise(setImmediate)
      await server.kill()
      await Promise.all([...sending, ...views.map(({ listener }) => listener?.ended)])
      collect()
      server = await startServerProcess(environment)
    }
    await connectAll()
    const chat = createClient({ ...room, baseUrl: server.url })
    await chat.chatCreateMessage({ ...room, payload: { type: 'text', text: 'end' } })
    for (const { listener } of views) {
      await listener?.until((all) =>
        all.some(({ data }) => Reflect.get(Object(data.payload), 'text') === 'end'),
      )
    }
    collect()
    for (const { heard } of views) {
      expect(heard.map(({ sequence }) => sequence)).toEqual(heard.map((_, i) => i + 1))
      const texts = heard.map(({ text }) => text)
      expect(new Set(texts).size).toBe(texts.length)
      expect(acknowledged.filter((text) => !texts.includes(text))).toEqual([])
    }
    for (const { listener } of views) listener?.close()
    // Streams that are open do not hold up the end.
    await server.stop()
    await place.remove()
    await rm(dataDir, { recursive: true, force: true })
  }, 60_000)
})

async function openRoom({ url: baseUrl }: ServerProcess) {
  const { workspaces } = await createClient({ baseUrl, token }).listWorkspaces()
  const admin = createClient({ baseUrl, token, workspaceId: workspaces[0]?.id ?? '' })
  const { bot } = await admin.createBot({})
  const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
  const { key: userKey } = await createClient({ baseUrl, webhookId }).chatCreateUser({})
  const chat = createClient({ baseUrl, webhookId, userKey })
  const { conversation } = await chat.chatCreateConversation({})
  return { webhookId, userKey, conversationId: conversation.id }
}

async function sendUntilDown(
  { url }: ServerProcess,
  room: Awaited<ReturnType<typeof openRoom>>,
  name: string,
  acknowledged: string[],
): Promise<void> {
  const chat = createClient({ ...room, baseUrl: url })
  for (let i = 0; ; i++) {
    const text = `${name}.${i}`
    try {
      await chat.chatCreateMessage({ ...room, payload: { type: 'text', text } })
      acknowledged.push(text)
    } catch {
      return
    }
  }
}
