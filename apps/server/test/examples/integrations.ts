import { byId, type Example, type Examples, own } from './example.js'

/** Interfaces and plugins, of which there are none. */
const looking = (params: Record<string, string>): Example => ({
  request: () => ({ params }),
  foreign: 'ResourceNotFound',
})
const byNothing = looking({ id: 'none' })
const byNoName = looking({ name: 'none', version: 'latest' })
const byNoPlatform = looking({ id: 'none', platform: 'node' })

/** Integrations. */
export const integrationsExamples: Examples = {
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
    headers: { 'x-integration-alias': 'chat' },
    foreign: 'own',
  },
  listPublicIntegrations: own(() => ({ query: { search: 'chat' } })),
  getPublicIntegrationById: own(() => ({
    params: { id: '6f1c1f5e-4c52-4d0e-9d0a-5b1d1f0c7a11' },
  })),
  getPublicIntegration: own(() => ({ params: { name: 'chat', version: 'latest' } })),
}
