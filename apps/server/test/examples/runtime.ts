import { byId, type Examples, own } from './example.js'

/** Examples of the operations of bots and integrations. */
export const runtimeExamples: Examples = {
  createConversation: own(() => ({
    body: {
      channel: 'channel',
      tags: { whose: 'own' },
      integrationName: 'chat',
      properties: { mood: 'good' },
    },
  })),
  getConversation: byId(({ conversationId }) => conversationId),
  listConversations: own(({ userId }) => ({
    query: { participantIds: [userId, userId], 'tags.whose': 'own', channel: 'channel' },
  })),

  getOrCreateConversation: own(() => ({
    body: {
      channel: 'channel',
      tags: { whose: 'own' },
      discriminateByTags: ['whose'],
      properties: { mood: null },
    },
  })),
  updateConversation: byId(({ conversationId }) => conversationId, {
    tags: { whose: 'new' },
    properties: { mood: 'better' },
  }),
  deleteConversation: byId(({ conversationId }) => conversationId),
  listParticipants: byId(({ conversationId }) => conversationId),
  addParticipant: {
    request: ({ conversationId, userId }) => ({
      params: { id: conversationId },
      body: { userId },
    }),
    foreign: 'ResourceNotFound',
  },
  getParticipant: {
    request: ({ conversationId, userId }) => ({ params: { id: conversationId, userId } }),
    foreign: 'ResourceNotFound',
  },
  removeParticipant: {
    request: ({ conversationId, userId }) => ({ params: { id: conversationId, userId } }),
    foreign: 'ResourceNotFound',
  },

  createUser: own(() => ({
    body: { tags: { whose: 'own' }, name: 'Ada', properties: { mood: 'good' } },
  })),
  getUser: byId(({ userId }) => userId),
  listUsers: {
    request: ({ conversationId }) => ({
      query: { conversationId, rangeField: 'updatedAt', 'tags.whose': 'own' },
    }),
    foreign: 'ReferenceNotFound',
  },
  getOrCreateUser: own(() => ({ body: { tags: { whose: 'own' }, name: 'Ada' } })),
  updateUser: byId(({ userId }) => userId, { tags: { whose: 'new' }, name: null }),
  deleteUser: byId(({ userId }) => userId),
  revokeUserKeys: byId(({ userId }) => userId),
  banUser: byId(({ userId }) => userId),
  unbanUser: byId(({ userId }) => userId),

  createMessage: {
    request: ({ conversationId, botId }) => ({
      body: { conversationId, userId: botId, type: 'text', payload: { text: 'Words' }, tags: {} },
    }),
    foreign: 'ReferenceNotFound',
  },
  getOrCreateMessage: {
    request: ({ conversationId, botId }) => ({
      body: { conversationId, userId: botId, type: 'text', tags: { whose: 'own' } },
    }),
    foreign: 'ReferenceNotFound',
  },
  getMessage: byId(({ messageId }) => messageId),
  updateMessage: byId(({ messageId }) => messageId, { tags: { whose: 'own' } }),
  listMessages: {
    request: ({ conversationId }) => ({ query: { conversationId, 'tags.whose': 'own' } }),
    foreign: 'ReferenceNotFound',
  },
  deleteMessage: byId(({ messageId }) => messageId),
  importMessages: {
    request: ({ conversationId, userId }) => ({
      body: {
        messages: [
          {
            conversationId,
            userId,
            type: 'text',
            payload: { text: 'Old words' },
            tags: { old: 'yes' },
            discriminateByTags: ['old'],
            createdAt: '2020-01-31T12:00:00Z',
          },
        ],
      },
    }),
    foreign: 'ReferenceNotFound',
  },
  // The bot itself may not call it; what becomes of foreign ids is tested with an integration.
  initializeIncomingMessage: {
    request: ({ conversationId, userId }) => ({ body: { conversationId, userId } }),
    foreign: 'Forbidden',
  },

  createEvent: {
    request: ({ conversationId }) => ({
      body: { type: 'noticed', payload: { any: 'thing' }, conversationId },
    }),
    foreign: 'ReferenceNotFound',
  },
  getEvent: byId(({ eventId }) => eventId),
  listEvents: {
    request: ({ conversationId }) => ({ query: { conversationId, status: 'pending' } }),
    foreign: 'ReferenceNotFound',
  },
  cancelScheduledEvent: byId(({ eventId }) => eventId),
  getState: {
    request: ({ conversationId }) => ({
      params: { type: 'conversation', id: conversationId, name: 'noted' },
    }),
    foreign: 'ResourceNotFound',
  },
  setState: {
    request: ({ conversationId }) => ({
      params: { type: 'conversation', id: conversationId, name: 'noted' },
      body: { payload: { any: 'thing' }, expiry: null },
    }),
    foreign: 'ResourceNotFound',
  },
  getOrSetState: {
    request: ({ conversationId }) => ({
      params: { type: 'conversation', id: conversationId, name: 'noted' },
      body: { payload: { any: 'thing' } },
    }),
    foreign: 'ResourceNotFound',
  },
  patchState: {
    request: ({ conversationId }) => ({
      params: { type: 'conversation', id: conversationId, name: 'noted' },
      body: { payload: { any: 'thing' } },
    }),
    foreign: 'ResourceNotFound',
  },
  setStateExpiry: {
    request: ({ conversationId }) => ({
      params: { type: 'conversation', id: conversationId, name: 'noted' },
      body: { expiry: null },
    }),
    foreign: 'ResourceNotFound',
  },
  createWorkflow: {
    request: ({ conversationId }) => ({
      body: { name: 'order', status: 'pending', conversationId, tags: { whose: 'own' } },
    }),
    foreign: 'ReferenceNotFound',
  },
  getWorkflow: byId(({ workflowId }) => workflowId),
  listWorkflows: {
    request: ({ conversationId }) => ({
      query: { conversationId, statuses: ['pending', 'paused'], 'tags.whose': 'own' },
    }),
    foreign: 'ReferenceNotFound',
  },
  getOrCreateWorkflow: {
    request: ({ conversationId }) => ({
      body: { name: 'own', status: 'listening', conversationId, tags: { whose: 'own' } },
    }),
    foreign: 'ReferenceNotFound',
  },
  updateWorkflow: byId(({ workflowId }) => workflowId, { output: { any: 'thing' } }),
  deleteWorkflow: byId(({ workflowId }) => workflowId),
  callAction: {
    request: ({ conversationId }) => ({
      body: { type: 'chat:sendEvent', input: { conversationId, payload: { any: 'thing' } } },
    }),
    foreign: 'ResourceNotFound',
  },
  trackAnalytics: own(() => ({ body: { name: 'orders', count: 1 } })),
  captureObservation: {
    request: ({ conversationId }) => ({
      body: { name: 'slow answer', data: { seconds: 3 }, conversationId },
    }),
    foreign: 'ReferenceNotFound',
  },
  listTagValues: own(() => ({ params: { key: 'whose' }, query: { type: 'conversation' } })),
}
