import { atChat, atForeignChat, byId, type Examples } from './example.js'

/** The chat address. */
export const chatExamples: Examples = {
  chatHello: atChat(),
  chatCreateUser: atChat(() => ({ body: { name: 'Ada', profile: 'Mends pumps' } })),
  chatGetOrCreateUser: atChat(() => ({ body: { name: 'Ada', profile: 'Mends pumps' } })),
  chatGetUser: atChat(),
  chatUpdateUser: atChat(() => ({ body: { name: 'Ada', profile: 'Mends pumps' } })),
  chatDeleteUser: atChat(),
  chatOpenApi: atChat(),
  chatReference: atChat(),
  chatCreateConversation: atChat(() => ({ body: {} })),
  chatGetConversation: atForeignChat('ResourceNotFound', ({ conversationId }) => ({
    params: { id: conversationId },
  })),
  chatGetOrCreateConversation: atChat(() => ({ body: { id: 'own-room' } })),
  chatListConversations: atChat(),
  chatDeleteConversation: atForeignChat('ResourceNotFound', ({ conversationId }) => ({
    params: { id: conversationId },
  })),
  chatListenConversation: atForeignChat('Forbidden', ({ conversationId }) => ({
    params: { id: conversationId },
  })),
  chatListParticipants: atForeignChat('Forbidden', ({ conversationId }) => ({
    params: { conversationId },
  })),
  chatAddParticipant: atForeignChat('ResourceNotFound', ({ conversationId, userId }) => ({
    params: { conversationId },
    body: { userId },
  })),
  chatGetParticipant: atForeignChat('ResourceNotFound', ({ conversationId, userId }) => ({
    params: { conversationId, userId },
  })),
  chatRemoveParticipant: atForeignChat('ResourceNotFound', ({ conversationId, userId }) => ({
    params: { conversationId, userId },
  })),
  chatGetMessage: atForeignChat('ResourceNotFound', ({ messageId }) => ({
    params: { id: messageId },
  })),
  chatDeleteMessage: atForeignChat('ResourceNotFound', ({ messageId }) => ({
    params: { id: messageId },
  })),
  chatListMessages: atForeignChat('Forbidden', ({ conversationId }) => ({
    params: { conversationId },
  })),
  chatCreateMessage: atForeignChat('Forbidden', ({ conversationId }) => ({
    body: {
      conversationId,
      payload: { type: 'text', text: 'More words' },
      metadata: { any: 'thing' },
    },
  })),

  chatCreateEvent: atForeignChat('Forbidden', ({ conversationId }) => ({
    body: { conversationId, payload: { any: 'thing' } },
  })),
  chatInitialize: atChat(),
  chatUpdateMessage: atForeignChat('ResourceNotFound', ({ messageId }) => ({
    params: { id: messageId },
    body: { payload: { type: 'text', text: 'Other words' }, metadata: { any: 'thing' } },
  })),
  chatAddMessageFeedback: atForeignChat('ResourceNotFound', ({ messageId }) => ({
    params: { id: messageId },
    body: { value: 'positive', comment: 'Good' },
  })),
  chatRemoveMessageFeedback: atForeignChat('ResourceNotFound', ({ messageId }) => ({
    params: { id: messageId },
  })),
  chatCreateFile: atForeignChat('Forbidden', ({ conversationId }) => ({
    body: { key: 'note.txt', size: 5, tags: { conversation: conversationId } },
  })),
  chatCreateUserKey: atForeignChat('Unauthorized', () => ({ body: { id: 'somebody' } })),
  chatSendMetrics: atChat(() => ({ body: { duration: 1, event: 'opened', properties: {} } })),
  webchatListMessages: atForeignChat('Forbidden', ({ conversationId }) => ({
    params: { id: conversationId },
  })),
  webchatGetMessage: atForeignChat('ResourceNotFound', ({ messageId }) => ({
    params: { id: messageId },
  })),
  webchatCreateMessage: atForeignChat('Forbidden', ({ conversationId }) => ({
    body: { conversationId, payload: { type: 'text', text: 'More words' } },
  })),
  webchatListenConversation: atForeignChat('Forbidden', ({ conversationId }) => ({
    params: { id: conversationId },
  })),
  setChatAdminSecret: byId(({ botId }) => botId, {
    secret: 'a-secret-for-tests-that-is-long-enough',
  }),
  removeChatAdminSecret: byId(({ botId }) => botId),

  chatGetEvent: atForeignChat('ResourceNotFound', ({ chatEventId }) => ({
    params: { id: chatEventId },
  })),
}
