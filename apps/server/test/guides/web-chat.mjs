// Parts of the guide to the official web chat.
import { createClient, generateUserKey } from '@botpress/webchat-client'

export async function userKey({ apiUrl, clientId, adminSecret }) {
  // #region user-key
  const expiresAt = Date.now() + 3_600_000
  const { key } = await generateUserKey({ apiUrl, clientId, adminSecret, userId: 'ada', expiresAt })
  // #endregion
  return key
}

export async function show({ client, conversationId }) {
  // #region action
  await client.callAction({ type: 'webchat:showWebchat', input: { conversationId } })
  // #endregion
}

/** @param apiUrl ends with /webchat */
export function program({ apiUrl, clientId, userKey }) {
  // #region client
  const client = createClient({ apiUrl, clientId, userKey })
  // #endregion
  return client
}
