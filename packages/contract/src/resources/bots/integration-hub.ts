import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Id, OneOf, pageOf, paging, sortDirection, Text, wrap } from '../../shared.js'
import { PublicIntegration, PublicIntegrationSummary } from './integration-entity.js'

/** The path parameters of an integration by its id. */
export const integrationId = Type.Object({ id: Id('Id of the integration.') })

/** The path parameters of an integration by its name and version. */
export const nameAndVersion = Type.Object({
  name: Text(200, 'Name of the integration; a `/` in it is written as `%2F`.', 1),
  version: Text(
    200,
    'A version, `latest`, or a range such as `<2.0.0`, which selects the highest match.',
    1,
  ),
})

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
