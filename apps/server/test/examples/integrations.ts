import { byId, type Examples, own } from './example.js'

/** Integrations. */
export const integrationsExamples: Examples = {
  listInterfaces: own(() => ({ query: { search: 'list', sortBy: 'name' } })),
  createInterface: own(() => ({ body: { name: 'another-list', version: '1.0.0' } })),
  getInterface: byId(({ interfaceId }) => interfaceId),
  getInterfaceByName: own(() => ({ params: { name: 'own-list', version: 'latest' } })),
  updateInterface: byId(({ interfaceId }) => interfaceId, { title: 'Renamed' }),
  deleteInterface: byId(({ interfaceId }) => interfaceId),
  listPublicInterfaces: own(() => ({ query: { name: 'shared-list' } })),
  getPublicInterfaceById: byId(({ interfaceId }) => interfaceId),
  getPublicInterface: {
    request: () => ({ params: { name: 'none', version: 'latest' } }),
    foreign: 'ResourceNotFound',
  },
  listPlugins: own(() => ({ query: { search: 'help', sortBy: 'name' } })),
  createPlugin: own(() => ({
    body: { name: 'another-help', version: '1.0.0', code: { node: 'own()', browser: '' } },
  })),
  getPlugin: byId(({ pluginId }) => pluginId),
  getPluginByName: own(() => ({ params: { name: 'own-help', version: 'latest' } })),
  getPluginCode: {
    request: ({ pluginId }) => ({ params: { id: pluginId, platform: 'node' } }),
    foreign: 'ResourceNotFound',
  },
  getDereferencedPlugin: byId(({ pluginId }) => pluginId),
  updatePlugin: byId(({ pluginId }) => pluginId, { title: 'Renamed' }),
  deletePlugin: byId(({ pluginId }) => pluginId),
  listPublicPlugins: own(() => ({ query: { name: 'shared-help' } })),
  getPublicPluginById: byId(({ pluginId }) => pluginId),
  getPublicPlugin: {
    request: () => ({ params: { name: 'none', version: 'latest' } }),
    foreign: 'ResourceNotFound',
  },
  getPublicPluginCode: {
    request: ({ pluginId }) => ({ params: { id: pluginId, platform: 'node' } }),
    foreign: 'ResourceNotFound',
  },
  getDereferencedPublicPluginById: byId(({ pluginId }) => pluginId),
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
  listIntegrationInstallations: byId(({ integrationId }) => integrationId),
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
    foreign: 'Forbidden',
  },
  listPublicIntegrations: own(() => ({ query: { search: 'chat' } })),
  getPublicIntegrationById: own(() => ({
    params: { id: '6f1c1f5e-4c52-4d0e-9d0a-5b1d1f0c7a11' },
  })),
  getPublicIntegration: own(() => ({ params: { name: 'chat', version: 'latest' } })),
}
