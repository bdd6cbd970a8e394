import { setTimeout } from 'node:timers/promises'
import { createClient } from '@botstead/contract'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createCommandPlace } from '../command-place.js'
import { describeSlow } from '../engines.js'
import { listenBySocket, listenRaw, type RawListener } from '../listening/raw-stream.js'
import { type ServerProcess, startServerProcess } from '../processes.js'

const token = 'a-token-for-tests-only'
const rounds = 2
const sentPerRound = 30

/** The actions in the conversation until the server is killed. */
const deed = fc.constantFrom('send', 'send', 'send', 'send', 'delete', 'leave', 'join')

/** A signal as a listener sees it. */
interface Seen {
  sequence: number
  type: string
  id: unknown
}

describeSlow('listeners under kill -9', (engine) => {
  it('see the same log, in order and once, with everything acknowledged', async () => {
    await using place = await createCommandPlace(engine)
    const environment = {
      ...place.environment,
      BOTSTEAD_ADMIN_TOKEN: token,
      LOG_LEVEL: 'error',
    }
    let server = await startServerProcess(environment)
    const room = await openRoom(server)
    const { conversationId, guestId } = room
    const owner = () => createClient({ ...room, baseUrl: server.url })
    const views = [
      { listen: listenRaw, userKey: room.userKey },
      { listen: listenBySocket, userKey: room.userKey },
      { listen: listenRaw, userKey: room.guestKey },
    ].map((view) => ({
      ...view,
      seen: [] as Seen[],
      listener: undefined as RawListener | undefined,
    }))
    type View = (typeof views)[number]

    const connect = async (view: View) => {
      const after = view.seen.at(-1)?.sequence ?? 0
      const { webhookId } = room
      const address = { webhookId, conversationId, url: server.url, userKey: view.userKey, after }
      view.listener = await view.listen(address)
    }
    /** Collects the signals of a listener. */
    const collect = (view: View) => {
      for (const { type, data, sequence = 0 } of view.listener?.heard.splice(0) ?? []) {
        view.seen.push({ sequence, type, id: data.id })
      }
    }
    const connectAll = async () => {
      await owner().chatAddParticipant({ conversationId, userId: guestId })
      for (const view of views) await connect(view)
    }

    const sent: string[] = []
    for (let round = 0; round < rounds; round++) {
      await connectAll()
      const acting = [0, 1, 2, 3].map((worker) =>
        actUntilDown(
          server,
          room,
          fc.sample(deed, { numRuns: 400, seed: 10 * round + worker }),
          sent,
        ),
      )
      const [restless] = views
      for (let half = 1; half <= 2; half++) {
        while (sent.length < sentPerRound * (round + half / 2)) await setTimeout(5)
        if (half === 2 || restless === undefined) break
        restless.listener?.close()
        await restless.listener?.ended
        collect(restless)
        await connect(restless)
      }
      await server.kill()
      await Promise.all([...acting, ...views.map(({ listener }) => listener?.ended)])
      views.forEach(collect)
      server = await startServerProcess(environment)
    }
    await connectAll()
    const end = (await owner().chatCreateMessage({ conversationId, payload: text('end') })).message
      .id
    const truth: View = { listen: listenRaw, userKey: room.userKey, seen: [], listener: undefined }
    await connect(truth)
    for (const view of [truth, ...views]) {
      await view.listener?.until((all) => all.some(({ data }) => data.id === end))
      collect(view)
    }

    const deleted = new Set(
      truth.seen.flatMap(({ type, id }) => (type === 'message_deleted' ? [id] : [])),
    )
    const line = ({ sequence, type, id }: Seen) => `${sequence} ${type} ${String(id)}`
    expect(deleted.size).toBeGreaterThan(0)
    for (const { seen } of views) {
      const numbers = seen.map(({ sequence }) => sequence)
      expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
      // Only messages that were deleted after a listener had received them are missing for a later one.
      const lasting = seen.filter((one) => one.type !== 'message_created' || !deleted.has(one.id))
      expect(lasting.map(line)).toEqual(truth.seen.map(line))
      const ids = new Set(seen.map(({ id }) => id))
      expect(sent.filter((id) => !ids.has(id))).toEqual([])
    }
    for (const { listener } of [truth, ...views]) listener?.close()
    // Open streams do not delay the stop.
    await server.stop()
  })
})

const text = (words: string) => ({ type: 'text' as const, text: words })

async function openRoom({ url: baseUrl }: ServerProcess) {
  const { workspaces } = await createClient({ baseUrl, token }).listWorkspaces()
  const admin = createClient({ baseUrl, token, workspaceId: workspaces[0]?.id ?? '' })
  const { bot } = await admin.createBot({})
  const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
  const { key: userKey } = await createClient({ baseUrl, webhookId }).chatCreateUser({})
  const { key: guestKey, user } = await createClient({ baseUrl, webhookId }).chatCreateUser({})
  const chat = createClient({ baseUrl, webhookId, userKey })
  const { conversation } = await chat.chatCreateConversation({})
  return { webhookId, userKey, guestKey, guestId: user.id, conversationId: conversation.id }
}

/** @param sent ids of the messages that were acknowledged */
async function actUntilDown(
  { url }: ServerProcess,
  room: Awaited<ReturnType<typeof openRoom>>,
  deeds: readonly string[],
  sent: string[],
): Promise<void> {
  const chat = createClient({ ...room, baseUrl: url })
  const { conversationId, guestId: userId } = room
  const own: string[] = []
  const part = { conversationId, userId }
  for (const what of deeds) {
    try {
      if (what === 'send') {
        const { message } = await chat.chatCreateMessage({ conversationId, payload: text('x') })
        own.push(message.id)
        sent.push(message.id)
      } else if (what === 'delete') {
        const id = own.shift()
        if (id !== undefined) await chat.chatDeleteMessage({ id })
      } else if (what === 'join') await chat.chatAddParticipant(part)
      else await chat.chatRemoveParticipant(part)
    } catch (error) {
      // Another caller has already removed the guest; anything else means that the server is gone.
      if (!(error instanceof Error && /is not a participant/.test(error.message))) return
    }
  }
}
