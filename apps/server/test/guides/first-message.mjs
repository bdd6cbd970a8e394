// #region chat
import * as chat from '@botpress/chat'
// #endregion

export async function write({ webhookUrl, conversationId }) {
  // #region chat
  const ada = await chat.Client.connect({ apiUrl: webhookUrl })
  await ada.createMessage({ conversationId, payload: { type: 'text', text: 'Hello' } })
  // #endregion
}
