import { messagePayloads } from '@botstead/contract'
import { expect, it } from 'vitest'
import { readDocument } from '../documents.js'
import { describeSlow } from '../engines.js'
import { connect, makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'

type Line = Record<string, unknown>

/** The lines of JSON after a comment of the guide. */
async function linesOf(name: string): Promise<Line[]> {
  const guide = await readDocument('docs/guides/payloads.md')
  const [, block = ''] = guide.split(`<!-- ${name} -->\n\n\`\`\`jsonl\n`)
  const [lines = ''] = block.split('\n```')
  return lines.split('\n').map((line) => JSON.parse(line))
}

describeSlow('the guide to payloads', (engine) => {
  const server = useServer(engine)

  it('has every type, in the form that each side sends and receives', async () => {
    const [chatForms, runtimeForms] = await Promise.all([linesOf('chat'), linesOf('runtime')])
    expect(chatForms.map(({ type }) => type)).toEqual(Object.keys(messagePayloads))
    const { bot, client, webhookId } = await makeBot(server())
    const ada = await connect(server(), webhookId)
    const { conversation } = await ada.createConversation({})
    const conversationId = conversation.id
    for (const [at, chatForm] of chatForms.entries()) {
      const runtimeForm = runtimeForms[at] as { type: string; payload: Line }
      const payload = chatForm as unknown as Parameters<typeof ada.createMessage>[0]['payload']
      const said = await ada.createMessage({ conversationId, payload })
      const { message } = await client.getMessage({ id: said.message.id })
      expect({ type: message.type, payload: message.payload }).toEqual(runtimeForm)
      const answer = await client.createMessage({
        conversationId,
        userId: bot.id,
        tags: {},
        ...runtimeForm,
      })
      const heard = await ada.getMessage({ id: answer.message.id })
      expect(heard.message.payload).toEqual(chatForm)
    }
  })
})
