import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Id, OneOf, pageOf, paging, sortDirection, Text, wrap } from '../../shared.js'
import { PublicIntegration, PublicIntegrationSummary } from './integration-entity.js'
import { nameAndVersion } from './package-queries.js'

/** The path parameters of an integration by its id. */
export const integrationId = Type.Object({ id: Id('Id of the integration.') })

/** Filter and order of a list of integrations. */
export const search = {
  ...paging,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description: 'Alias of `pageSize`; `pageSize` takes precedence.',
    }),
  ),
  name: Type.Optional(Text(200, 'Only integrations with this name.')),
  version: Type.Optional(Text(100, 'Only this version.')),
  interfaceId: Type.Optional(Id('Only integrations that implement this interface.')),
  interfaceName: Type.Optional(Text(200, 'Only integrations that implement this interface.')),
  installedByBotId: Type.Optional(Id('Only integrations that are installed in this bot.')),
  verificationStatus: Type.Optional(
    OneOf(['unapproved', 'pending', 'approved', 'rejected'], 'Only integrations with this status.'),
  ),
  search: Type.Optional(
    Text(200, 'Only integrations with this text in name, title or description.'),
  ),
  sortBy: Type.Optional(
    OneOf(
      ['popularity', 'name', 'createdAt', 'updatedAt', 'installCount'],
      'Sort field; `createdAt` by default.',
    ),
  ),
  direction: sortDirection('Sort order; `desc` by default, `asc` for `name`.'),
}

/** Integrations that are available to every workspace. */
export const hub = {
  listIntegrations: operation({
    id: 'listPublicIntegrations',
    method: 'GET',
    path: '/v1/admin/hub/integrations',
    tag: 'Integrations',
    summary: 'List the public integrations of all workspaces',
    description: 'The built-in integrations are among them.',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    query: Type.Object(search),
    response: json(pageOf('integrations', PublicIntegrationSummary, 'Public integrations.')),
  }),
  getIntegration: operation({
    id: 'getPublicIntegrationById',
    method: 'GET',
    path: '/v1/admin/hub/integrations/{id}',
    tag: 'Integrations',
    summary: 'Get a public integration',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    params: integrationId,
    response: json(wrap('integration', PublicIntegration)),
    errors: ['ResourceNotFound'],
  }),
  getIntegrationByName: operation({
    id: 'getPublicIntegration',
    method: 'GET',
    path: '/v1/admin/hub/integrations/{name}/{version}',
    tag: 'Integrations',
    summary: 'Get a public integration by name and version',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    params: nameAndVersion,
    response: json(wrap('integration', PublicIntegration)),
    errors: ['ResourceNotFound'],
  }),
}
