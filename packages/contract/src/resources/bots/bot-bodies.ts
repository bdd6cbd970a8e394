import { Type } from 'typebox'
import {
  AnyMapInput,
  Id,
  MapInput,
  MapPatch,
  OneOf,
  TagsInput,
  TagsPatch,
  Text,
} from '../../shared.js'
import {
  ActionDefinition,
  ActionDefinitionPatch,
  declaredTags,
  declaredTagsPatch,
  EventDefinition,
  EventDefinitionPatch,
  RecurringEvent,
  StateDefinition,
} from './bot-definitions.js'
import { botTypes } from './bot-entity.js'

const Nothing = Type.Object({}, { description: 'No settings.' })

const configuration = Type.Optional(
  Type.Object(
    {
      data: Type.Optional(AnyMapInput('The configuration, at most 20,480 bytes.')),
      schema: Type.Optional(AnyMapInput('JSON Schema of the configuration.')),
    },
    { description: 'Configuration of the bot; omitted fields keep their value.' },
  ),
)

const common = {
  name: Type.Optional(Text(200, 'Name of the bot, 1 to 200 characters.', 1)),
  description: Type.Optional(Text(2000, 'Purpose of the bot, at most 2,000 characters.')),
  type: Type.Optional(OneOf([...botTypes], 'Tool that created the bot; `studio` by default.')),
  configuration,
  code: Type.Optional(
    Text(
      52_428_800,
      'Code of the bot, at most 50 MiB: one CommonJS file, as `bp build` makes it. It runs at this server in place of the `url` that the bot had; ignored if the request has a `url`. Refused if it does not start, or if the server does not run code: then what ran before stays.',
    ),
  ),
  maxExecutionTime: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 86_400,
      description:
        'Timeout of one delivery, in whole seconds, at most one day; 0 means the default of one minute.',
    }),
  ),
  medias: Type.Optional(
    Type.Array(
      Type.Object(
        {
          url: Text(65_536, 'URL of the file, at most 65,536 characters.'),
          name: Text(500, 'Name of the file, at most 500 characters.'),
        },
        { description: 'One media file.' },
      ),
      { maxItems: 1000, description: 'Media files of the bot, at most 1,000. Replaces the list.' },
    ),
  ),
}

const Secret = Text(65_536, 'The secret, at most 65,536 characters.')

/** Body of `createBot`. All fields are optional; an empty body creates a bot with a generated name. */
export const CreateBotBody = Type.Object(
  {
    ...common,
    url: Type.Optional(Text(2048, 'URL of the bot server, at most 2,048 characters.', 1)),
    dev: Type.Optional(
      Type.Boolean({
        description: 'Creates a development bot, listed separately; false by default.',
      }),
    ),
    tags: Type.Optional(TagsInput('Tags of the bot.')),
    user: declaredTags('users'),
    conversation: declaredTags('conversations'),
    message: declaredTags('messages'),
    states: Type.Optional(MapInput(StateDefinition, 'Declared states.')),
    events: Type.Optional(MapInput(EventDefinition, 'Declared events.')),
    actions: Type.Optional(MapInput(ActionDefinition, 'Declared actions.')),
    recurringEvents: Type.Optional(MapInput(RecurringEvent, 'Recurring events.')),
    subscriptions: Type.Optional(
      Type.Object(
        {
          events: Type.Union([MapInput(Nothing, 'The event types.'), Type.Null()], {
            description: 'Event types that are delivered to the bot; null for all.',
          }),
        },
        { description: 'Events that are delivered to the bot.' },
      ),
    ),
    secrets: Type.Optional(MapInput(Secret, 'Secrets of the bot, by name.')),
  },
  { title: 'CreateBotBody' },
)

const InstallationPatch = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean({ description: 'Whether the installation is enabled.' })),
    integrationId: Type.Optional(
      Id('Id of the integration. If omitted, the name of the entry is the id.'),
    ),
    configurationType: Type.Optional(
      Type.Union([Text(200, 'Name of a configuration.'), Type.Null()], {
        description: 'Name of the configuration to use; null is the default one.',
      }),
    ),
    configuration: Type.Optional(
      AnyMapInput(
        'Settings of this installation, at most 20,480 bytes. Replaces the previous ones.',
      ),
    ),
    disabledChannels: Type.Optional(
      Type.Array(Text(200, 'Name of a channel.'), {
        maxItems: 100,
        description: 'Channels to disable, at most 100. Replaces the list.',
      }),
    ),
  },
  { title: 'InstallationPatch', description: 'One installation.' },
)

/** Names of the fields of an installation that can be changed. */
export const installationMembers: readonly string[] = Object.keys(InstallationPatch.properties)

const PluginPatch = Type.Object(
  {
    id: Id('Id of the plugin.'),
    enabled: Type.Optional(Type.Boolean({ description: 'Whether the plugin is enabled.' })),
    configuration: Type.Optional(AnyMapInput('Settings of this installation.')),
    interfaces: Type.Optional(
      MapInput(
        Type.Object(
          {
            integrationId: Id('Id of the integration that implements the interface.'),
            integrationAlias: Type.Optional(Text(200, 'Alias of that integration in the bot.')),
            integrationInterfaceAlias: Type.Optional(
              Text(200, 'Name of the interface inside that integration.'),
            ),
          },
          { description: 'The integration behind one interface.' },
        ),
        'Interfaces that the plugin uses, by alias.',
      ),
    ),
    integrations: Type.Optional(
      MapInput(
        Type.Object(
          {
            integrationId: Id('Id of the integration.'),
            integrationAlias: Text(200, 'Alias of the integration in the bot.'),
          },
          { description: 'One integration.' },
        ),
        'Integrations that the plugin uses, by alias.',
      ),
    ),
  },
  { title: 'PluginPatch', description: 'One plugin.' },
)

/**
 * Body of `updateBot`: a merge patch. Omitted fields keep their value; in maps, a value sets an
 * entry, `null` removes it, and entries that are not mentioned stay.
 */
export const UpdateBotBody = Type.Object(
  {
    ...common,
    url: Type.Optional(
      Type.Union([Text(2048, 'A URL.', 1), Type.Null()], {
        description: 'URL of the bot server, at most 2,048 characters; null removes it.',
      }),
    ),
    authentication: Type.Optional(
      OneOf(['iam', 'hmac-sha256'], 'Accepted for existing clients; deliveries are always signed.'),
    ),
    blocked: Type.Optional(Type.Boolean({ description: 'Accepted for existing clients.' })),
    alwaysAlive: Type.Optional(
      Type.Boolean({
        description:
          'Whether deployed code keeps running without requests: it starts with the server, and again when it ends. Each process of a server does so for at most half of the programs that it may run.',
      }),
    ),
    tags: Type.Optional(TagsPatch('Tags of the bot. Merged by name.')),
    user: declaredTagsPatch('users'),
    conversation: declaredTagsPatch('conversations'),
    message: declaredTagsPatch('messages'),
    states: Type.Optional(MapPatch(StateDefinition, 'Declared states.')),
    events: Type.Optional(MapPatch(EventDefinitionPatch, 'Declared events.')),
    actions: Type.Optional(MapPatch(ActionDefinitionPatch, 'Declared actions.')),
    recurringEvents: Type.Optional(MapPatch(RecurringEvent, 'Recurring events.')),
    subscriptions: Type.Optional(
      Type.Object(
        {
          events: Type.Union([MapPatch(Nothing, 'The event types.'), Type.Null()], {
            description: 'Event types that are delivered to the bot; null for all.',
          }),
        },
        { description: 'Events that are delivered to the bot.' },
      ),
    ),
    integrations: Type.Optional(
      MapPatch(InstallationPatch, 'Installed integrations, by alias, at most 30.'),
    ),
    plugins: Type.Optional(MapPatch(PluginPatch, 'Installed plugins, by alias.')),
    secrets: Type.Optional(MapPatch(Secret, 'Secrets of the bot, by name.')),
    layers: Type.Optional(
      Type.Array(Text(200, 'Name of a layer.'), {
        maxItems: 100,
        description: 'Accepted for existing clients; has no effect.',
      }),
    ),
  },
  { title: 'UpdateBotBody' },
)
