// The existing chat client in a process of its own, as bots and tools run it: listens for a quiet time, and then
// for a message. Prints what it heard and its errors.
//
//   node quiet-listener.mjs <chat address> <quiet milliseconds>
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@botpress/chat'

const [, , apiUrl, quietMs] = process.argv
const user = await Client.connect({ apiUrl })
const { conversation } = await user.createConversation({})
const conversationId = conversation.id
const listener = await user.listenConversation({ id: conversationId })
const end = (line) => {
  process.stdout.write(`${line}\n`)
  process.exit()
}
listener.on('error', (error) => end(`error: ${error}`))
listener.on('message_created', ({ payload }) => end(`heard: ${payload.text}`))
await sleep(Number(quietMs))
await user.createMessage({ conversationId, payload: { type: 'text', text: 'Anybody there?' } })
