import { expect } from 'vitest'
import type { Reaches } from './reaches.js'

/** Of workspaces, bots, integrations and files. */
export const adminReaches: Reaches = {
  deletePersonalAccessToken: (client, { tokenId }) =>
    client.deletePersonalAccessToken({ id: tokenId }),
  deleteSession: (client, { sessionId }) => client.deleteSession({ id: sessionId }),
  updatePasskey: (client, { passkeyId }) => client.updatePasskey({ id: passkeyId, name: 'taken' }),
  deletePasskey: (client, { passkeyId }) => client.deletePasskey({ id: passkeyId }),
  listBotApiKeys: (client, { botId }) => client.listBotApiKeys({ botId }),
  createBotApiKey: (client, { botId }) => client.createBotApiKey({ botId }),
  deleteBotApiKey: (client, { keyId }) => client.deleteBotApiKey({ id: keyId }),
  getWorkspace: (client, { workspaceId }) => client.getWorkspace({ id: workspaceId }),
  updateWorkspace: (client, { workspaceId }) =>
    client.updateWorkspace({ id: workspaceId, name: 'taken' }),
  getPublicWorkspace: (client, { workspaceId }) => client.getPublicWorkspace({ id: workspaceId }),
  getAuditRecords: (client, { workspaceId }) => client.getAuditRecords({ id: workspaceId }),
  // The client has no method for downloads, whose workspace is looked up in the same way.
  exportAuditRecords: (client, { workspaceId }) => client.getAuditRecords({ id: workspaceId }),
  deleteWorkspace: (client, { workspaceId }) => client.deleteWorkspace({ id: workspaceId }),
  createPersonalAccessToken: (client, { workspaceId, botId }) =>
    client.createPersonalAccessToken({ note: 'taken', workspaceId, botId }),
  updateWorkspaceMember: (client, { memberId }) =>
    client.updateWorkspaceMember({ id: memberId, role: 'owner' }),
  deleteWorkspaceMember: (client, { memberId }) => client.deleteWorkspaceMember({ id: memberId }),
  renewWorkspaceInvitation: (client, { memberId }) =>
    client.renewWorkspaceInvitation({ id: memberId }),
  getBotAllowlist: (client, { botId }) => client.getBotAllowlist({ botId }),
  updateBotAllowlist: (client, { botId }) =>
    client.updateBotAllowlist({ botId, setting: 'SELECTED_USERS' }),
  getBot: (client, { botId }) => client.getBot({ id: botId }),
  updateBot: (client, { botId }) => client.updateBot({ id: botId, name: 'taken' }),
  transferBot: (client, { botId, workspaceId }) =>
    client.transferBot({ id: botId, targetWorkspaceId: workspaceId }),
  deleteBot: (client, { botId }) => client.deleteBot({ id: botId }),
  rotateBotSigningSecrets: (client, { botId }) => client.rotateBotSigningSecrets({ id: botId }),
  introspect: (client, { botId }) => client.introspect({ botId }),
  listActionRuns: (client, { botId }) =>
    client.listActionRuns({ id: botId, integrationName: 'chat' }),
  listWorkspaceConversations: (client, { conversationId }) =>
    client.listWorkspaceConversations({ afterId: conversationId }),
  listWorkspaceLimits: (client, { workspaceId }) => client.listWorkspaceLimits({ id: workspaceId }),
  getUsage: (client, { botId }) => client.getUsage({ id: botId, type: 'message_count' }),
  listUsageHistory: (client, { workspaceId }) =>
    client.listUsageHistory({ id: workspaceId, type: 'message_count' }),
  listUsageActivity: (client, { botId }) =>
    client.listUsageActivity({ id: botId, type: 'message_count' }),
  listUsageActivityDaily: (client, { workspaceId }) =>
    client.listUsageActivityDaily({ id: workspaceId, type: 'message_count' }),
  listWorkspaceUsages: (client, { workspaceId }) =>
    client.listWorkspaceUsages({ id: workspaceId, type: 'message_count' }),
  breakDownWorkspaceUsageByBot: (client, { workspaceId }) =>
    client.breakDownWorkspaceUsageByBot({ id: workspaceId, type: 'message_count' }),
  // The client has no method for downloads, whose workspace is looked up in the same way.
  exportWorkspaceUsage: (client, { workspaceId }) =>
    client.listWorkspaceUsages({ id: workspaceId, type: 'message_count' }),
  getWorkspaceQuota: (client, { workspaceId }) =>
    client.getWorkspaceQuota({ id: workspaceId, type: 'storage_count' }),
  listWorkspaceQuotas: (client, { workspaceId }) => client.listWorkspaceQuotas({ id: workspaceId }),
  setWorkspaceQuota: (client, { workspaceId }) =>
    client.setWorkspaceQuota({ id: workspaceId, type: 'storage_count', value: 0 }),
  listBotQuotas: (client, { botId }) => client.listBotQuotas({ id: botId }),
  setBotQuota: (client, { botId }) =>
    client.setBotQuota({ id: botId, type: 'storage_count', value: 0 }),
  listIntegrationInstallations: (client, { integrationId }) =>
    client.listIntegrationInstallations({ id: integrationId }),
  getOverview: (client, { botId }) => client.getOverview({ botId }),
  resolveErrors: (client, { botId }) => client.resolveErrors({ errorId: 'none', botId }),
  reopenErrors: (client) => client.reopenErrors({ errorId: 'none' }),
  listLogs: (client, { botId }) => client.listLogs({ botId }),
  countLogs: (client, { botId }) => client.countLogs({ botId }),
  // The client has no method for streams, whose filter is checked in the same way.
  streamLogs: (client, { botId }) => client.listLogs({ botId, minLevel: 'error' }),
  // The client has no method for downloads, whose filter is checked in the same way.
  exportWorkspaceConversations: (client, { botId }) => client.listWorkspaceConversations({ botId }),
  getWorkspaceConversation: (client, { conversationId }) =>
    client.getWorkspaceConversation({ id: conversationId }),
  // The client has no method for streams, whose conversation is looked up in the same way.
  streamWorkspaceConversation: (client, { conversationId }) =>
    client.getWorkspaceConversation({ id: conversationId }),
  getConversationTimeline: (client, { conversationId }) =>
    client.getConversationTimeline({ id: conversationId }),
  getBotLogs: (client, { botId }) =>
    client.getBotLogs({ id: botId, timeStart: '2026-01-01T00:00:00Z' }),
  listBotVersions: (client, { botId }) => client.listBotVersions({ id: botId }),
  createBotVersion: (client, { botId }) => client.createBotVersion({ id: botId, name: 'taken' }),
  getBotVersion: (client, { botId }) =>
    client.getBotVersion({ id: botId, versionId: 'botver_none' }),
  deployBotVersion: (client, { botId }) =>
    client.deployBotVersion({ id: botId, versionId: 'botver_none' }),
  deleteBotVersion: (client, { botId }) =>
    client.deleteBotVersion({ id: botId, versionId: 'botver_none' }),
  listBotIssues: (client, { botId }) => client.listBotIssues({ id: botId }),
  getBotIssue: (client, { botId }) => client.getBotIssue({ id: botId, issueId: 'iss_none' }),
  deleteBotIssue: (client, { botId }) => client.deleteBotIssue({ id: botId, issueId: 'iss_none' }),
  listBotIssueEvents: (client, { botId }) =>
    client.listBotIssueEvents({ id: botId, issueId: 'iss_none' }),
  getBotAnalytics: (client, { botId }) =>
    client.getBotAnalytics({ id: botId, startDate: '2026-03-01', endDate: '2026-03-02' }),
  listDeliveries: (client, { botId }) => client.listDeliveries({ id: botId }),
  getDelivery: (client, { botId }) =>
    client.getDelivery({ id: botId, deliveryId: 'delivery_none' }),
  replayDelivery: (client, { botId }) =>
    client.replayDelivery({ id: botId, deliveryId: 'delivery_none' }),
  replayFailedDeliveries: (client, { botId }) => client.replayFailedDeliveries({ id: botId }),
  listDeliveryReceivers: (client, { botId }) => client.listDeliveryReceivers({ id: botId }),
  pauseDeliveries: (client, { botId }) => client.pauseDeliveries({ id: botId }),
  resumeDeliveries: (client, { botId }) => client.resumeDeliveries({ id: botId }),
  getWorkspaceDelivery: (client) => client.getWorkspaceDelivery({ deliveryId: 'delivery_none' }),
  listWorkspaceDeliveryReceivers: (client, { botId }) =>
    client.listWorkspaceDeliveryReceivers({ botId }),
  retryJob: (client) => client.retryJob({ id: 'job_none' }),
  dropJob: (client) => client.dropJob({ id: 'job_none' }),
  createDeliveryReplay: (client, { botId }) => client.createDeliveryReplay({ botId }),
  getDeliveryReplay: (client) => client.getDeliveryReplay({ replayId: 'replay_none' }),
  cancelDeliveryReplay: (client) => client.cancelDeliveryReplay({ replayId: 'replay_none' }),
  listWorkspaceDeliveries: (client, { botId }) => client.listWorkspaceDeliveries({ botId }),
  sendTestEvent: (client, { botId }) => client.sendTestEvent({ id: botId }),
  getFile: (client, { fileId }) => client.getFile({ id: fileId }),
  listFilePassages: (client, { fileId }) => client.listFilePassages({ id: fileId }),
  getFileIndexingReport: (client, { fileId }) => client.getFileIndexingReport({ id: fileId }),
  setFilePassages: (client, { fileId }) =>
    client.setFilePassages({ id: fileId, passages: [{ content: 'taken' }] }),
  reindexFile: (client, { fileId }) => client.reindexFile({ id: fileId }),
  deleteFile: (client, { fileId }) => client.deleteFile({ id: fileId }),
  requestIntegrationVerification: (client, { integrationId }) =>
    client.requestIntegrationVerification({ integrationId }),
  getIntegration: (client, { integrationId }) => client.getIntegration({ id: integrationId }),
  updateIntegration: (client, { integrationId }) =>
    client.updateIntegration({ id: integrationId, title: 'taken' }),
  validateIntegrationUpdate: (client, { integrationId }) =>
    client.validateIntegrationUpdate({ id: integrationId, title: 'taken' }),
  deleteIntegration: (client, { integrationId }) => client.deleteIntegration({ id: integrationId }),
  rotateIntegrationSigningSecrets: (client, { integrationId }) =>
    client.rotateIntegrationSigningSecrets({ id: integrationId }),
  getIntegrationLogs: (client, { integrationId }) =>
    client.getIntegrationLogs({ id: integrationId, timeStart: '2026-01-01T00:00:00Z' }),
  listIntegrationApiKeys: (client, { integrationId }) =>
    client.listIntegrationApiKeys({ integrationId }),
  createIntegrationApiKey: (client, { integrationId }) =>
    client.createIntegrationApiKey({ integrationId }),
  deleteIntegrationApiKey: (client, { integrationKeyId }) =>
    client.deleteIntegrationApiKey({ id: integrationKeyId }),
  // Unpublished interfaces of another tenant are not in the hub.
  getInterface: (client, { interfaceId: id }) => client.getInterface({ id }),
  updateInterface: (client, { interfaceId: id }) => client.updateInterface({ id, title: 'taken' }),
  deleteInterface: (client, { interfaceId: id }) => client.deleteInterface({ id }),
  getPublicInterfaceById: (client, { interfaceId: id }) => client.getPublicInterfaceById({ id }),
  getPlugin: (client, { pluginId: id }) => client.getPlugin({ id }),
  updatePlugin: (client, { pluginId: id }) =>
    client.updatePlugin({ id, code: { node: 'taken' }, visibility: 'public' }),
  deletePlugin: (client, { pluginId: id }) => client.deletePlugin({ id }),
  getPluginCode: (client, { pluginId: id }) => client.getPluginCode({ id, platform: 'node' }),
  getDereferencedPlugin: (client, { pluginId: id }) => client.getDereferencedPlugin({ id }),
  getPublicPluginById: (client, { pluginId: id }) => client.getPublicPluginById({ id }),
  getPublicPluginCode: (client, { pluginId: id }) =>
    client.getPublicPluginCode({ id, platform: 'node' }),
  getDereferencedPublicPluginById: (client, { pluginId: id }) =>
    client.getDereferencedPublicPluginById({ id }),
  getPublicIntegrationById: (client, { integrationId }) =>
    client.getPublicIntegrationById({ id: integrationId }),
  listIntegrations: async (client, { botId, integrationId }) => {
    const { integrations } = await client.listIntegrations({ installedByBotId: botId })
    expect(integrations).toEqual([])
    return await client.getIntegration({ id: integrationId })
  },
  listPublicIntegrations: async (client, { botId, integrationId, interfaceId }) => {
    for (const filter of [{ installedByBotId: botId }, { interfaceId }]) {
      expect((await client.listPublicIntegrations(filter)).integrations).toEqual([])
    }
    return await client.getPublicIntegrationById({ id: integrationId })
  },
  updateFileMetadata: (client, { fileId }) =>
    client.updateFileMetadata({ id: fileId, tags: { taken: 'yes' } }),
  copyFile: (client, { fileId }) =>
    client.copyFile({ idOrKey: fileId, destinationKey: 'taken.txt' }),
  explainSearch: (client, { fileId }) => client.explainSearch({ query: 'secret', fileId }),
  getEvaluationSet: (client, { evaluationSetId: id }) => client.getEvaluationSet({ id }),
  updateEvaluationSet: (client, { evaluationSetId: id }) =>
    client.updateEvaluationSet({ id, name: 'taken' }),
  deleteEvaluationSet: (client, { evaluationSetId: id }) => client.deleteEvaluationSet({ id }),
  exportEvaluationSet: (client, { evaluationSetId: id }) => client.exportEvaluationSet({ id }),
  importEvaluationCases: (client, { evaluationSetId: id }) =>
    client.importEvaluationCases({ id, lines: '{"_id": "q", "text": "Who?"}' }),
  createEvaluationCase: (client, { evaluationSetId: id }) =>
    client.createEvaluationCase({ id, question: 'Who?', right: [] }),
  listEvaluationCases: (client, { evaluationSetId: id }) => client.listEvaluationCases({ id }),
  updateEvaluationCase: (client, { evaluationSetId: id, evaluationCaseId: caseId }) =>
    client.updateEvaluationCase({ id, caseId, question: 'Who?' }),
  deleteEvaluationCase: (client, { evaluationSetId: id, evaluationCaseId: caseId }) =>
    client.deleteEvaluationCase({ id, caseId }),
  startEvaluationRun: (client, { evaluationSetId: id }) => client.startEvaluationRun({ id }),
  listEvaluationRuns: (client, { evaluationSetId: id }) => client.listEvaluationRuns({ id }),
  getEvaluationRun: (client, { evaluationSetId: id, evaluationRunId: runId }) =>
    client.getEvaluationRun({ id, runId }),
  deleteEvaluationRun: (client, { evaluationSetId: id, evaluationRunId: runId }) =>
    client.deleteEvaluationRun({ id, runId }),
  listEvaluationResults: (client, { evaluationSetId: id, evaluationRunId: runId }) =>
    client.listEvaluationResults({ id, runId }),
  compareEvaluationRuns: (client, { evaluationSetId: id, evaluationRunId: runId }) =>
    client.compareEvaluationRuns({ id, runId }),
  updateKnowledgeBase: (client, { knowledgeBaseId }) =>
    client.updateKnowledgeBase({ id: knowledgeBaseId, name: 'taken' }),
  deleteKnowledgeBase: (client, { knowledgeBaseId }) =>
    client.deleteKnowledgeBase({ id: knowledgeBaseId }),
}
