import type * as chat from '@botpress/chat'
import type { Step } from './step.js'

type Payload = chat.Message['payload']

const voiceMessage: Payload = { type: 'audio', audioUrl: 'https://example.com/hello.mp3' }
const textMessage: Payload = { type: 'text', text: 'Hello from the demonstration' }

/** Sends a voice message and a text message. */
export async function sendMessages(
  talker: chat.AuthenticatedClient,
  conversationId: string,
  step: Step,
): Promise<void> {
  const send = (what: string, payload: Payload) =>
    step({
      what,
      sent: { payload: JSON.stringify(payload) },
      call: () => talker.createMessage({ conversationId, payload }),
      show: ({ message }, print) => print.received({ id: message.id, stored: message.createdAt }),
    })
  await send('Send a voice message', voiceMessage)
  await send('Send a text message', textMessage)
}

/** Lists what was said, newest first. */
export async function readBack(
  talker: chat.AuthenticatedClient,
  conversationId: string,
  step: Step,
): Promise<void> {
  await step({
    what: 'Read the conversation back, newest message first',
    call: () => talker.listMessages({ conversationId }),
    show: ({ messages }, print) =>
      print.list(messages.map(({ createdAt, payload }) => `${createdAt}  ${contentOf(payload)}`)),
  })
}

function contentOf(payload: Payload): string {
  if (payload.type === 'text') return `“${payload.text}”`
  return payload.type === 'audio' ? payload.audioUrl : payload.type
}
