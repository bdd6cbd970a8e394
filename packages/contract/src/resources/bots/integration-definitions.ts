import { Type } from 'typebox'
import { AnyMapInput, Id, MapPatch, OneOf, Text } from '../../shared.js'
import { ActionDefinitionPatch, EventDefinitionPatch } from './bot-definitions.js'

const title = Type.Optional(Text(500, 'Display name, at most 500 characters.'))
const description = Type.Optional(Text(2000, 'What it is for, at most 2,000 characters.'))
const script = (what: string) =>
  Type.Optional(
    Type.Union([Text(20_000, what), Type.Null()], {
      description: `${what} Stored for existing clients; at most 20,000 characters, null removes it.`,
    }),
  )

const schema = (of: string) => AnyMapInput(`JSON Schema of the ${of}, at most 102,400 bytes.`)

/** One way in which an installation can be configured. */
const Configuration = Type.Object(
  {
    title,
    description,
    schema: Type.Optional(schema('configuration')),
    identifier: Type.Optional(
      Type.Object(
        {
          required: Type.Optional(
            Type.Boolean({ description: 'Whether an installation has to name an account.' }),
          ),
          linkTemplateScript: script('Makes the address at which an account is linked.'),
        },
        { description: 'How an installation comes to its account at the far end.' },
      ),
    ),
  },
  {
    title: 'IntegrationConfigurationInput',
    description: 'What an installation is configured with.',
  },
)

const tag = Type.Object({ title, description }, { description: 'One declared tag.' })

const creation = Type.Optional(
  Type.Object(
    {
      enabled: Type.Boolean({ description: 'Whether bots may ask the integration for new ones.' }),
      requiredTags: Type.Array(Text(200, 'Name of a tag.'), {
        maxItems: 50,
        description: 'Tags that bots have to give, at most 50.',
      }),
    },
    { description: 'Whether and how bots may have new ones made.' },
  ),
)

const tags = Type.Optional(MapPatch(tag, 'Declared tags.'))

const Channel = Type.Object(
  {
    title,
    description,
    messages: Type.Optional(
      MapPatch(
        Type.Object({ schema: schema('payload') }, { description: 'One type of message.' }),
        'Types of message that the channel knows.',
      ),
    ),
    conversation: Type.Optional(
      Type.Object({ tags, creation }, { description: 'What is declared for conversations.' }),
    ),
    message: Type.Optional(
      Type.Object({ tags }, { description: 'What is declared for messages.' }),
    ),
  },
  { title: 'IntegrationChannelPatch', description: 'One channel, merged member by member.' },
)

const IntegrationState = Type.Object(
  {
    type: OneOf(['conversation', 'user', 'integration'], 'What the state belongs to.'),
    schema: schema('payload'),
  },
  { description: 'One state.' },
)

const Entity = Type.Object(
  { title, description, schema: schema('entity') },
  { description: 'One kind of thing that the integration knows.' },
)

const ImplementedInterface = Type.Object(
  { id: Id('Id of the interface.') },
  { description: 'One interface that the integration implements.' },
)

const scripts = {
  identifier: Type.Optional(
    Type.Object(
      {
        fallbackHandlerScript: script('Answers what belongs to no installation.'),
        extractScript: script('Finds the account that a request is about.'),
      },
      { description: 'How requests at a shared address find their installation.' },
    ),
  ),
  sandbox: Type.Optional(
    Type.Object(
      {
        identifierExtractScript: script('Finds the conversation that a request is about.'),
        messageExtractScript: script('Finds the message of a request.'),
      },
      { description: 'How requests of a sandbox find their bot.' },
    ),
  ),
}

const about = {
  title: Type.Optional(Text(200, 'Display name, at most 200 characters.')),
  description: Type.Optional(Text(2000, 'What it connects to, at most 2,000 characters.')),
  icon: Type.Optional(Text(262_144, 'Icon: an SVG image in base64, at most 262,144 characters.')),
  readme: Type.Optional(
    Text(1_048_576, 'Manual: Markdown in base64, at most 1,048,576 characters.'),
  ),
  public: Type.Optional(Type.Boolean({ description: 'Deprecated form of `visibility`.' })),
  visibility: Type.Optional(
    OneOf(['public', 'private', 'unlisted'], 'Shown to readers; `private` by default.'),
  ),
  code: Type.Optional(
    Text(52_428_800, 'Code, at most 50 MiB. Stored; integrations run where their `url` says.'),
  ),
  layers: Type.Optional(
    Type.Array(Text(200, 'Name of a layer.'), {
      maxItems: 100,
      description: 'Accepted for existing clients; has no effect.',
    }),
  ),
  sdkVersion: Type.Optional(Text(100, 'Version of the SDK it was made with.')),
  maxExecutionTime: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 86_400,
      description:
        'Longest time for one call, in whole seconds, at most a day; 0 for the default of a minute.',
    }),
  ),
}

const Secret = Text(65_536, 'The secret, at most 65,536 characters.')
const Attribute = Text(2000, 'Value of the attribute, at most 2,000 characters.')
const ExtraOperation = Type.Object(
  { enabled: Type.Boolean({ description: 'Whether the integration wants these calls.' }) },
  { description: 'One operation that is not sent unasked.' },
)

/** What an integration declares, as a merge patch; a creation merges it into nothing. */
const definition = {
  ...about,
  ...scripts,
  configuration: Type.Optional(Configuration),
  configurations: Type.Optional(MapPatch(Configuration, 'Further configurations.')),
  channels: Type.Optional(MapPatch(Channel, 'Channels that messages go through.')),
  states: Type.Optional(MapPatch(IntegrationState, 'Declared states.')),
  events: Type.Optional(MapPatch(EventDefinitionPatch, 'Declared events.')),
  actions: Type.Optional(MapPatch(ActionDefinitionPatch, 'Declared actions.')),
  user: Type.Optional(
    Type.Object({ tags, creation }, { description: 'What is declared for users.' }),
  ),
  entities: Type.Optional(MapPatch(Entity, 'Declared entities.')),
  interfaces: Type.Optional(MapPatch(ImplementedInterface, 'Interfaces that it implements.')),
  extraOperations: Type.Optional(MapPatch(ExtraOperation, 'Calls that it asks for.')),
  secrets: Type.Optional(MapPatch(Secret, 'Secrets.')),
  attributes: Type.Optional(MapPatch(Attribute, 'Free-form attributes.')),
}

/** Body of `createIntegration`. */
export const CreateIntegrationBody = Type.Object(
  {
    name: Text(
      200,
      'Name, 2 to 200 characters: a lower-case letter, then letters, digits, `-`, `_`; the handle of the workspace and a `/` may stand before it.',
      2,
    ),
    version: Text(100, 'Semantic version, such as `1.4.0`; 1 to 100 characters.', 1),
    dev: Type.Optional(
      Type.Boolean({ description: 'Made by a development tool; false by default.' }),
    ),
    url: Type.Optional(Text(2048, 'Address of its server, at most 2,048 characters.', 1)),
    ...definition,
  },
  { title: 'CreateIntegrationBody' },
)

/** Body of `updateIntegration`: a merge patch. */
export const UpdateIntegrationBody = Type.Object(
  {
    url: Type.Optional(
      Type.Union([Text(2048, 'An address.', 1), Type.Null()], {
        description: 'Address of its server, at most 2,048 characters; null removes it.',
      }),
    ),
    ...definition,
  },
  { title: 'UpdateIntegrationBody' },
)
