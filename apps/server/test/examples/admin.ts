import { byId, type Example, type Examples, own } from './example.js'

/** The bot of a tenant listens nowhere, so that nothing was ever to be delivered to it. */
const atDelivery: Example = {
  request: ({ botId }) => ({ params: { id: botId, deliveryId: 'delivery_none' } }),
  foreign: 'ResourceNotFound',
}

/** Accounts, workspaces and bots. */
export const adminExamples: Examples = {
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
}
