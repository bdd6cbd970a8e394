import { Type } from 'typebox'
import { AnyMap, Id, MapOf, OneOf, Timestamp } from '../../shared.js'

const text = (description: string) => Type.String({ description })
const title = Type.Optional(text('Display name.'))
const description = Type.Optional(text('What it is for.'))
const attributes = Type.Optional(
  MapOf(text('Value of the attribute.'), { description: 'Free-form attributes.' }),
)
const shape = (of: string) => AnyMap(`JSON Schema of the ${of}.`)
const schemaOnly = (of: string) => Type.Object({ schema: shape(of) }, { description: `The ${of}.` })

const names = (what: string) =>
  MapOf(Type.Object({ name: text('Name in the integration.') }, { description: `One ${what}.` }), {
    description: `What stands for each ${what} of the interface.`,
  })

const ImplementedInterface = Type.Object(
  {
    id: text('Id of the interface.'),
    name: text('Name of the interface.'),
    version: text('Version of the interface.'),
    entities: names('entity'),
    actions: names('action'),
    events: names('event'),
    channels: names('channel'),
  },
  { title: 'ImplementedInterface', description: 'One interface.' },
)

const IntegrationConfiguration = Type.Object(
  {
    title,
    description,
    schema: shape('configuration'),
    identifier: Type.Object(
      {
        required: Type.Boolean({ description: 'Whether an installation has to name an account.' }),
        linkTemplateScript: Type.Optional(text('Makes the address at which it is linked.')),
      },
      { description: 'How an installation comes to its account at the far end.' },
    ),
  },
  { title: 'IntegrationConfiguration', description: 'What an installation is configured with.' },
)

const tags = MapOf(Type.Object({ title, description }, { description: 'One declared tag.' }), {
  description: 'Declared tags, by name.',
})
const creation = Type.Object(
  {
    enabled: Type.Boolean({ description: 'Whether bots may ask the integration for new ones.' }),
    requiredTags: Type.Array(text('Name of a tag.'), { description: 'Tags they have to give.' }),
  },
  { title: 'IntegrationCreation', description: 'Whether and how bots may have new ones made.' },
)

const base = {
  id: Id('Id of the integration.'),
  name: text('Name, with the handle of the workspace before a `/` if it has one.'),
  version: text('Semantic version.'),
  createdAt: Timestamp('When the integration was made.'),
  updatedAt: Timestamp('When the integration last changed.'),
  title: text('Display name; empty if none was given.'),
  description: text('What it connects to; empty if not said.'),
  iconUrl: text('Address of an icon, which may be a `data:` address; may be empty.'),
  public: Type.Boolean({ description: 'Deprecated form of `visibility`.' }),
  visibility: OneOf(['public', 'private', 'unlisted'], 'As its makers say.'),
  verificationStatus: OneOf(
    ['unapproved', 'pending', 'approved', 'rejected'],
    'Kept for existing clients.',
  ),
  lifecycleStatus: OneOf(['published', 'deprecated'], 'Whether it may be newly installed.'),
}

/** An integration as lists show it. */
export const IntegrationSummary = Type.Object(
  { ...base, attributes },
  { title: 'IntegrationSummary', description: 'An integration as lists show it.' },
)

const hub = {
  ownerWorkspace: Type.Object(
    {
      id: Id('Id of the workspace.'),
      handle: Type.Union([Type.String(), Type.Null()], { description: 'Handle; null if none.' }),
      name: text('Name of the workspace.'),
    },
    { title: 'OwnerWorkspace', description: 'Who publishes it.' },
  ),
  meta: Type.Object(
    {
      installs: Type.Integer({ description: 'In how many bots it is installed.' }),
      views: Type.Integer({ description: 'Kept for existing clients; 0.' }),
    },
    { title: 'HubMeta', description: 'How it is used.' },
  ),
}

/** An integration of the hub as lists show it. */
export const PublicIntegrationSummary = Type.Object(
  { ...base, attributes, ...hub },
  { title: 'PublicIntegrationSummary', description: 'An integration of the hub in a list.' },
)

const whole = {
  ...base,
  dev: Type.Boolean({ description: 'Whether a development tool made it.' }),
  url: text('Address of its server; empty if it has none.'),
  readmeUrl: text('Address of its manual, which may be a `data:` address; may be empty.'),
  signingSecret: text(
    'Secret that signs calls to it. Shown only by the creation; empty elsewhere.',
  ),
  secrets: Type.Array(text('Name of a secret.'), {
    description: 'Names of the secrets; their values are never shown.',
  }),
  maxExecutionTime: Type.Optional(
    Type.Number({ description: 'Longest time for one call, in seconds.' }),
  ),
  attributes,
  identifier: Type.Object(
    {
      fallbackHandlerScript: Type.Optional(text('Answers what belongs to no installation.')),
      extractScript: Type.Optional(text('Finds the account that a request is about.')),
    },
    { description: 'How requests at a shared address find their installation.' },
  ),
  sandbox: Type.Optional(
    Type.Object(
      {
        identifierExtractScript: Type.Optional(text('Finds the conversation of a request.')),
        messageExtractScript: Type.Optional(text('Finds the message of a request.')),
      },
      { description: 'How requests of a sandbox find their bot.' },
    ),
  ),
  configuration: IntegrationConfiguration,
  configurations: MapOf(IntegrationConfiguration, {
    description: 'Further configurations, by name.',
  }),
  channels: MapOf(
    Type.Object(
      {
        title,
        description,
        messages: MapOf(schemaOnly('payload'), { description: 'Types of message, by name.' }),
        conversation: Type.Object(
          { tags, creation },
          { description: 'What is declared for conversations.' },
        ),
        message: Type.Object({ tags }, { description: 'What is declared for messages.' }),
      },
      { title: 'IntegrationChannel', description: 'One channel.' },
    ),
    { description: 'Channels that messages go through, by name.' },
  ),
  states: MapOf(
    Type.Object(
      {
        type: OneOf(['conversation', 'user', 'integration'], 'What the state belongs to.'),
        schema: shape('payload'),
      },
      { title: 'IntegrationState', description: 'One state.' },
    ),
    { description: 'Declared states, by name.' },
  ),
  events: MapOf(
    Type.Object(
      { title, description, schema: shape('payload'), attributes },
      { title: 'IntegrationEvent', description: 'One event.' },
    ),
    { description: 'Declared events, by name.' },
  ),
  actions: MapOf(
    Type.Object(
      {
        title,
        description,
        billable: Type.Optional(Type.Boolean({ description: 'Kept for existing clients.' })),
        cacheable: Type.Optional(
          Type.Boolean({ description: 'Whether an earlier answer may be used again.' }),
        ),
        input: schemaOnly('input'),
        output: schemaOnly('output'),
        attributes,
      },
      { title: 'IntegrationAction', description: 'One action.' },
    ),
    { description: 'Declared actions, by name.' },
  ),
  user: Type.Object({ tags, creation }, { description: 'What is declared for users.' }),
  entities: MapOf(
    Type.Object(
      { title, description, schema: shape('entity') },
      { title: 'IntegrationEntity', description: 'One entity.' },
    ),
    { description: 'Declared entities, by name.' },
  ),
  interfaces: MapOf(ImplementedInterface, {
    description: 'Interfaces that it implements, by alias.',
  }),
}

/** An integration with its definition. */
export const Integration = Type.Object(whole, {
  title: 'Integration',
  description: 'An integration with its definition.',
})

/** An integration of the hub with its definition. */
export const PublicIntegration = Type.Object(
  { ...whole, ...hub },
  { title: 'PublicIntegration', description: 'An integration of the hub with its definition.' },
)
