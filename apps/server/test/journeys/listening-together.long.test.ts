import { createClient } from '@botstead/contract'
import { describe, expect, it } from 'vitest'
import { createCommandPlace } from '../command-place.js'
import { engines } from '../engines.js'
import { listenBySocket, listenRaw, type RawListener } from '../listening/raw-stream.js'
import { type ServerProcess, startServerProcess } from '../processes.js'

const token = 'a-token-for-tests-only'

const postgres = engines.find(({ name }) => name === 'postgres')

describe.skipIf(!postgres)('two processes on one database', () => {
  it('deliver messages of either process to listeners of the other, also when one dies', async () => {
    await using place = await createCommandPlace(postgres)
    const settings = { ...place.environment, BOTSTEAD_ADMIN_TOKEN: token, LOG_LEVEL: 'error' }
    const processes = [startServerProcess(settings), startServerProcess(settings)] as const
    const [here, there] = await Promise.all(processes)
    await using _here = here
    await using _there = there
    const room = await openRoom(here)
    const say = async ({ url }: ServerProcess, text: string) => {
      const chat = createClient({ ...room, baseUrl: url })
      await chat.chatCreateMessage({ ...room, payload: { type: 'text', text } })
    }

    const views = await Promise.all(
      [listenRaw, listenBySocket].flatMap((listen) =>
        [here, there].map(async ({ url }) => ({
          listen,
          listener: await listen({ ...room, url, after: 0 }),
        })),
      ),
    )
    const spoken: string[] = []
    const sayNext = async () => {
      const text = `message ${spoken.length}`
      await say(spoken.length % 2 === 0 ? here : there, text)
      spoken.push(text)
    }
    for (let i = 0; i < 10; i++) await sayNext()
    for (const { listener } of views) await hearsAll(listener, spoken)
    // By hints: by the poll of the log, every 15 seconds, this would take longer than the test may.
    for (let i = 0; i < 10; i++) {
      await sayNext()
      for (const { listener } of views) await hearsAll(listener, spoken)
    }

    // One process is killed while messages are sent to the other.
    const dead = views.filter((_, i) => i % 2 === 0)
    await Promise.all([here.kill(), say(there, 'while it dies')])
    await Promise.all(dead.map(({ listener }) => listener.ended))
    await say(there, 'after that')
    const since = ['while it dies', 'after that']
    for (const { listener } of views.filter((_, i) => i % 2 === 1)) {
      await hearsAll(listener, [...spoken, ...since])
    }
    for (const { listen, listener } of dead) {
      const after = listener.lastId
      const resumed = await listen({ ...room, url: there.url, after })
      await hearsAll(resumed, [...spoken, ...since].slice(textsOf(listener).length))
      expect(resumed.heard.map(({ sequence }) => sequence)).toEqual(
        resumed.heard.map((_, i) => (after ?? 0) + i + 1),
      )
    }
  })
})

/** Waits for the expected signals; there must be no others. */
async function hearsAll(listener: RawListener, texts: string[]): Promise<void> {
  await listener.until((heard) => heard.length >= texts.length)
  expect(textsOf(listener)).toEqual(texts)
}

const textsOf = ({ heard }: RawListener) =>
  heard.map(({ data }) => String(Reflect.get(Object(data.payload), 'text')))

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
