import { Type } from 'typebox'
import { AnyMap, Id, MapOf, OneOf, Timestamp } from '../../shared.js'

/** The registration status of an integration in a bot. */
export const installationStatuses = [
  'registration_pending',
  'registered',
  'registration_failed',
  'unregistration_pending',
  'unregistered',
  'unregistration_failed',
] as const

/** An integration that is installed in a bot. */
export const Installation = Type.Object(
  {
    id: Id('Id of the integration.'),
    name: Type.String({ description: 'Name of the integration.' }),
    version: Type.String({ description: 'Version of the integration, or `dev`.' }),
    enabled: Type.Boolean({ description: 'Whether the installation is enabled.' }),
    webhookId: Type.String({
      description: 'Last segment of `webhookUrl`; for the integration `chat`, the chat address.',
    }),
    webhookUrl: Type.String({ description: 'Webhook URL of this installation.' }),
    identifier: Type.Optional(
      Type.String({
        description: 'Account in the external service that belongs to this installation.',
      }),
    ),
    configurationType: Type.Union([Type.String(), Type.Null()], {
      description: 'Name of the configuration in use; null is the default one.',
    }),
    configuration: AnyMap('Settings of this installation.'),
    status: OneOf([...installationStatuses], 'Status of the registration.'),
    statusReason: Type.Union([Type.String(), Type.Null()], {
      description:
        'Reason why registration failed or waits, or why requests about its account do not reach it; null otherwise.',
    }),
    disabledChannels: Type.Array(Type.String({ description: 'Name of a channel.' }), {
      description: 'Disabled channels.',
    }),
    createdAt: Timestamp('Time at which the integration was installed.'),
    updatedAt: Timestamp('Time at which the installation last changed.'),
    title: Type.String({ description: 'Display name of the integration.' }),
    description: Type.String({ description: 'Description of the integration.' }),
    iconUrl: Type.String({ description: 'URL of an icon; may be empty.' }),
    public: Type.Boolean({ description: 'Deprecated form of `visibility`.' }),
    visibility: OneOf(
      ['public', 'private', 'unlisted'],
      'Visibility of the integration in the hub.',
    ),
    verificationStatus: OneOf(
      ['unapproved', 'pending', 'approved', 'rejected'],
      'Kept for existing clients.',
    ),
    lifecycleStatus: OneOf(['published', 'deprecated'], 'Whether it can be newly installed.'),
  },
  { title: 'Installation', description: 'An integration that is installed in a bot.' },
)

/** A plugin that is installed in a bot. */
export const PluginInstallation = Type.Object(
  {
    id: Id('Id of the plugin.'),
    name: Type.String({ description: 'Name of the plugin.' }),
    version: Type.String({ description: 'Version of the plugin.' }),
    enabled: Type.Boolean({ description: 'Whether the plugin is enabled.' }),
    configuration: AnyMap('Settings of this installation.'),
    interfaces: Type.Optional(
      MapOf(
        Type.Object(
          {
            integrationId: Id('Id of the integration that implements the interface.'),
            integrationAlias: Type.String({ description: 'Alias of that integration in the bot.' }),
            interfaceId: Id('Id of the interface.'),
            integrationInterfaceAlias: Type.Optional(
              Type.String({ description: 'Name of the interface inside that integration.' }),
            ),
          },
          { description: 'The integration behind one interface.' },
        ),
        { description: 'Interfaces that the plugin uses, by alias.' },
      ),
    ),
    integrations: Type.Optional(
      MapOf(
        Type.Object(
          {
            integrationId: Id('Id of the integration.'),
            integrationAlias: Type.String({ description: 'Alias of the integration in the bot.' }),
          },
          { description: 'One integration.' },
        ),
        { description: 'Integrations that the plugin uses, by alias.' },
      ),
    ),
    createdAt: Timestamp('Time at which the plugin was installed.'),
    updatedAt: Timestamp('Time at which the installation last changed.'),
    title: Type.String({ description: 'Display name of the plugin.' }),
    description: Type.String({ description: 'Description of the plugin.' }),
    iconUrl: Type.String({ description: 'URL of an icon; may be empty.' }),
    readmeUrl: Type.String({ description: 'URL of its documentation; may be empty.' }),
    public: Type.Boolean({ description: 'Deprecated form of `visibility`.' }),
    visibility: OneOf(['public', 'private', 'unlisted'], 'Visibility of the plugin in the hub.'),
    lifecycleStatus: OneOf(['published', 'deprecated'], 'Whether it can be newly installed.'),
  },
  { title: 'PluginInstallation', description: 'A plugin that is installed in a bot.' },
)
