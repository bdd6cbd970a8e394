import type { Reaches } from './reaches.js'

/** Of the chat address. */
export const chatReaches: Reaches = {
  chatGetConversation: (client, { chatConversationId }) =>
    client.chatGetConversation({ id: chatConversationId }),
  chatDeleteConversation: (client, { chatConversationId }) =>
    client.chatDeleteConversation({ id: chatConversationId }),
  // The client has no method for streams; a refusal is a response like any other.
  chatListenConversation: (client, { chatConversationId }) =>
    client.chatListMessages({ conversationId: chatConversationId }),
  chatListParticipants: (client, { chatConversationId }) =>
    client.chatListParticipants({ conversationId: chatConversationId }),
  chatAddParticipant: (client, { chatConversationId, userId }) =>
    client.chatAddParticipant({ conversationId: chatConversationId, userId }),
  chatGetParticipant: (client, { chatConversationId, userId }) =>
    client.chatGetParticipant({ conversationId: chatConversationId, userId }),
  chatRemoveParticipant: (client, { chatConversationId, userId }) =>
    client.chatRemoveParticipant({ conversationId: chatConversationId, userId }),
  chatGetMessage: (client, { chatMessageId }) => client.chatGetMessage({ id: chatMessageId }),
  chatCreateEvent: (client, { chatConversationId }) =>
    client.chatCreateEvent({ conversationId: chatConversationId, payload: {} }),
  chatGetEvent: (client, { chatEventId }) => client.chatGetEvent({ id: chatEventId }),
  chatDeleteMessage: (client, { chatMessageId }) => client.chatDeleteMessage({ id: chatMessageId }),
  chatListMessages: (client, { chatConversationId }) =>
    client.chatListMessages({ conversationId: chatConversationId }),
  chatUpdateMessage: (client, { chatMessageId }) =>
    client.chatUpdateMessage({ id: chatMessageId, payload: { type: 'text', text: 'taken' } }),
  chatAddMessageFeedback: (client, { chatMessageId }) =>
    client.chatAddMessageFeedback({ id: chatMessageId, value: 'negative' }),
  chatRemoveMessageFeedback: (client, { chatMessageId }) =>
    client.chatRemoveMessageFeedback({ id: chatMessageId }),
  webchatListMessages: (client, { chatConversationId }) =>
    client.webchatListMessages({ id: chatConversationId }),
  webchatGetMessage: (client, { chatMessageId }) => client.webchatGetMessage({ id: chatMessageId }),
  webchatCreateMessage: (client, { chatConversationId }) =>
    client.webchatCreateMessage({
      conversationId: chatConversationId,
      payload: { type: 'text', text: 'taken' },
    }),
  webchatListenConversation: (client, { chatConversationId }) =>
    client.webchatListMessages({ id: chatConversationId }),
  setChatAdminSecret: (client, { botId }) => client.setChatAdminSecret({ id: botId }),
  getBotWebchat: (client, { botId }) => client.getBotWebchat({ id: botId, type: 'sharableUrl' }),
  getBotWebchatSettings: (client, { botId }) => client.getBotWebchatSettings({ id: botId }),
  updateBotWebchatSettings: (client, { botId }) =>
    client.updateBotWebchatSettings({ id: botId, greeting: 'taken' }),
  removeChatAdminSecret: (client, { botId }) => client.removeChatAdminSecret({ id: botId }),
  chatCreateMessage: (client, { chatConversationId }) =>
    client.chatCreateMessage({
      conversationId: chatConversationId,
      payload: { type: 'text', text: 'taken' },
    }),
}
