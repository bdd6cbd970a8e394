import { Type } from 'typebox'
import { AnyMap, Id, MapOf, OneOf, Timestamp } from '../../shared.js'

/** How far the registration of an integration in a bot has come. */
export const installationStatuses = [
  'registration_pending',
  'registered',
  'registration_failed',
  'unregistration_pending',
  'unregistered',
  'unregistration_failed',
] as const

/** An integration as it is installed in a bot. */
export const Installation = Type.Object(
  {
    id: Id('Id of the integration.'),
    name: Type.String({ description: 'Name of the integration.' }),
    version: Type.String({ description: 'Version of the integration, or `dev`.' }),
    enabled: Type.Boolean({ description: 'Whether the installation takes part.' }),
    webhookId: Type.String({
      description: 'Last segment of `webhookUrl`; of the integration `chat`: the chat address.',
    }),
    webhookUrl: Type.String({ description: 'Address at which this installation is reached.' }),
    identifier: Type.Optional(
      Type.String({ description: 'Account at the far end that belongs to this installation.' }),
    ),
    configurationType: Type.Union([Type.String(), Type.Null()], {
      description: 'Which of the configurations is used; null is the default one.',
    }),
    configuration: AnyMap('Settings of this installation.'),
    status: OneOf([...installationStatuses], 'How far registration has come.'),
    statusReason: Type.Union([Type.String(), Type.Null()], {
      description: 'Why registration failed; null otherwise.',
    }),
    disabledChannels: Type.Array(Type.String({ description: 'Name of a channel.' }), {
      description: 'Channels that are switched off.',
    }),
    createdAt: Timestamp('When it was installed.'),
    updatedAt: Timestamp('When the installation last changed.'),
    title: Type.String({ description: 'Display name of the integration.' }),
    description: Type.String({ description: 'What the integration does.' }),
    iconUrl: Type.String({ description: 'Address of an icon; may be empty.' }),
    public: Type.Boolean({ description: 'Deprecated form of `visibility`.' }),
    visibility: OneOf(['public', 'private', 'unlisted'], 'Who finds the integration.'),
    verificationStatus: OneOf(
      ['unapproved', 'pending', 'approved', 'rejected'],
      'Kept for existing clients.',
    ),
    lifecycleStatus: OneOf(['published', 'deprecated'], 'Whether it may be newly installed.'),
  },
  { title: 'Installation', description: 'An integration as it is installed in a bot.' },
)

/** A plugin as it is installed in a bot. */
export const PluginInstallation = Type.Object(
  {
    id: Id('Id of the plugin.'),
    name: Type.String({ description: 'Name of the plugin.' }),
    version: Type.String({ description: 'Version of the plugin.' }),
    enabled: Type.Boolean({ description: 'Whether the plugin takes part.' }),
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
          { description: 'What stands behind one interface.' },
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
    createdAt: Timestamp('When it was installed.'),
    updatedAt: Timestamp('When the installation last changed.'),
    title: Type.String({ description: 'Display name of the plugin.' }),
    description: Type.String({ description: 'What the plugin does.' }),
    iconUrl: Type.String({ description: 'Address of an icon; may be empty.' }),
    readmeUrl: Type.String({ description: 'Address of its manual; may be empty.' }),
    public: Type.Boolean({ description: 'Deprecated form of `visibility`.' }),
    visibility: OneOf(['public', 'private', 'unlisted'], 'Who finds the plugin.'),
    lifecycleStatus: OneOf(['published', 'deprecated'], 'Whether it may be newly installed.'),
  },
  { title: 'PluginInstallation', description: 'A plugin as it is installed in a bot.' },
)
