import type { Auth, Operation } from '@botstead/contract'
import type { Request } from './request.js'
import type { Tenant } from './tenant.js'

/** An operation as one tenant calls it, and what becomes of it with the ids of another tenant. */
export interface Example {
  /** The call without its credentials. */
  request(tenant: Tenant): Omit<Request, 'headers'>
  /** Headers of the operation itself. */
  headers?: Record<string, string>
  /** Type of the refusal of foreign ids; `own` when it names none and acts on the caller's things. */
  foreign: 'ResourceNotFound' | 'ReferenceNotFound' | 'Forbidden' | 'own'
}

const own = (request: Example['request'] = () => ({})): Example => ({ request, foreign: 'own' })
const byId = (pick: (tenant: Tenant) => string, body?: object): Example => ({
  request: (tenant) => ({ params: { id: pick(tenant) }, ...(body && { body }) }),
  foreign: 'ResourceNotFound',
})
const atChat = (more: (tenant: Tenant) => Omit<Request, 'headers'> = () => ({})) =>
  own((tenant) => {
    const { params, ...rest } = more(tenant)
    return { params: { webhookId: tenant.webhookId, ...params }, ...rest }
  })
const atForeignChat = (
  foreign: Example['foreign'],
  more: (tenant: Tenant) => Omit<Request, 'headers'>,
): Example => ({ ...atChat(more), foreign })

/** Upload addresses carry their own permission, so a foreign one can only be made up. */
const atForgedUpload: Example = {
  request: () => ({ params: { token: 'nonsense' } }),
  headers: { 'tus-resumable': '1.0.0' },
  foreign: 'Forbidden',
}

/** The bot of a tenant listens nowhere, so that nothing was ever to be delivered to it. */
const atDelivery: Example = {
  request: ({ botId }) => ({ params: { id: botId, deliveryId: 'delivery_none' } }),
  foreign: 'ResourceNotFound',
}

/** Interfaces and plugins, of which there are none. */
const looking = (params: Record<string, string>): Example => ({
  request: () => ({ params }),
  foreign: 'ResourceNotFound',
})
const byNothing = looking({ id: 'none' })
const byNoName = looking({ name: 'none', version: 'latest' })
const byNoPlatform = looking({ id: 'none', platform: 'node' })

/** Every operation of the interface, by id. */
export const examples: Readonly<Record<string, Example>> = {
  getAccount: own(),
  updateAccount: own(() => ({ body: { displayName: 'Ada' } })),
  listPersonalAccessTokens: own(),
  introspect: { request: ({ botId }) => ({ body: { botId } }), foreign: 'ReferenceNotFound' },
  createPersonalAccessToken: own(() => ({ body: { note: 'another' } })),
  deletePersonalAccessToken: byId(({ personalTokenId }) => personalTokenId),

  listBotApiKeys: {
    request: ({ botId }) => ({ query: { botId } }),
    foreign: 'ReferenceNotFound',
  },
  createBotApiKey: {
    request: ({ botId }) => ({ body: { botId, note: 'another' } }),
    foreign: 'ReferenceNotFound',
  },
  deleteBotApiKey: byId(({ botKeyId }) => botKeyId),

  listWorkspaces: own(() => ({ query: { handle: 'taken' } })),
  createWorkspace: own(() => ({ body: { name: 'Another' } })),
  getWorkspace: byId(({ workspaceId }) => workspaceId),
  updateWorkspace: byId(({ workspaceId }) => workspaceId, {
    name: 'Renamed',
    about: 'All about it',
    profilePicture: 'https://example.com/a.png',
    contactEmail: 'ada@example.com',
    website: 'https://example.com',
    socialAccounts: ['https://example.com/ada'],
  }),
  deleteWorkspace: byId(({ workspaceId }) => workspaceId),

  listBots: own(() => ({
    query: { 'tags.whose': 'own', integrationNames: ['chat', 'chat'], pageSize: '100' },
  })),
  createBot: own(() => ({
    body: {
      name: 'Another',
      description: 'One more',
      tags: { whose: 'own' },
      url: 'http://[::1]:9',
    },
  })),
  getBot: byId(({ botId }) => botId),
  listActionRuns: {
    request: ({ botId }) => ({ params: { id: botId }, query: { integrationName: 'mail' } }),
    foreign: 'ResourceNotFound',
  },
  updateBot: byId(({ botId }) => botId, { name: 'Renamed', tags: { whose: 'new' } }),
  deleteBot: byId(({ botId }) => botId),
  rotateBotSigningSecrets: byId(({ botId }) => botId),

  getBotLogs: {
    request: ({ botId }) => ({
      params: { id: botId },
      query: { timeStart: '2026-01-01T00:00:00Z' },
    }),
    foreign: 'ResourceNotFound',
  },
  writeBotLogs: own(() => ({ body: { logs: [{ level: 'info', message: 'Started' }] } })),
  listDeliveries: byId(({ botId }) => botId),
  getDelivery: atDelivery,
  replayDelivery: atDelivery,
  replayFailedDeliveries: byId(({ botId }) => botId, { conversationId: 'none' }),
  listDeliveryReceivers: byId(({ botId }) => botId),
  pauseDeliveries: byId(({ botId }) => botId, { integration: 'chat' }),
  resumeDeliveries: byId(({ botId }) => botId, { integration: 'chat' }),
  sendTestEvent: byId(({ botId }) => botId, { type: 'test', payload: { any: 'thing' } }),

  listInterfaces: own(),
  listPublicInterfaces: own(),
  listPlugins: own(),
  listPublicPlugins: own(),
  getInterface: byNothing,
  getInterfaceByName: byNoName,
  getPublicInterfaceById: byNothing,
  getPublicInterface: byNoName,
  getPlugin: byNothing,
  getPluginByName: byNoName,
  getPluginCode: byNoPlatform,
  getDereferencedPlugin: byNothing,
  getPublicPluginById: byNothing,
  getPublicPlugin: byNoName,
  getPublicPluginCode: byNoPlatform,
  getDereferencedPublicPluginById: byNothing,
  listIntegrations: own(() => ({ query: { search: 'mail', pageSize: '100' } })),
  createIntegration: own(() => ({ body: { name: 'another-mail', version: '1.0.0' } })),
  validateIntegrationCreation: own(() => ({ body: { name: 'third-mail', version: '1.0.0' } })),
  requestIntegrationVerification: {
    request: ({ integrationId }) => ({ body: { integrationId } }),
    foreign: 'ReferenceNotFound',
  },
  getIntegration: byId(({ integrationId }) => integrationId),
  getIntegrationByName: own(() => ({ params: { name: 'own-mail', version: 'latest' } })),
  updateIntegration: byId(({ integrationId }) => integrationId, { title: 'Renamed' }),
  validateIntegrationUpdate: byId(({ integrationId }) => integrationId, { title: 'Renamed' }),
  deleteIntegration: byId(({ integrationId }) => integrationId),
  rotateIntegrationSigningSecrets: byId(({ integrationId }) => integrationId, {}),
  getIntegrationLogs: {
    request: ({ integrationId }) => ({
      params: { id: integrationId },
      query: { timeStart: '2026-01-01T00:00:00Z' },
    }),
    foreign: 'ResourceNotFound',
  },
  listIntegrationApiKeys: {
    request: ({ integrationId }) => ({ query: { integrationId } }),
    foreign: 'ReferenceNotFound',
  },
  createIntegrationApiKey: {
    request: ({ integrationId }) => ({ body: { integrationId, note: 'another' } }),
    foreign: 'ReferenceNotFound',
  },
  deleteIntegrationApiKey: byId(({ integrationKeyId }) => integrationKeyId),
  configureIntegration: {
    request: () => ({ body: { identifier: 'own' } }),
    headers: { 'x-integration-alias': 'chat' },
    foreign: 'own',
  },
  listPublicIntegrations: own(() => ({ query: { search: 'chat' } })),
  getPublicIntegrationById: own(() => ({
    params: { id: '6f1c1f5e-4c52-4d0e-9d0a-5b1d1f0c7a11' },
  })),
  getPublicIntegration: own(() => ({ params: { name: 'chat', version: 'latest' } })),

  upsertFile: own(() => ({
    body: { key: 'own.md', size: 5, tags: { whose: 'own' }, metadata: { any: 'thing' } },
  })),
  listFiles: own(({ fileId }) => ({ query: { ids: [fileId, fileId], 'tags.whose': 'own' } })),
  getFile: {
    request: ({ fileId }) => ({
      params: { id: fileId },
      query: { waitFor: 'indexing_completed', timeout: '0' },
    }),
    foreign: 'ResourceNotFound',
  },
  deleteFile: byId(({ fileId }) => fileId),
  updateFileMetadata: byId(({ fileId }) => fileId, {
    metadata: { any: null, other: 'thing' },
    tags: { whose: 'new' },
    accessPolicies: ['integrations'],
    expiresAt: null,
  }),
  copyFile: {
    request: ({ fileId }) => ({
      params: { idOrKey: fileId, destinationKey: 'copy.md' },
      body: { overwrite: true },
    }),
    foreign: 'ResourceNotFound',
  },
  listFileTags: own(() => ({ query: { pageSize: '100' } })),
  listFileTagValues: own(() => ({ params: { tag: 'whose' }, query: { pageSize: '100' } })),
  listFileEvents: own(() => ({ query: { after: '0' } })),
  createKnowledgeBase: own(() => ({ body: { name: 'Manuals', tags: { whose: 'own' } } })),
  listKnowledgeBases: own(() => ({ query: { 'tags.whose': 'own' } })),
  updateKnowledgeBase: byId(({ knowledgeBaseId }) => knowledgeBaseId, {
    name: 'Renamed',
    tags: { whose: null, other: 'thing' },
  }),
  deleteKnowledgeBase: byId(({ knowledgeBaseId }) => knowledgeBaseId),
  listFilePassages: {
    request: ({ fileId }) => ({ params: { id: fileId }, query: { limit: '5', pageSize: '5' } }),
    foreign: 'ResourceNotFound',
  },
  setFilePassages: byId(({ fileId }) => fileId, {
    passages: [{ content: 'Own words', type: 'paragraph', pageNumber: 1 }],
  }),
  reindexFile: byId(({ fileId }) => fileId),
  searchFiles: own(() => ({ query: { query: 'own words', 'tags.whose': 'own' } })),

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
            ...{ conversationId, userId, type: 'text', payload: { text: 'Old words' } },
            ...{ tags: { old: 'yes' }, discriminateByTags: ['old'] },
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

  putContent: atForgedUpload,
  createResumableUpload: atForgedUpload,
  getResumableUpload: atForgedUpload,
  appendToResumableUpload: {
    ...atForgedUpload,
    headers: {
      ...atForgedUpload.headers,
      'upload-offset': '0',
      'content-type': 'application/offset+octet-stream',
    },
  },
  terminateResumableUpload: atForgedUpload,
  getContent: {
    request: ({ fileId }) => ({ params: { fileId } }),
    foreign: 'ResourceNotFound',
  },

  getHealth: own(),
  getReadiness: own(),
}

/** The example of an operation; one that is missing is a mistake of the tests. */
export function exampleOf({ id }: Operation): Example {
  const example = examples[id]
  if (example === undefined) throw new Error(`The operation ${id} has no example`)
  return example
}

/** The headers by which a tenant calls operations of one kind. */
export function credentialsOf(auth: Auth, tenant: Tenant): Record<string, string> {
  const authorization = `Bearer ${tenant.token}`
  switch (auth) {
    case 'account':
      return { authorization }
    case 'workspace':
      return { authorization, 'x-workspace-id': tenant.workspaceId }
    case 'bot':
      return { authorization, 'x-bot-id': tenant.botId }
    case 'chat-user':
      return { 'x-user-key': tenant.userKey }
    case 'chat':
    case 'public':
    case 'signature':
      return {}
    default:
      return auth satisfies never
  }
}
