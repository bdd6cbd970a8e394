import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
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
    response: json(pageOf('integrations', PublicIntegrationSummary, 'Built-in integrations.')),
  }),
  getIntegration: operation({
    id: 'getPublicIntegrationById',
    method: 'GET',
    path: '/v1/admin/hub/integrations/{id}',
    tag: 'Integrations',
    summary: 'Get a built-in integration',
    auth: 'workspace',
    params: integrationId,
    response: json(wrap('integration', PublicIntegration)),
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
    response: json(wrap('integration', PublicIntegration)),
    errors: ['ResourceNotFound'],
  }),
}
