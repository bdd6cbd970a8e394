import { atChat, atForeignChat, type Examples } from './example.js'

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
  chatGetEvent: atForeignChat('ResourceNotFound', ({ chatEventId }) => ({
    params: { id: chatEventId },
  })),
}
