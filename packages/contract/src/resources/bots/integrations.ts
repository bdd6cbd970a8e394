import { Type } from 'typebox'
import { operation } from '../../operation.js'
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
import { integrationId, nameAndVersion, search } from './integration-search.js'

const definitionErrors = [
  'InvalidJsonSchema',
  'InvalidIdentifier',
  'ReferenceNotFound',
  'LimitExceeded',
] as const

/** How often an integration can ask to be registered again. */
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
      'An integration runs at its `url`, which is called for registrations, messages, actions and webhooks. Name and version together are unique in a workspace, apart from those of development tools.',
    auth: 'workspace',
    body: CreateIntegrationBody,
    answer: { kind: 'json', schema: wrap('integration', Integration) },
    status: 201,
    errors: [...definitionErrors, 'AlreadyExists'],
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
    query: Type.Object({
      ...search,
      visibility: Type.Optional(OneOf(['public', 'private'], 'Only with this visibility.')),
      dev: Type.Optional(
        Type.Boolean({ description: '`true`: only those of development tools; else the others.' }),
      ),
    }),
    answer: {
      kind: 'json',
      schema: pageOf('integrations', IntegrationSummary, 'Integrations, as sorted.'),
    },
    status: 200,
    errors: [],
  }),
  validateCreation: operation({
    id: 'validateIntegrationCreation',
    method: 'POST',
    path: '/v1/admin/integrations/validate',
    tag: 'Integrations',
    summary: 'Find out whether an integration could be created',
    auth: 'workspace',
    body: CreateIntegrationBody,
    answer: { kind: 'json', schema: Empty },
    status: 200,
    errors: [...definitionErrors, 'AlreadyExists'],
    bodyLimit: 'large',
  }),
  requestVerification: operation({
    id: 'requestIntegrationVerification',
    method: 'POST',
    path: '/v1/admin/integrations/request-verification',
    tag: 'Integrations',
    summary: 'Ask for a verification',
    description: 'For existing clients: nobody verifies integrations of a server of one’s own.',
    auth: 'workspace',
    body: Type.Object({ integrationId: Id('Id of the integration.') }),
    answer: { kind: 'json', schema: Empty },
    status: 200,
    errors: ['ReferenceNotFound'],
  }),
  get: operation({
    id: 'getIntegration',
    method: 'GET',
    path: '/v1/admin/integrations/{id}',
    tag: 'Integrations',
    summary: 'Get an integration',
    auth: 'workspace',
    params: integrationId,
    answer: { kind: 'json', schema: wrap('integration', Integration) },
    status: 200,
    errors: ['ResourceNotFound'],
  }),
  getByName: operation({
    id: 'getIntegrationByName',
    method: 'GET',
    path: '/v1/admin/integrations/{name}/{version}',
    tag: 'Integrations',
    summary: 'Get an integration by name and version',
    auth: 'workspace',
    params: nameAndVersion,
    answer: { kind: 'json', schema: wrap('integration', Integration) },
    status: 200,
    errors: ['ResourceNotFound'],
  }),
  update: operation({
    id: 'updateIntegration',
    method: 'PUT',
    path: '/v1/admin/integrations/{id}',
    tag: 'Integrations',
    summary: 'Update an integration',
    description:
      'The body is a merge patch: members that are left out stay; in maps a value sets, `null` removes and a name that is not mentioned stays.',
    auth: 'workspace',
    params: integrationId,
    body: UpdateIntegrationBody,
    answer: { kind: 'json', schema: wrap('integration', Integration) },
    status: 200,
    errors: [...definitionErrors, 'ResourceNotFound'],
    bodyLimit: 'large',
  }),
  validateUpdate: operation({
    id: 'validateIntegrationUpdate',
    method: 'PUT',
    path: '/v1/admin/integrations/{id}/validate',
    tag: 'Integrations',
    summary: 'Find out whether an integration could be updated',
    auth: 'workspace',
    params: integrationId,
    body: UpdateIntegrationBody,
    answer: { kind: 'json', schema: Empty },
    status: 200,
    errors: [...definitionErrors, 'ResourceNotFound'],
    bodyLimit: 'large',
  }),
  remove: operation({
    id: 'deleteIntegration',
    method: 'DELETE',
    path: '/v1/admin/integrations/{id}',
    tag: 'Integrations',
    summary: 'Delete an integration that is installed nowhere',
    auth: 'workspace',
    params: integrationId,
    answer: { kind: 'json', schema: Empty },
    status: 200,
    errors: ['ResourceNotFound', 'ReferenceConstraint'],
  }),
  rotateSigningSecret: operation({
    id: 'rotateIntegrationSigningSecrets',
    method: 'POST',
    path: '/v1/admin/integrations/{id}/signing-secrets/rotate',
    tag: 'Integrations',
    summary: 'Replace the secret that signs calls to an integration',
    description: 'For 24 hours calls are signed with the former secret too.',
    auth: 'workspace',
    params: integrationId,
    answer: {
      kind: 'json',
      schema: Type.Object({
        newSigningSecret: Type.String({ description: 'The new secret. Shown only here.' }),
      }),
    },
    status: 200,
    errors: ['ResourceNotFound'],
  }),
  configure: operation({
    id: 'configureIntegration',
    method: 'POST',
    path: '/v1/chat/integrations/configure',
    tag: 'Integrations',
    summary: 'Say something of one’s own installation',
    description: 'Called by an integration, about its installation in the bot of `x-bot-id`.',
    auth: 'bot',
    body: Type.Object({
      identifier: Type.Optional(
        Type.Union([Text(500, 'The account.'), Type.Null()], {
          description:
            'Account at the far end that belongs to the installation, at most 500 characters; null removes it.',
        }),
      ),
      scheduleRegisterCall: Type.Optional(
        OneOf([...intervals], 'How often `register` is to be called again.'),
      ),
      sandboxIdentifiers: Type.Optional(
        Type.Union([AnyMapInput('Identifiers.'), Type.Null()], {
          description: 'Accepted for existing clients; has no effect.',
        }),
      ),
    }),
    answer: { kind: 'json', schema: Empty },
    status: 200,
    errors: [],
  }),
  getLogs: operation({
    id: 'getIntegrationLogs',
    method: 'GET',
    path: '/v1/admin/integrations/{id}/logs',
    tag: 'Integrations',
    summary: 'See what happened between an integration and this server',
    description:
      'Registrations, webhooks and actions, newest first, 100 lines a page; kept for a week.',
    auth: 'workspace',
    params: integrationId,
    query: Type.Object({
      timeStart: TimeBound('beginning', 'Only lines from this time on.'),
      timeEnd: Type.Optional(TimeBound('end', 'Only lines up to this time.')),
      level: Type.Optional(Text(20, 'Only lines of this level: `info`, `warn` or `error`.')),
      userId: Type.Optional(Id('Only lines about this user.')),
      conversationId: Type.Optional(Id('Only lines about this conversation.')),
      messageContains: Type.Optional(Text(200, 'Only lines with this in the message.')),
      nextToken: Type.Optional(Text(4096, 'Value of `nextToken` of the page before.')),
    }),
    answer: {
      kind: 'json',
      schema: Type.Object({
        logs: Type.Array(
          Type.Object(
            {
              timestamp: Timestamp('When it happened.'),
              level: Type.String({ description: 'How important it is.' }),
              message: Type.String({ description: 'What happened.' }),
              botId: Type.Optional(Id('Id of the bot in which it happened.')),
            },
            { title: 'IntegrationLog', description: 'One line.' },
          ),
          { description: 'Lines, newest first.' },
        ),
        nextToken: Type.Optional(
          Type.String({ description: 'For the next page, if there is one.' }),
        ),
      }),
    },
    status: 200,
    errors: ['ResourceNotFound'],
  }),
}
