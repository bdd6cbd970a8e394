// Parts of the guide to chat.
// #region page
import * as chat from '@botpress/chat'
// #endregion

export async function setKey({ client, botId, integrationId }) {
  // #region key
  await client.updateBot({
    id: botId,
    integrations: { [integrationId]: { configuration: { encryptionKey: 'a long secret' } } },
  })
  // #endregion
}

export async function setWebhook({ client, botId, integrationId }) {
  // #region webhook
  const configuration = {
    webhookUrl: 'https://app.example.com/signals',
    webhookSecret: 'a secret',
  }
  await client.updateBot({ id: botId, integrations: { [integrationId]: { configuration } } })
  // #endregion
}

/** @param show called with whether a message is from the bot, and its text */
export async function talk({ chatAddress, localStorage, show }) {
  // #region page
  const client = await chat.Client.connect({ apiUrl: chatAddress, userKey: localStorage.userKey })
  localStorage.userKey = client.user.key
  const { conversation } = await client.createConversation({})
  await client.createMessage({
    conversationId: conversation.id,
    payload: { type: 'text', text: 'Hello' },
  })
  const listener = await client.listenConversation({ id: conversation.id })
  listener.on('message_created', ({ payload, isBot }) => show(isBot, payload.text))
  // #endregion
  return { conversation, listener }
}
