// A bot without any package, to be deployed as it is:
//
//   npx botstead deploy examples/plain-bot.cjs --bot "Plain bot" --create
//
// It repeats what people say. The first delivery of the word "refuse" is refused, so that there is one to replay.

/** Replies to a message, as the bot: the address of the server and the key are in the environment of the code. */
async function reply(botId, event) {
  const { BP_API_URL, BP_TOKEN } = process.env
  const response = await fetch(`${BP_API_URL}/v1/chat/messages`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${BP_TOKEN}`,
      'x-bot-id': botId,
      'content-type': 'application/json',
      // The same event may be delivered twice; its reply is stored once.
      'idempotency-key': event.id,
    },
    body: JSON.stringify({
      conversationId: event.conversationId,
      userId: botId,
      type: 'text',
      payload: { text: `You said: ${event.payload.message.payload.text}` },
      tags: {},
    }),
  })
  if (!response.ok) throw new Error(`The reply was refused: ${await response.text()}`)
}

exports.handler = async ({ headers, body }) => {
  // Other requests, such as registrations and pings, are acknowledged without any action.
  if (headers['x-bp-type'] !== 'message_created') return { body: '{}' }
  const { event } = JSON.parse(body)
  const { text } = event.payload.message.payload
  console.log(`Somebody said: ${text}`)
  if (text === 'refuse' && headers['x-botstead-attempt'] === '1') {
    return { status: 422, body: JSON.stringify({ message: 'Refused once, for you to replay.' }) }
  }
  await reply(headers['x-bot-id'], event)
  return { body: '{}' }
}
