import type { Client } from '@botstead/contract'

type OperationId = keyof Client

const lists = ['listFiles', 'listFileFolders', 'listFileTags'] as const
const files = [...lists, 'getFile', 'listFilePassages'] as const
const cases = ['listEvaluationCases', 'getEvaluationSet', 'listEvaluationSets'] as const
const quotas = ['getMultipleUsages'] as const

/**
 * The queries whose results each operation changes. The query of a deleted object is not among them: an
 * open screen about it is left, not read once more.
 */
export const changes = {
  createBot: ['listBots'],
  updateBot: ['listBots', 'getBot', 'listIntegrationInstallations'],
  deleteBot: ['listBots'],
  transferBot: ['listBots'],
  createBotVersion: ['listBotVersions'],
  deployBotVersion: ['listBotVersions', 'getBot', 'listBots'],
  deleteBotVersion: ['listBotVersions'],
  deleteBotIssue: ['listBotIssues'],
  updateBotWebchatSettings: ['getBotWebchatSettings', 'getBotWebchat'],
  createBotApiKey: ['listBotApiKeys'],
  deleteBotApiKey: ['listBotApiKeys'],

  deleteIntegration: ['listIntegrations'],
  createIntegrationApiKey: ['listIntegrationApiKeys'],
  deleteIntegrationApiKey: ['listIntegrationApiKeys'],

  createMessage: ['listWorkspaceConversations', 'getWorkspaceConversation'],
  banUser: ['getUser', 'listUsers'],
  unbanUser: ['getUser', 'listUsers'],
  cancelScheduledEvent: ['getEvent', 'listEvents'],
  setState: ['getState'],

  replayDelivery: ['getDelivery', 'listWorkspaceDeliveries', 'listWorkspaceConversations'],
  createDeliveryReplay: ['listDeliveryReplays'],
  cancelDeliveryReplay: ['listDeliveryReplays'],
  sendTestEvent: ['listWorkspaceDeliveryReceivers'],

  upsertFile: files,
  updateFileMetadata: files,
  reindexFile: files,
  deleteFile: lists,

  createEvaluationSet: ['listEvaluationSets'],
  updateEvaluationSet: ['listEvaluationSets', 'getEvaluationSet'],
  deleteEvaluationSet: ['listEvaluationSets'],
  createEvaluationCase: cases,
  updateEvaluationCase: cases,
  deleteEvaluationCase: cases,
  importEvaluationCases: cases,
  startEvaluationRun: ['listEvaluationRuns'],
  deleteEvaluationRun: ['listEvaluationRuns'],

  setWorkspaceQuota: quotas,
  setBotQuota: quotas,

  resolveErrors: ['getOverview'],
  reopenErrors: ['getOverview'],
  createWorkspaceMember: ['listWorkspaceMembers'],
  updateWorkspaceMember: ['listWorkspaceMembers', 'getWorkspaceMember'],
  deleteWorkspaceMember: ['listWorkspaceMembers'],
  acceptInvitation: ['listWorkspaces'],
  updateBotAllowlist: ['getBotAllowlist'],
  createWorkspace: ['listWorkspaces'],
  updateWorkspace: ['getWorkspace', 'listWorkspaces'],
  createPersonalAccessToken: ['listPersonalAccessTokens'],
  deletePersonalAccessToken: ['listPersonalAccessTokens'],
  deleteSession: ['listSessions'],
  deleteOtherSessions: ['listSessions'],
  updateAccount: ['getAccount', 'listWorkspaceMembers', 'getWorkspaceMember'],
  changeAccountEmail: ['getAccount', 'listWorkspaceMembers', 'getWorkspaceMember'],
  changePassword: ['getAccountSecurity', 'listSessions'],
  confirmSecondFactor: ['getAccountSecurity', 'listSessions'],
  renewRecoveryCodes: ['getAccountSecurity'],
  removeSecondFactor: ['getAccountSecurity'],
  finishPasskey: ['getAccountSecurity', 'listPasskeys'],
  updatePasskey: ['listPasskeys'],
  deletePasskey: ['getAccountSecurity', 'listPasskeys', 'listSessions'],
  disconnectSingleSignOn: ['getAccountSecurity', 'listSessions'],
  retryJob: ['listJobs'],
  retryJobs: ['listJobs'],
  dropJob: ['listJobs'],
  runJobSchedule: ['listJobSchedules', 'listJobs'],
} as const satisfies Partial<Record<OperationId, readonly OperationId[]>>

/** An operation whose changes are known. */
export type ChangeId = keyof typeof changes
