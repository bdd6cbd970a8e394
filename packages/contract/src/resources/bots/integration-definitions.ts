import { Type } from 'typebox'
import { AnyMapInput, Id, MapInput, MapPatch, OneOf, Text } from '../../shared.js'
import { ActionDefinitionPatch, EventDefinitionPatch } from './bot-definitions.js'

const title = Type.Optional(Text(500, 'Display name, at most 500 characters.'))
const description = Type.Optional(Text(2000, 'Purpose, at most 2,000 characters.'))
const script = (what: string) =>
  Type.Optional(
    Type.Union([Text(20_000, what), Type.Null()], {
      description: `${what} Stored for existing clients; at most 20,000 characters, null removes it.`,
    }),
  )

const schema = (of: string) => AnyMapInput(`JSON Schema of the ${of}, at most 102,400 bytes.`)

/** One configuration of an installation. */
const Configuration = Type.Object(
  {
    title,
    description,
    schema: Type.Optional(schema('configuration')),
    identifier: Type.Optional(
      Type.Object(
        {
          required: Type.Optional(
            Type.Boolean({ description: 'Whether an installation must name an account.' }),
          ),
          linkTemplateScript: script('Generates the URL at which an account is linked.'),
        },
        { description: 'Link of an installation to its account in the external service.' },
      ),
    ),
  },
  {
    title: 'IntegrationConfigurationInput',
    description: 'The configuration of an installation.',
  },
)

const tag = Type.Object({ title, description }, { description: 'One declared tag.' })

const creation = Type.Optional(
  Type.Object(
    {
      enabled: Type.Boolean({
        description: 'Whether bots may have the integration create objects of this type.',
      }),
      requiredTags: Type.Array(Text(200, 'Name of a tag.'), {
        maxItems: 50,
        description: 'Tags that bots must provide, at most 50.',
      }),
    },
    { description: 'Whether and how bots may have the integration create objects of this type.' },
  ),
)

const tags = Type.Optional(MapPatch(tag, 'Declared tags.'))

const Channel = Type.Object(
  {
    title,
    description,
    messages: Type.Optional(
      MapPatch(
        Type.Object({ schema: schema('payload') }, { description: 'One message type.' }),
        'Message types that the channel supports.',
      ),
    ),
    conversation: Type.Optional(
      Type.Object({ tags, creation }, { description: 'Declarations for conversations.' }),
    ),
    message: Type.Optional(Type.Object({ tags }, { description: 'Declarations for messages.' })),
  },
  { title: 'IntegrationChannelPatch', description: 'One channel, merged field by field.' },
)

const IntegrationState = Type.Object(
  {
    type: OneOf(
      ['conversation', 'user', 'integration'],
      'Type of the object that the state belongs to.',
    ),
    schema: schema('payload'),
  },
  { description: 'One state.' },
)

const Entity = Type.Object(
  { title, description, schema: schema('entity') },
  { description: 'One type of object that the integration defines.' },
)

const names = (what: string) =>
  Type.Optional(
    MapInput(
      Type.Object(
        { name: Text(200, 'Name in the integration, at most 200 characters.') },
        { description: `Implementation of one ${what}.` },
      ),
      `Implementation of each ${what} of the interface, by its name there.`,
    ),
  )

const ImplementedInterface = Type.Object(
  {
    id: Id('Id of the interface: one of the workspace or of the hub.'),
    entities: names('entity'),
    actions: names('action'),
    events: names('event'),
    channels: names('channel'),
  },
  { description: 'One interface that the integration implements.' },
)

const scripts = {
  identifier: Type.Optional(
    Type.Object(
      {
        fallbackHandlerScript: script('Handles requests that belong to no installation.'),
        extractScript: script('Extracts the account that a request refers to.'),
      },
      { description: 'Assignment of requests at a shared URL to an installation.' },
    ),
  ),
  sandbox: Type.Optional(
    Type.Object(
      {
        identifierExtractScript: script('Extracts the conversation that a request refers to.'),
        messageExtractScript: script('Extracts the message of a request.'),
      },
      { description: 'Assignment of requests of a sandbox to a bot.' },
    ),
  ),
}

const about = {
  title: Type.Optional(Text(200, 'Display name, at most 200 characters.')),
  description: Type.Optional(
    Text(2000, 'Service that the integration connects to, at most 2,000 characters.'),
  ),
  icon: Type.Optional(Text(262_144, 'Icon: an SVG image in base64, at most 262,144 characters.')),
  readme: Type.Optional(
    Text(1_048_576, 'Documentation: Markdown in base64, at most 1,048,576 characters.'),
  ),
  public: Type.Optional(Type.Boolean({ description: 'Deprecated form of `visibility`.' })),
  visibility: Type.Optional(
    OneOf(
      ['public', 'private', 'unlisted'],
      '`private` by default: only its workspace can use it; `public`: every workspace can; `unlisted`: likewise, but it is in no list of the hub.',
    ),
  ),
  code: Type.Optional(
    Text(
      52_428_800,
      'Code, at most 50 MiB: one CommonJS file, as `bp build` makes it. It runs at this server in place of the `url` that the integration had; ignored if the request has a `url` or the integration is one in development (`dev`). Refused if it does not start, or if the server does not run code: then what ran before stays.',
    ),
  ),
  layers: Type.Optional(
    Type.Array(Text(200, 'Name of a layer.'), {
      maxItems: 100,
      description: 'Accepted for existing clients; has no effect.',
    }),
  ),
  sdkVersion: Type.Optional(Text(100, 'Version of the SDK that built the integration.')),
  maxExecutionTime: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 86_400,
      description:
        'Timeout of one call, in whole seconds, at most one day; 0 means the default of one minute.',
    }),
  ),
}

const Secret = Text(65_536, 'The secret, at most 65,536 characters.')
const Attribute = Text(2000, 'Value of the attribute, at most 2,000 characters.')
const ExtraOperation = Type.Object(
  { enabled: Type.Boolean({ description: 'Whether the integration receives these calls.' }) },
  { description: 'One operation that is sent only on request.' },
)

/** Definition of an integration as a merge patch; a creation applies it to an empty one. */
const definition = {
  ...about,
  ...scripts,
  configuration: Type.Optional(Configuration),
  configurations: Type.Optional(MapPatch(Configuration, 'Additional configurations.')),
  channels: Type.Optional(MapPatch(Channel, 'Channels that carry messages.')),
  states: Type.Optional(MapPatch(IntegrationState, 'Declared states.')),
  events: Type.Optional(MapPatch(EventDefinitionPatch, 'Declared events.')),
  actions: Type.Optional(MapPatch(ActionDefinitionPatch, 'Declared actions.')),
  user: Type.Optional(Type.Object({ tags, creation }, { description: 'Declarations for users.' })),
  entities: Type.Optional(MapPatch(Entity, 'Declared entities.')),
  interfaces: Type.Optional(
    MapPatch(ImplementedInterface, 'Interfaces that the integration implements.'),
  ),
  extraOperations: Type.Optional(
    MapPatch(ExtraOperation, 'Optional operations that the integration requests.'),
  ),
  secrets: Type.Optional(MapPatch(Secret, 'Secrets.')),
  attributes: Type.Optional(MapPatch(Attribute, 'Free-form attributes.')),
}

/** Body of `createIntegration`. */
export const CreateIntegrationBody = Type.Object(
  {
    name: Text(
      200,
      'Name, 2 to 200 characters: a lowercase letter, then letters, digits, `-`, `_`; the handle of the workspace and a `/` may precede it.',
      2,
    ),
    version: Text(100, 'Semantic version, such as `1.4.0`; 1 to 100 characters.', 1),
    dev: Type.Optional(
      Type.Boolean({ description: 'Created by a development tool; false by default.' }),
    ),
    url: Type.Optional(Text(2048, 'URL of its server, at most 2,048 characters.', 1)),
    ...definition,
  },
  { title: 'CreateIntegrationBody' },
)

/** Body of `updateIntegration`: a merge patch. */
export const UpdateIntegrationBody = Type.Object(
  {
    url: Type.Optional(
      Type.Union([Text(2048, 'A URL.', 1), Type.Null()], {
        description: 'URL of its server, at most 2,048 characters; null removes it.',
      }),
    ),
    ...definition,
  },
  { title: 'UpdateIntegrationBody' },
)
