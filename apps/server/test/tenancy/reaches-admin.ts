import { expect } from 'vitest'
import type { Reaches } from './reaches.js'

/** Of workspaces, bots, integrations and files. */
export const adminReaches: Reaches = {
  deletePersonalAccessToken: (client, { tokenId }) =>
    client.deletePersonalAccessToken({ id: tokenId }),
  listBotApiKeys: (client, { botId }) => client.listBotApiKeys({ botId }),
  createBotApiKey: (client, { botId }) => client.createBotApiKey({ botId }),
  deleteBotApiKey: (client, { keyId }) => client.deleteBotApiKey({ id: keyId }),
  getWorkspace: (client, { workspaceId }) => client.getWorkspace({ id: workspaceId }),
  updateWorkspace: (client, { workspaceId }) =>
    client.updateWorkspace({ id: workspaceId, name: 'taken' }),
  deleteWorkspace: (client, { workspaceId }) => client.deleteWorkspace({ id: workspaceId }),
  getBot: (client, { botId }) => client.getBot({ id: botId }),
  updateBot: (client, { botId }) => client.updateBot({ id: botId, name: 'taken' }),
  deleteBot: (client, { botId }) => client.deleteBot({ id: botId }),
  rotateBotSigningSecrets: (client, { botId }) => client.rotateBotSigningSecrets({ id: botId }),
  introspect: (client, { botId }) => client.introspect({ botId }),
  listActionRuns: (client, { botId }) =>
    client.listActionRuns({ id: botId, integrationName: 'chat' }),
  getBotLogs: (client, { botId }) =>
    client.getBotLogs({ id: botId, timeStart: '2026-01-01T00:00:00Z' }),
  listDeliveries: (client, { botId }) => client.listDeliveries({ id: botId }),
  getDelivery: (client, { botId }) =>
    client.getDelivery({ id: botId, deliveryId: 'delivery_none' }),
  replayDelivery: (client, { botId }) =>
    client.replayDelivery({ id: botId, deliveryId: 'delivery_none' }),
  replayFailedDeliveries: (client, { botId }) => client.replayFailedDeliveries({ id: botId }),
  listDeliveryReceivers: (client, { botId }) => client.listDeliveryReceivers({ id: botId }),
  pauseDeliveries: (client, { botId }) => client.pauseDeliveries({ id: botId }),
  resumeDeliveries: (client, { botId }) => client.resumeDeliveries({ id: botId }),
  sendTestEvent: (client, { botId }) => client.sendTestEvent({ id: botId }),
  getFile: (client, { fileId }) => client.getFile({ id: fileId }),
  listFilePassages: (client, { fileId }) => client.listFilePassages({ id: fileId }),
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
  // The hub contains nothing of another tenant, whatever is requested.
  getInterface: (client, { integrationId }) => client.getInterface({ id: integrationId }),
  getPublicInterfaceById: (client, { integrationId }) =>
    client.getPublicInterfaceById({ id: integrationId }),
  getPlugin: (client, { integrationId }) => client.getPlugin({ id: integrationId }),
  getPluginCode: (client, { integrationId }) =>
    client.getPluginCode({ id: integrationId, platform: 'node' }),
  getDereferencedPlugin: (client, { integrationId }) =>
    client.getDereferencedPlugin({ id: integrationId }),
  getPublicPluginById: (client, { integrationId }) =>
    client.getPublicPluginById({ id: integrationId }),
  getPublicPluginCode: (client, { integrationId }) =>
    client.getPublicPluginCode({ id: integrationId, platform: 'node' }),
  getDereferencedPublicPluginById: (client, { integrationId }) =>
    client.getDereferencedPublicPluginById({ id: integrationId }),
  getPublicIntegrationById: (client, { integrationId }) =>
    client.getPublicIntegrationById({ id: integrationId }),
  listIntegrations: async (client, { botId, integrationId }) => {
    const { integrations } = await client.listIntegrations({ installedByBotId: botId })
    expect(integrations).toEqual([])
    return await client.getIntegration({ id: integrationId })
  },
  listPublicIntegrations: (client, { integrationId }) =>
    client.getPublicIntegrationById({ id: integrationId }),
  updateFileMetadata: (client, { fileId }) =>
    client.updateFileMetadata({ id: fileId, tags: { taken: 'yes' } }),
  copyFile: (client, { fileId }) =>
    client.copyFile({ idOrKey: fileId, destinationKey: 'taken.txt' }),
  updateKnowledgeBase: (client, { knowledgeBaseId }) =>
    client.updateKnowledgeBase({ id: knowledgeBaseId, name: 'taken' }),
  deleteKnowledgeBase: (client, { knowledgeBaseId }) =>
    client.deleteKnowledgeBase({ id: knowledgeBaseId }),
}
