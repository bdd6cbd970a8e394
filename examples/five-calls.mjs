// The five main calls, made with the client packages that bots and web chats use.
//
//   npm start                      in one terminal
//   node examples/five-calls.mjs   in another one, in the folder of this checkout
//
// With a server elsewhere: node examples/five-calls.mjs <address> <token>
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import * as chat from '@botpress/chat'
import { Client } from '@botpress/client'
import { findServer } from './server.mjs'

// A token belongs to a person, bots belong to a workspace. The first start creates one workspace.
const { apiUrl, token, workspaceId } = await findServer(...process.argv.slice(2))
const admin = new Client({ apiUrl, token, workspaceId })

// 1. List the bots of the workspace. The first run creates the bot that later runs find.
const name = 'Five calls'
const { bots } = await admin.listBots({})
const known = bots.find((each) => each.name === name)
const { bot } = known ? await admin.getBot({ id: known.id }) : await admin.createBot({ name })
console.log('bot         ', bot.id)

// 2. Upload a file, which is two requests: describe it, send its content. Then wait for the index.
const client = new Client({ apiUrl, token, botId: bot.id })
const key = 'ARCHITECTURE.md'
const content = await readFile(new URL(`../${key}`, import.meta.url))
await client.uploadFile({ key, index: true, content })
await searchable(key)

// 3. Ask a question in plain words. The best passage comes first.
const { passages } = await client.searchFiles({ query: 'How does the server stop?', limit: 3 })
console.log('found       ', `${passages.length} passages, the best in ${passages[0]?.file.key}`)

// 4. Create a conversation. It belongs to the first chat user who writes to it.
const { conversation } = await client.createConversation({
  channel: 'web',
  tags: { topic: 'demo' },
})
console.log('conversation', conversation.id)

// 5. Send messages as a chat user. Each bot has a chat address: web pages use it instead of a token,
//    and `connect` creates a user there, whose key identifies the author.
const { webhookUrl } = Object.values(bot.integrations).find((each) => each.name === 'chat')
const ada = await chat.Client.connect({ apiUrl: webhookUrl })
const conversationId = conversation.id
await ada.createMessage({
  conversationId,
  payload: { type: 'audio', audioUrl: 'https://example.com/hello.mp3' },
})
await ada.createMessage({ conversationId, payload: { type: 'text', text: 'Is anybody there?' } })

const { messages } = await ada.listMessages({ conversationId })
for (const { payload } of messages) console.log('message     ', JSON.stringify(payload))

/** Resolves when a file is searchable. */
async function searchable(id) {
  for (;;) {
    const { file } = await client.getFile({ id })
    if (file.status === 'indexing_completed') return
    if (file.status.endsWith('_failed')) throw new Error(file.failedStatusReason)
    await sleep(100)
  }
}
