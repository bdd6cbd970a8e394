import { createClient } from '@botstead/contract'
import { describe, expect, it } from 'vitest'
import { createCommandPlace } from '../command-place.js'
import { engines } from '../engines.js'
import { startServerProcess } from '../processes.js'
import { openWebchat, webchatAddress } from '../webchats.js'

const token = 'a-token-for-tests-only'
const postgres = engines.find(({ name }) => name === 'postgres')

describe.skipIf(!postgres)('a web chat of two processes on one database', () => {
  it('receives at one process the events of the other, and continues there when one is killed', async () => {
    await using place = await createCommandPlace(postgres)
    const settings = { ...place.environment, BOTSTEAD_ADMIN_TOKEN: token, LOG_LEVEL: 'error' }
    const [here, there] = await Promise.all([
      startServerProcess(settings),
      startServerProcess(settings),
    ])
    await using _here = here
    await using _there = there
    const { workspaces } = await createClient({ baseUrl: here.url, token }).listWorkspaces()
    const admin = createClient({ baseUrl: here.url, token, workspaceId: workspaces[0]?.id ?? '' })
    const { bot } = await admin.createBot({})
    const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
    const botAt = (url: string) => createClient({ baseUrl: url, token, botId: bot.id })

    const first = await openWebchat(webchatAddress(here, webhookId))
    const conversationId = first.init.conversation.id
    const options = { userToken: first.init.user.userKey, conversationId }
    const second = await openWebchat(webchatAddress(there, webhookId), options)
    const pieces = ['Good ', 'morn', 'ing']
    for (const [at, delta] of pieces.entries()) {
      const signal = { type: 'delta', streamId: 's', createdAt: 'now', sequence: at, delta }
      const input = { conversationId, signal }
      const { url } = at % 2 === 0 ? here : there
      await botAt(url).callAction({ type: 'chat:publishMessageStream', input })
    }
    const author = { conversationId, userId: bot.id, type: 'text', tags: {} }
    const payload = { text: 'Good morning!', metadata: { streamId: 's' } }
    const { message } = await botAt(there.url).createMessage({ ...author, payload })
    await first.client.addMessageFeedback({ messageId: message.id, value: 'positive' })
    const texts = ['Good ', 'Good morn', 'Good morning', 'Good morning!', 'Good morning!']
    for (const web of [first, second]) {
      await web.until('message_updated', 4)
      expect(web.signals().map((signal) => Object(signal.payload).payload.text)).toEqual(texts)
    }

    await here.kill()
    await botAt(there.url).createMessage({ ...author, payload: { text: 'Still there' } })
    expect(await second.until('message_created', 2)).toMatchObject({
      payload: { text: 'Still there' },
    })
    const again = await openWebchat(webchatAddress(there, webhookId), options)
    expect(again.init.messages).toMatchObject([
      { payload: { text: 'Still there' } },
      { payload: { text: 'Good morning!' }, feedback: { value: 'positive' } },
    ])
  })
})
