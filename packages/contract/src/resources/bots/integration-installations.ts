import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Id, OneOf, pageOf, paging, Timestamp } from '../../shared.js'
import { installationStatuses } from './installations.js'

const IntegrationInstallation = Type.Object(
  {
    botId: Id('Id of the bot.'),
    botName: Type.String({ description: 'Name of the bot.' }),
    alias: Type.String({ description: 'Name of the installation in the bot.' }),
    enabled: Type.Boolean({ description: 'Whether it is enabled.' }),
    status: OneOf([...installationStatuses], 'Result of the last registration or unregistration.'),
    statusReason: Type.Optional(
      Type.String({
        description:
          'Reason why it failed or waits, or why requests about its account do not reach it.',
      }),
    ),
    webhookUrl: Type.String({ description: 'Address at which the other service calls it.' }),
    identifier: Type.Optional(
      Type.String({ description: 'Account at the other service, as the integration reports it.' }),
    ),
    lastError: Type.Optional(
      Type.Object(
        {
          timestamp: Timestamp('Time at which it happened.'),
          message: Type.String({ description: 'Text of the line.' }),
        },
        {
          title: 'InstallationError',
          description: 'The newest error about it in the log of the integration, of the last week.',
        },
      ),
    ),
    createdAt: Timestamp('Time at which it was installed.'),
    updatedAt: Timestamp('Time at which it was last changed.'),
  },
  { title: 'IntegrationInstallation', description: 'An integration as it is installed in a bot.' },
)

/** The installations of an integration. */
export const integrationInstallations = {
  list: operation({
    id: 'listIntegrationInstallations',
    method: 'GET',
    path: '/v1/admin/integrations/{id}/installations',
    tag: 'Integrations',
    summary: 'List the installations of an integration in all bots',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'workspace',
    params: Type.Object({ id: Id('Id of the integration.') }),
    query: Type.Object({
      ...paging,
      status: Type.Optional(
        OneOf([...installationStatuses], 'Only installations with this status.'),
      ),
    }),
    response: json(
      pageOf('installations', IntegrationInstallation, 'Installations, by the id of their bot.'),
    ),
    errors: ['ResourceNotFound'],
  }),
}
