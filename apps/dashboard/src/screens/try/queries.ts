import { type Client, followConversation, type Signal } from '@botstead/contract'
import { useScope } from '../../api/address.js'
import { ConnectionError, fetchFromServer, serverUrl } from '../../api/client.js'
import { call, change } from '../../api/queries.js'

/** A user who was made to try a bot, with its conversation. */
export interface Guest {
  webhookId: string
  userKey: string
  userId: string
  conversationId: string
}

export type ChatMessage = Awaited<ReturnType<Client['chatCreateMessage']>>['message']

/** Creates a user at the chat address, and a conversation of it. */
export async function createGuest(webhookId: string, name: string): Promise<Guest> {
  const { user, key } = await call({}, 'chatCreateUser', {
    webhookId,
    ...(name !== '' && { name }),
  })
  const { conversation } = await call({}, 'chatCreateConversation', { webhookId }, as(key))
  return { webhookId, userKey: key, userId: user.id, conversationId: conversation.id }
}

/** The newest 50 messages as the guest sees them, oldest first. */
export async function listMessages(guest: Guest, signal: AbortSignal): Promise<ChatMessage[]> {
  const { webhookId, conversationId, userKey } = guest
  const input = { webhookId, conversationId }
  const { messages } = await call({}, 'chatListMessages', input, { ...as(userKey), signal })
  return messages.reverse()
}

/** Says a text as the guest. */
export async function say(guest: Guest, text: string): Promise<ChatMessage> {
  const { webhookId, conversationId, userKey } = guest
  const payload = { type: 'text' as const, text }
  const input = { webhookId, conversationId, payload }
  const { message } = await call({}, 'chatCreateMessage', input, as(userKey))
  return message
}

/** The signals of the conversation that the guest receives. */
export function follow(guest: Guest, signal: AbortSignal): AsyncGenerator<Signal, void> {
  return followConversation({ ...guest, baseUrl: serverUrl, fetch: fetchAgain, signal })
}

/** Rejects as `fetch` does, so that the stream is opened again when the connection was lost. */
async function fetchAgain(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetchFromServer(url, init)
  } catch (error) {
    throw error instanceof ConnectionError ? new TypeError(error.message, { cause: error }) : error
  }
}

/** Replays a delivery to the bot. */
export function useReplay(botId: string) {
  const { workspaceId } = useScope()
  return async (deliveryId: string): Promise<void> => {
    await change({ workspaceId }, 'replayDelivery', { id: botId, deliveryId })
  }
}

function as(userKey: string) {
  return { headers: { 'x-user-key': userKey } }
}
