import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import {
  AnyMapInput,
  Empty,
  Id,
  OneOf,
  pageOf,
  Text,
  TimeBound,
  Timestamp,
  wrap,
} from '../../shared.js'
import { CreateIntegrationBody, UpdateIntegrationBody } from './integration-definitions.js'
import { Integration, IntegrationSummary } from './integration-entity.js'
import { integrationId, search } from './integration-hub.js'
import { nameAndVersion } from './package-queries.js'

const definitionErrors = [
  'InvalidJsonSchema',
  'InvalidIdentifier',
  'ReferenceNotFound',
  'LimitExceeded',
] as const

/** Intervals at which an integration can request to be registered again. */
const intervals = [
  'hourly',
  'daily',
  'weekly',
  'bi-weekly',
  'monthly',
  'bi-monthly',
  'quarterly',
  'yearly',
] as const

/** Integrations of a workspace. */
export const integrations = {
  create: operation({
    id: 'createIntegration',
    method: 'POST',
    path: '/v1/admin/integrations',
    tag: 'Integrations',
    summary: 'Create an integration',
    description:
      'An integration runs at its `url`, which is called for registrations, messages, actions and webhooks. Name and version together are unique in a workspace, except for integrations created by development tools. The name of a published integration belongs to the workspace that published it first.',
    auth: 'workspace',
    permission: 'bots:write',
    audit: 'workspace',
    concerns: 'workspace',
    body: CreateIntegrationBody,
    response: json(wrap('integration', Integration)),
    status: 201,
    errors: [...definitionErrors, 'AlreadyExists', 'QuotaExceeded'],
    idempotent: true,
    bodyLimit: 'large',
  }),
  list: operation({
    id: 'listIntegrations',
    method: 'GET',
    path: '/v1/admin/integrations',
    tag: 'Integrations',
    summary: 'List the integrations of a workspace',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    query: Type.Object({
      ...search,
      visibility: Type.Optional(
        OneOf(['public', 'private'], 'Only integrations with this visibility.'),
      ),
      dev: Type.Optional(
        Type.Boolean({
          description:
            '`true`: only integrations created by development tools; otherwise only the others.',
        }),
      ),
    }),
    response: json(
      pageOf('integrations', IntegrationSummary, 'Integrations in the requested order.'),
    ),
  }),
  validateCreation: operation({
    id: 'validateIntegrationCreation',
    method: 'POST',
    path: '/v1/admin/integrations/validate',
    tag: 'Integrations',
    summary: 'Validate the creation of an integration',
    auth: 'workspace',
    permission: 'bots:write',
    audit: { none: 'Changes nothing.' },
    concerns: 'workspace',
    body: CreateIntegrationBody,
    response: json(Empty),
    errors: [...definitionErrors, 'AlreadyExists'],
    bodyLimit: 'large',
  }),
  requestVerification: operation({
    id: 'requestIntegrationVerification',
    method: 'POST',
    path: '/v1/admin/integrations/request-verification',
    tag: 'Integrations',
    summary: 'Request the verification of an integration',
    description: 'For existing clients: on a self-hosted server, nobody verifies integrations.',
    auth: 'workspace',
    permission: 'bots:write',
    audit: { none: 'Changes nothing.' },
    concerns: 'workspace',
    body: Type.Object({ integrationId: Id('Id of the integration.') }),
    response: json(Empty),
    errors: ['ReferenceNotFound'],
  }),
  get: operation({
    id: 'getIntegration',
    method: 'GET',
    path: '/v1/admin/integrations/{id}',
    tag: 'Integrations',
    summary: 'Get an integration',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    params: integrationId,
    response: json(wrap('integration', Integration)),
    errors: ['ResourceNotFound'],
  }),
  getByName: operation({
    id: 'getIntegrationByName',
    method: 'GET',
    path: '/v1/admin/integrations/{name}/{version}',
    tag: 'Integrations',
    summary: 'Get an integration by name and version',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    params: nameAndVersion,
    response: json(wrap('integration', Integration)),
    errors: ['ResourceNotFound'],
  }),
  update: operation({
    id: 'updateIntegration',
    method: 'PUT',
    path: '/v1/admin/integrations/{id}',
    tag: 'Integrations',
    summary: 'Update an integration',
    description:
      'The body is a merge patch: omitted fields keep their value; in maps, a value sets an entry, `null` removes it, and entries that are not mentioned stay.',
    auth: 'workspace',
    permission: 'bots:write',
    audit: 'workspace',
    concerns: 'workspace',
    params: integrationId,
    body: UpdateIntegrationBody,
    response: json(wrap('integration', Integration)),
    errors: [...definitionErrors, 'ResourceNotFound', 'AlreadyExists', 'ReferenceConstraint'],
    bodyLimit: 'large',
  }),
  validateUpdate: operation({
    id: 'validateIntegrationUpdate',
    method: 'PUT',
    path: '/v1/admin/integrations/{id}/validate',
    tag: 'Integrations',
    summary: 'Validate an update of an integration',
    auth: 'workspace',
    permission: 'bots:write',
    audit: { none: 'Changes nothing.' },
    concerns: 'workspace',
    params: integrationId,
    body: UpdateIntegrationBody,
    response: json(Empty),
    errors: [...definitionErrors, 'ResourceNotFound', 'AlreadyExists', 'ReferenceConstraint'],
    bodyLimit: 'large',
  }),
  remove: operation({
    id: 'deleteIntegration',
    method: 'DELETE',
    path: '/v1/admin/integrations/{id}',
    tag: 'Integrations',
    summary: 'Delete an integration that is not installed in any bot',
    auth: 'workspace',
    permission: 'bots:write',
    audit: 'workspace',
    concerns: 'workspace',
    params: integrationId,
    response: json(Empty),
    errors: ['ResourceNotFound', 'ReferenceConstraint'],
  }),
  rotateSigningSecret: operation({
    id: 'rotateIntegrationSigningSecrets',
    method: 'POST',
    path: '/v1/admin/integrations/{id}/signing-secrets/rotate',
    tag: 'Integrations',
    summary: 'Replace the secret that signs calls to an integration',
    description: 'For 24 hours, calls are also signed with the previous secret.',
    auth: 'workspace',
    permission: 'keys:write',
    audit: 'workspace',
    concerns: 'workspace',
    params: integrationId,
    response: json(
      Type.Object({
        newSigningSecret: Type.String({ description: 'The new secret. Returned only here.' }),
      }),
    ),
    errors: ['ResourceNotFound'],
  }),
  configure: operation({
    id: 'configureIntegration',
    method: 'POST',
    path: '/v1/chat/integrations/configure',
    tag: 'Integrations',
    summary: 'Configure the installation of the calling integration',
    description:
      'Called by an integration with its key; applies to its installation in the bot of `x-bot-id`. A personal access token is accepted where the integration is in development and belongs to a workspace in which the caller may write.',
    auth: 'bot',
    permission: 'bots:write',
    body: Type.Object({
      identifier: Type.Optional(
        Type.Union([Text(500, 'The account.'), Type.Null()], {
          description:
            'Account in the external service that belongs to the installation, at most 500 characters; null removes it.',
        }),
      ),
      scheduleRegisterCall: Type.Optional(
        OneOf([...intervals], 'Interval at which `register` is called again.'),
      ),
      sandboxIdentifiers: Type.Optional(
        Type.Union([AnyMapInput('Identifiers.'), Type.Null()], {
          description: 'Accepted for existing clients; has no effect.',
        }),
      ),
    }),
    response: json(Empty),
  }),
  getLogs: operation({
    id: 'getIntegrationLogs',
    method: 'GET',
    path: '/v1/admin/integrations/{id}/logs',
    tag: 'Integrations',
    summary: 'List the log lines of an integration',
    description:
      'Registrations, webhooks and actions, newest first, 100 lines per page; kept for one week.',
    auth: 'workspace',
    permission: 'logs:read',
    concerns: 'workspace',
    params: integrationId,
    query: Type.Object({
      timeStart: TimeBound('beginning', 'Only lines from this time on.'),
      timeEnd: Type.Optional(TimeBound('end', 'Only lines up to this time.')),
      level: Type.Optional(Text(20, 'Only lines with this level: `info`, `warn` or `error`.')),
      userId: Type.Optional(Id('Only lines about this user.')),
      conversationId: Type.Optional(Id('Only lines about this conversation.')),
      messageContains: Type.Optional(Text(200, 'Only lines whose message contains this text.')),
      nextToken: Type.Optional(Text(4096, 'Pagination token: `nextToken` of the previous page.')),
    }),
    response: json(
      Type.Object({
        logs: Type.Array(
          Type.Object(
            {
              timestamp: Timestamp('Time at which it happened.'),
              level: Type.String({ description: 'Severity of the line.' }),
              message: Type.String({ description: 'Text of the line.' }),
              botId: Type.Optional(Id('Id of the bot in which it happened.')),
            },
            { title: 'IntegrationLog', description: 'One log line.' },
          ),
          { description: 'Lines, newest first.' },
        ),
        nextToken: Type.Optional(
          Type.String({
            description: 'Pagination token of the next page; absent on the last page.',
          }),
        ),
      }),
    ),
    errors: ['ResourceNotFound'],
  }),
}
