import type { Tenant } from '../tenant.js'
import { byId, type Example, type Examples, own } from './example.js'

/** The bot of a tenant listens nowhere, so that nothing was ever to be delivered to it. */
const atDelivery: Example = {
  request: ({ botId }) => ({ params: { id: botId, deliveryId: 'delivery_none' } }),
  foreign: 'ResourceNotFound',
}

/** The bot of a tenant runs no code here, so that it has no versions and issues. */
const atVersion: Example = {
  request: ({ botId }) => ({ params: { id: botId, versionId: 'botver_none' } }),
  foreign: 'ResourceNotFound',
}
const atIssue: Example = {
  request: ({ botId }) => ({ params: { id: botId, issueId: 'iss_none' } }),
  foreign: 'ResourceNotFound',
}

/** Whoever has the code of an invitation may use it, and tenants have none of each other. */
const withoutInvitation = (more: object): Example => ({
  request: () => ({ body: { code: 'bp_inv_none', ...more } }),
  foreign: 'ResourceNotFound',
})

/** The same for links that set a password. */
const withoutReset = (more: object): Example => ({
  request: () => ({ body: { code: 'bp_res_none', ...more } }),
  foreign: 'ResourceNotFound',
})

const password = 'seven green teapots'

/** A tenant has no second factor, whose code would be another one at each time. */
const withoutFactor = (body: object): Example => ({
  request: () => ({ body }),
  foreign: 'ResourceNotFound',
})

/** A tenant has no passkey, whose device would have to be there. */
const withoutPasskey = (body: object): Example => ({
  request: () => ({ params: { id: 'passkey_none' }, body }),
  foreign: 'ResourceNotFound',
})
const passkeyProof = {
  clientDataJSON: 'AAAA',
  authenticatorData: 'AAAA',
  signature: 'AAAA',
  userHandle: 'AAAA',
}

/** This server has no provider. */
const withoutProvider = (body: object): Example => ({
  request: () => ({ body }),
  foreign: 'ResourceNotFound',
})

/** Asks how much of something a workspace or bot used. */
const asked = (idOf: (tenant: Tenant) => string): Example => ({
  request: (tenant) => ({ params: { id: idOf(tenant) }, query: { type: 'storage_count' } }),
  foreign: 'ResourceNotFound',
})

/** Belongs to the server, and not to a tenant. */
const forOperator = (request: ReturnType<Example['request']>): Example => ({
  request: () => request,
  foreign: 'Forbidden',
})

/** Accounts, workspaces and bots. */
export const adminExamples: Examples = {
  getAccount: own(),
  updateAccount: own(() => ({ body: { displayName: 'Ada' } })),
  listPersonalAccessTokens: own(),
  introspect: { request: ({ botId }) => ({ body: { botId } }), foreign: 'ReferenceNotFound' },
  createPersonalAccessToken: own(() => ({ body: { note: 'another' } })),
  deletePersonalAccessToken: byId(({ personalTokenId }) => personalTokenId),
  createSession: own(({ personalToken }) => ({ body: { token: personalToken, note: 'another' } })),
  listSessions: own(),
  deleteSession: byId(({ sessionId }) => sessionId),
  deleteOtherSessions: own(),
  signInWithPassword: {
    request: () => ({ body: { email: 'nobody@example.com', password } }),
    foreign: 'Unauthorized',
  },
  signInWithSecondFactor: {
    request: () => ({ body: { ticket: 'bp_tic_none', code: '123456' } }),
    foreign: 'Unauthorized',
  },
  getSignInWays: own(),
  requestPasswordReset: {
    request: () => ({ body: { email: 'nobody@example.com' } }),
    // This server sends no mail.
    foreign: 'ResourceNotFound',
  },
  getPasswordReset: withoutReset({}),
  resetPassword: withoutReset({ password }),
  startSingleSignOn: withoutProvider({ returnTo: '/here' }),
  finishSingleSignOn: withoutProvider({ query: '?code=none&state=none' }),
  connectSingleSignOn: withoutProvider({ currentPassword: password, returnTo: '/here' }),
  disconnectSingleSignOn: withoutProvider({ currentPassword: password }),
  startPasskeySignIn: own(),
  signInWithPasskey: {
    request: () => ({ body: { credential: { id: 'AAAA', response: passkeyProof } } }),
    foreign: 'Unauthorized',
  },
  listPasskeys: own(),
  startPasskey: {
    request: () => ({ body: { currentPassword: 'another' } }),
    foreign: 'InvalidPayload',
  },
  finishPasskey: {
    request: () => ({
      body: {
        name: 'Laptop',
        credential: { id: 'AAAA', response: { clientDataJSON: 'AAAA', attestationObject: 'AAAA' } },
      },
    }),
    foreign: 'InvalidPayload',
  },
  updatePasskey: withoutPasskey({ name: 'Laptop' }),
  deletePasskey: withoutPasskey({ currentPassword: password }),
  getAccountSecurity: own(),
  changePassword: own(() => ({ body: { password, currentPassword: password } })),
  changeAccountEmail: own(({ botId }) => ({
    body: { email: `of-${botId}@example.com`, currentPassword: password },
  })),
  // With the right password, the account of the test would be gone.
  deleteAccount: {
    request: () => ({ body: { currentPassword: 'another' } }),
    foreign: 'InvalidPayload',
  },
  startSecondFactor: {
    request: () => ({ body: { currentPassword: 'another' } }),
    foreign: 'InvalidPayload',
  },
  confirmSecondFactor: withoutFactor({ code: '123456' }),
  renewRecoveryCodes: withoutFactor({ currentPassword: password, code: '123456' }),
  removeSecondFactor: withoutFactor({ currentPassword: password, code: '123456' }),

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
  listPublicWorkspaces: own(() => ({ query: { search: 'taken' } })),
  // Those of tenants are not public.
  getPublicWorkspace: byId(({ workspaceId }) => workspaceId),
  getAccountPreference: own(() => ({ params: { key: 'language' } })),
  setAccountPreference: own(() => ({ params: { key: 'language' }, body: { value: 'de' } })),
  getWorkspacePreference: own(() => ({ params: { key: 'language' } })),
  setWorkspacePreference: own(() => ({ params: { key: 'language' }, body: { value: ['de'] } })),
  checkHandleAvailability: own(() => ({ body: { handle: 'taken' } })),
  deleteWorkspace: byId(({ workspaceId }) => workspaceId),
  getAuditRecords: byId(({ workspaceId }) => workspaceId),
  exportAuditRecords: byId(({ workspaceId }) => workspaceId),

  listWorkspaceMembers: own(),
  getWorkspaceMember: own(),
  createWorkspaceMember: own(() => ({ body: { email: 'another@example.com', role: 'viewer' } })),
  renewWorkspaceInvitation: byId(({ memberId }) => memberId),
  updateWorkspaceMember: byId(({ memberId }) => memberId, { role: 'developer' }),
  deleteWorkspaceMember: byId(({ memberId }) => memberId),
  getInvitation: withoutInvitation({}),
  acceptInvitation: withoutInvitation({}),
  signUpWithInvitation: withoutInvitation({ displayName: 'Guest', password }),

  runVrl: own(() => ({
    body: { data: { body: '{"page":"P1"}' }, script: 'parse_json!(.body).page' },
  })),

  listWorkspaceLimits: byId(({ workspaceId }) => workspaceId),
  getUsage: asked(({ botId }) => botId),
  getMultipleUsages: {
    request: ({ botId }) => ({ query: { types: 'storage_count', ids: botId } }),
    foreign: 'ResourceNotFound',
  },
  listUsageHistory: asked(({ botId }) => botId),
  listUsageActivity: asked(({ botId }) => botId),
  listUsageActivityDaily: asked(({ botId }) => botId),
  listWorkspaceUsages: asked(({ workspaceId }) => workspaceId),
  breakDownWorkspaceUsageByBot: asked(({ workspaceId }) => workspaceId),
  exportWorkspaceUsage: byId(({ workspaceId }) => workspaceId),
  getAllWorkspaceQuotaCompletion: own(),
  getWorkspaceQuota: asked(({ workspaceId }) => workspaceId),
  listWorkspaceQuotas: byId(({ workspaceId }) => workspaceId),
  setWorkspaceQuota: byId(({ workspaceId }) => workspaceId, { type: 'bot_count', value: 900 }),
  listBotQuotas: byId(({ botId }) => botId),
  setBotQuota: byId(({ botId }) => botId, { type: 'invocation_calls', value: null }),

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
  transferBot: byId(({ botId }) => botId, {
    targetWorkspaceId: '6f1c1f5e-0000-4000-8000-000000000000',
  }),
  deleteBot: byId(({ botId }) => botId),
  rotateBotSigningSecrets: byId(({ botId }) => botId),
  getBotAllowlist: {
    request: ({ botId }) => ({ params: { botId } }),
    foreign: 'ResourceNotFound',
  },
  updateBotAllowlist: {
    request: ({ botId }) => ({ params: { botId }, body: { setting: 'ALL_WORKSPACE_USERS' } }),
    foreign: 'ResourceNotFound',
  },
  getBotWebchat: {
    request: ({ botId }) => ({ params: { id: botId }, query: { type: 'sharableUrl' } }),
    foreign: 'ResourceNotFound',
  },
  getBotWebchatSettings: byId(({ botId }) => botId),
  updateBotWebchatSettings: byId(({ botId }) => botId, {
    greeting: 'Hello',
    suggestedQuestions: ['Who are you?'],
    allowedOrigins: ['https://shop.example.com'],
    footer: null,
  }),

  listWorkspaceConversations: {
    request: ({ botId }) => ({ query: { botId, hasFailedDelivery: 'false', pageSize: '5' } }),
    foreign: 'ReferenceNotFound',
  },
  getOverview: own(),
  resolveErrors: {
    request: () => ({ params: { errorId: 'none' }, body: { lastAt: '2026-01-01T00:00:00Z' } }),
    foreign: 'ResourceNotFound',
  },
  reopenErrors: {
    request: () => ({ params: { errorId: 'none' } }),
    foreign: 'ResourceNotFound',
  },
  exportWorkspaceConversations: {
    request: ({ botId }) => ({ query: { botId, messages: 'true' } }),
    foreign: 'ReferenceNotFound',
  },
  getWorkspaceConversation: byId(({ conversationId }) => conversationId),
  streamWorkspaceConversation: byId(({ conversationId }) => conversationId),
  getConversationTimeline: byId(({ conversationId }) => conversationId),
  getServer: { request: () => ({}), foreign: 'Forbidden' },
  getBotLogs: {
    request: ({ botId }) => ({
      params: { id: botId },
      query: { timeStart: '2026-01-01T00:00:00Z' },
    }),
    foreign: 'ResourceNotFound',
  },
  listLogs: {
    request: ({ botId }) => ({ query: { botId, minLevel: 'debug', text: 'a' } }),
    foreign: 'ReferenceNotFound',
  },
  countLogs: {
    request: ({ botId }) => ({ query: { botId, buckets: '10' } }),
    foreign: 'ReferenceNotFound',
  },
  streamLogs: {
    request: ({ botId }) => ({ query: { botId } }),
    foreign: 'ReferenceNotFound',
  },
  writeBotLogs: own(() => ({ body: { logs: [{ level: 'info', message: 'Started' }] } })),
  listBotVersions: byId(({ botId }) => botId),
  createBotVersion: byId(({ botId }) => botId, { name: 'First', description: 'As it began' }),
  getBotVersion: atVersion,
  deployBotVersion: byId(({ botId }) => botId, { versionId: 'botver_none' }),
  deleteBotVersion: atVersion,
  listBotIssues: byId(({ botId }) => botId),
  getBotIssue: atIssue,
  deleteBotIssue: atIssue,
  listBotIssueEvents: atIssue,
  getBotAnalytics: {
    request: ({ botId }) => ({
      params: { id: botId },
      query: { startDate: '2026-03-01', endDate: '2026-03-02' },
    }),
    foreign: 'ResourceNotFound',
  },
  listDeliveries: byId(({ botId }) => botId),
  getDelivery: atDelivery,
  replayDelivery: atDelivery,
  replayFailedDeliveries: byId(({ botId }) => botId, { conversationId: 'none' }),
  listDeliveryReceivers: byId(({ botId }) => botId),
  pauseDeliveries: byId(({ botId }) => botId, { integration: 'chat' }),
  resumeDeliveries: byId(({ botId }) => botId, { integration: 'chat' }),
  getWorkspaceDelivery: {
    request: () => ({ params: { deliveryId: 'delivery_none' } }),
    foreign: 'ResourceNotFound',
  },
  listWorkspaceDeliveryReceivers: {
    request: ({ botId }) => ({ query: { botId, paused: 'true' } }),
    foreign: 'ReferenceNotFound',
  },
  listJobs: forOperator({ query: { kind: 'search.index', state: 'dead' } }),
  retryJob: forOperator({ params: { id: 'job_none' } }),
  retryJobs: forOperator({ body: { kind: 'search.index' } }),
  dropJob: forOperator({ params: { id: 'job_none' } }),
  listJobSchedules: forOperator({}),
  runJobSchedule: forOperator({ params: { kind: 'server.housekeeping' } }),
  createDeliveryReplay: {
    request: ({ botId }) => ({ body: { botId, conversationId: 'none' } }),
    foreign: 'ReferenceNotFound',
  },
  listDeliveryReplays: own(),
  getDeliveryReplay: {
    request: () => ({ params: { replayId: 'replay_none' } }),
    foreign: 'ResourceNotFound',
  },
  cancelDeliveryReplay: {
    request: () => ({ params: { replayId: 'replay_none' } }),
    foreign: 'ResourceNotFound',
  },
  listWorkspaceDeliveries: {
    request: ({ botId }) => ({ query: { botId, status: ['failed', 'pending'], kind: 'signal' } }),
    foreign: 'ReferenceNotFound',
  },
  sendTestEvent: byId(({ botId }) => botId, { type: 'test', payload: { any: 'thing' } }),
}
