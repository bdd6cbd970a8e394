import { Type } from 'typebox'
import { AnyMap, Id, MapOf, OneOf, Timestamp } from '../../shared.js'
import { HubMeta, OwnerWorkspace } from './hub-entity.js'

const text = (description: string) => Type.String({ description })
const title = Type.Optional(text('Display name.'))
const description = Type.Optional(text('Purpose.'))
const attributes = Type.Optional(
  MapOf(text('Value of the attribute.'), { description: 'Free-form attributes.' }),
)
const shape = (of: string) => AnyMap(`JSON Schema of the ${of}.`)
const schemaOnly = (of: string) => Type.Object({ schema: shape(of) }, { description: `The ${of}.` })

const names = (what: string) =>
  MapOf(Type.Object({ name: text('Name in the integration.') }, { description: `One ${what}.` }), {
    description: `Implementation of each ${what} of the interface.`,
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
        required: Type.Boolean({ description: 'Whether an installation must name an account.' }),
        linkTemplateScript: Type.Optional(text('Generates the URL at which it is linked.')),
      },
      { description: 'Link of an installation to its account in the external service.' },
    ),
  },
  { title: 'IntegrationConfiguration', description: 'The configuration of an installation.' },
)

const tags = MapOf(Type.Object({ title, description }, { description: 'One declared tag.' }), {
  description: 'Declared tags, by name.',
})
const creation = Type.Object(
  {
    enabled: Type.Boolean({
      description: 'Whether bots may have the integration create objects of this type.',
    }),
    requiredTags: Type.Array(text('Name of a tag.'), {
      description: 'Tags that bots must provide.',
    }),
  },
  {
    title: 'IntegrationCreation',
    description: 'Whether and how bots may have the integration create objects of this type.',
  },
)

const base = {
  id: Id('Id of the integration.'),
  name: text('Name, preceded by the handle of the workspace and a `/` if it has one.'),
  version: text('Semantic version.'),
  createdAt: Timestamp('Time at which the integration was created.'),
  updatedAt: Timestamp('Time at which the integration last changed.'),
  title: text('Display name; empty if none was set.'),
  description: text('Service that the integration connects to; empty if not set.'),
  iconUrl: text('URL of an icon, which may be a `data:` URL; may be empty.'),
  public: Type.Boolean({ description: 'Deprecated form of `visibility`.' }),
  visibility: OneOf(
    ['public', 'private', 'unlisted'],
    '`private`: only its workspace can use it; `public`: every workspace can; `unlisted`: likewise, but it is in no list of the hub.',
  ),
  verificationStatus: OneOf(
    ['unapproved', 'pending', 'approved', 'rejected'],
    'Kept for existing clients.',
  ),
  lifecycleStatus: OneOf(['published', 'deprecated'], 'Whether it can be newly installed.'),
}

/** An integration as lists contain it. */
export const IntegrationSummary = Type.Object(
  { ...base, attributes },
  { title: 'IntegrationSummary', description: 'An integration as lists contain it.' },
)

/** An integration of the hub as lists contain it. */
export const PublicIntegrationSummary = Type.Object(
  { ...base, attributes, ownerWorkspace: OwnerWorkspace, meta: HubMeta },
  { title: 'PublicIntegrationSummary', description: 'An integration of the hub in a list.' },
)

const whole = {
  ...base,
  dev: Type.Boolean({ description: 'Whether a development tool created it.' }),
  url: text('URL of its server; empty if it has none, and in the hub.'),
  readmeUrl: text('URL of its documentation, which may be a `data:` URL; may be empty.'),
  signingSecret: text(
    'Secret that signs calls to the integration. Returned only on creation; empty otherwise.',
  ),
  secrets: Type.Array(text('Name of a secret.'), {
    description: 'Names of the secrets, empty in the hub; their values are never returned.',
  }),
  maxExecutionTime: Type.Optional(Type.Number({ description: 'Timeout of one call, in seconds.' })),
  attributes,
  identifier: Type.Object(
    {
      fallbackHandlerScript: Type.Optional(
        text('Handles requests that belong to no installation.'),
      ),
      extractScript: Type.Optional(text('Extracts the account that a request refers to.')),
    },
    { description: 'Assignment of requests at a shared URL to an installation.' },
  ),
  sandbox: Type.Optional(
    Type.Object(
      {
        identifierExtractScript: Type.Optional(text('Extracts the conversation of a request.')),
        messageExtractScript: Type.Optional(text('Extracts the message of a request.')),
      },
      { description: 'Assignment of requests of a sandbox to a bot.' },
    ),
  ),
  configuration: IntegrationConfiguration,
  configurations: MapOf(IntegrationConfiguration, {
    description: 'Additional configurations, by name.',
  }),
  channels: MapOf(
    Type.Object(
      {
        title,
        description,
        messages: MapOf(schemaOnly('payload'), { description: 'Message types, by name.' }),
        conversation: Type.Object(
          { tags, creation },
          { description: 'Declarations for conversations.' },
        ),
        message: Type.Object({ tags }, { description: 'Declarations for messages.' }),
      },
      { title: 'IntegrationChannel', description: 'One channel.' },
    ),
    { description: 'Channels that carry messages, by name.' },
  ),
  states: MapOf(
    Type.Object(
      {
        type: OneOf(
          ['conversation', 'user', 'integration'],
          'Type of the object that the state belongs to.',
        ),
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
          Type.Boolean({ description: 'Whether an earlier result may be reused.' }),
        ),
        input: schemaOnly('input'),
        output: schemaOnly('output'),
        attributes,
      },
      { title: 'IntegrationAction', description: 'One action.' },
    ),
    { description: 'Declared actions, by name.' },
  ),
  user: Type.Object({ tags, creation }, { description: 'Declarations for users.' }),
  entities: MapOf(
    Type.Object(
      { title, description, schema: shape('entity') },
      { title: 'IntegrationEntity', description: 'One entity.' },
    ),
    { description: 'Declared entities, by name.' },
  ),
  interfaces: MapOf(ImplementedInterface, {
    description: 'Interfaces that the integration implements, by alias.',
  }),
}

/** An integration with its definition. */
export const Integration = Type.Object(whole, {
  title: 'Integration',
  description: 'An integration with its definition.',
})

/** An integration of the hub with its definition. */
export const PublicIntegration = Type.Object(
  { ...whole, ownerWorkspace: OwnerWorkspace, meta: HubMeta },
  { title: 'PublicIntegration', description: 'An integration of the hub with its definition.' },
)
