// Follows a conversation and continues where it stopped, also after a restart of either side.
//
//   node examples/follow/main.mjs <chat address> <user key> <conversation id> <file>
//
// The file stores the number of the last signal. Messages are written one per line.
import { readFile, rename, writeFile } from 'node:fs/promises'
import { follow } from './follow.mjs'

const [address, userKey, conversationId, file] = process.argv.slice(2)
if (file === undefined) {
  console.error('Give the chat address, the user key, the conversation and a file.')
  process.exit(1)
}

const stored = await readFile(file, 'utf8').catch(() => undefined)
// Without a number the stream begins half a second ago; 0 begins with the oldest event of the log.
const last = stored === undefined ? 0 : Number(stored)

for await (const { type, data, number } of follow({ address, userKey, conversationId, last })) {
  if (type === 'message_created') console.log(JSON.stringify(data.payload))
  // The log covers some days; for older messages, list them.
  if (type === 'reset') console.error('Some signals are gone: list the messages again.')
  if (number !== undefined) {
    await writeFile(`${file}.new`, String(number))
    await rename(`${file}.new`, file)
  }
}
