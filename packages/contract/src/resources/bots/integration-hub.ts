import { Type } from 'typebox'
import { operation } from '../../operation.js'
import { pageOf, wrap } from '../../shared.js'
import { PublicIntegration, PublicIntegrationSummary } from './integration-entity.js'
import { integrationId, nameAndVersion, search } from './integration-search.js'

/** Integrations that are available to every workspace. */
export const hub = {
  listIntegrations: operation({
    id: 'listPublicIntegrations',
    method: 'GET',
    path: '/v1/admin/hub/integrations',
    tag: 'Integrations',
    summary: 'List the built-in integrations',
    auth: 'workspace',
    query: Type.Object(search),
    response: {
      kind: 'json',
      schema: pageOf('integrations', PublicIntegrationSummary, 'Built-in integrations.'),
    },
    status: 200,
    errors: [],
  }),
  getIntegration: operation({
    id: 'getPublicIntegrationById',
    method: 'GET',
    path: '/v1/admin/hub/integrations/{id}',
    tag: 'Integrations',
    summary: 'Get a built-in integration',
    auth: 'workspace',
    params: integrationId,
    response: { kind: 'json', schema: wrap('integration', PublicIntegration) },
    status: 200,
    errors: ['ResourceNotFound'],
  }),
  getIntegrationByName: operation({
    id: 'getPublicIntegration',
    method: 'GET',
    path: '/v1/admin/hub/integrations/{name}/{version}',
    tag: 'Integrations',
    summary: 'Get a built-in integration by name and version',
    auth: 'workspace',
    params: nameAndVersion,
    response: { kind: 'json', schema: wrap('integration', PublicIntegration) },
    status: 200,
    errors: ['ResourceNotFound'],
  }),
}
