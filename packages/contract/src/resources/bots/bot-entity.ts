import { type TSchema, Type } from 'typebox'
import { AnyMap, Id, MapOf, OneOf, Tags, Timestamp } from '../../shared.js'
import { Installation, PluginInstallation } from './installations.js'

const title = Type.Optional(Type.String({ description: 'Display name.' }))
const description = Type.Optional(Type.String({ description: 'Purpose.' }))
const attributes = Type.Optional(
  MapOf(Type.String({ description: 'Value of the attribute.' }), {
    description: 'Free-form attributes of the definition.',
  }),
)

/** The tags that a bot or a plugin declares for users, conversations or messages. */
export const declaredTags = (of: string) =>
  Type.Object(
    {
      tags: MapOf(
        Type.Object(
          { title, description },
          { title: 'TagDefinition', description: 'One declared tag.' },
        ),
        {
          description: `Tags declared for ${of}, by name.`,
        },
      ),
    },
    { description: `Declarations for ${of}.` },
  )

const schemaOnly = (of: string) =>
  Type.Object({ schema: AnyMap(`JSON Schema of the ${of}.`) }, { description: `The ${of}.` })

const DeclaredState = Type.Object(
  {
    type: OneOf(
      ['conversation', 'user', 'bot', 'workflow'],
      'Type of the object that the state belongs to.',
    ),
    schema: AnyMap('JSON Schema of the payload.'),
    expiry: Type.Optional(
      Type.Number({ description: 'Idle time until the state expires, in milliseconds.' }),
    ),
  },
  { title: 'StateDefinition', description: 'One declared state.' },
)

/** An event that a bot, a plugin or an interface declares. */
export const DeclaredEvent = Type.Object(
  { title, description, schema: AnyMap('JSON Schema of the payload.'), attributes },
  { title: 'EventDefinition', description: 'One declared event.' },
)

/** An action that a bot, a plugin or an interface declares. */
export const DeclaredAction = Type.Object(
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
  { title: 'ActionDefinition', description: 'One declared action.' },
)

/** Named definitions of a response. */
export const definitions = <Definition extends TSchema>(of: string, definition: Definition) =>
  MapOf(definition, { description: `${of}, by name.` })

/** The tools that create bots. The interface defines the set; the server does not depend on it. */
export const botTypes = ['studio', 'adk', 'desk'] as const

const base = {
  id: Id('Id of the bot; value of the header `x-bot-id`.'),
  name: Type.String({ description: 'Name of the bot.' }),
  createdAt: Timestamp('Time at which the bot was created.'),
  updatedAt: Timestamp('Time at which the bot last changed.'),
  deployedAt: Type.Optional(
    Timestamp('Time at which code or a URL was last set; absent if never.'),
  ),
  tags: Tags('Tags of the bot.'),
  type: OneOf([...botTypes], 'Tool that created the bot.'),
}

/** A bot as lists contain it. */
export const BotSummary = Type.Object(base, {
  title: 'BotSummary',
  description: 'A bot as lists contain it.',
})

/** A bot with its definition and its installations. */
export const Bot = Type.Object(
  {
    ...base,
    description: Type.Optional(Type.String({ description: 'Purpose of the bot.' })),
    url: Type.Optional(
      Type.String({ description: 'URL of the bot server; absent while there is none.' }),
    ),
    hosted: Type.Boolean({
      description:
        'Whether the code of the bot runs at this server, because it has code and no URL.',
    }),
    createdBy: Type.Optional(Id('Id of the account that created the bot.')),
    dev: Type.Boolean({ description: 'Whether this is a development bot.' }),
    status: OneOf(['active', 'deploying', 'deleting'], 'Current status of the bot.'),
    signingSecret: Type.String({
      description:
        'Secret that signs deliveries to the bot. Returned only on creation and rotation; empty otherwise.',
    }),
    alwaysAlive: Type.Boolean({
      description: 'Whether deployed code keeps running without requests.',
    }),
    maxExecutionTime: Type.Optional(
      Type.Number({ description: 'Timeout of one delivery, in seconds.' }),
    ),
    secrets: Type.Array(Type.String({ description: 'Name of a secret.' }), {
      description: 'Names of the secrets; their values are never returned.',
    }),
    medias: Type.Array(
      Type.Object(
        {
          url: Type.String({ description: 'URL of the file.' }),
          name: Type.String({ description: 'Name of the file.' }),
        },
        { description: 'One media file.' },
      ),
      { description: 'Media files of the bot.' },
    ),
    user: declaredTags('users'),
    conversation: declaredTags('conversations'),
    message: declaredTags('messages'),
    states: definitions('Declared states', DeclaredState),
    events: definitions('Declared events', DeclaredEvent),
    actions: definitions('Declared actions', DeclaredAction),
    recurringEvents: definitions(
      'Recurring events',
      Type.Object(
        {
          schedule: Type.Object(
            { cron: Type.String({ description: 'Cron expression, in UTC.' }) },
            { description: 'Schedule on which the event is created.' },
          ),
          type: Type.String({ description: 'Type of the event.' }),
          payload: AnyMap('Payload of the event.'),
          failedAttempts: Type.Integer({
            description: 'Number of failed deliveries since the last success.',
          }),
          lastFailureReason: Type.Union([Type.String(), Type.Null()], {
            description: 'Reason why the last delivery failed; null if it succeeded.',
          }),
        },
        { title: 'RecurringEvent', description: 'One recurring event.' },
      ),
    ),
    subscriptions: Type.Object(
      {
        events: Type.Union(
          [
            MapOf(Type.Object({}, { description: 'No settings.' }), {
              description: 'The event types.',
            }),
            Type.Null(),
          ],
          { description: 'Event types that are delivered to the bot; null for all.' },
        ),
      },
      { description: 'Events that are delivered to the bot.' },
    ),
    configuration: Type.Object(
      {
        data: AnyMap('The configuration.'),
        schema: AnyMap('JSON Schema of the configuration.'),
      },
      { description: 'Configuration of the bot.' },
    ),
    integrations: MapOf(Installation, {
      description:
        'Installed integrations: keyed by alias with the header `x-multiple-integrations: true`, otherwise by integration id.',
    }),
    plugins: MapOf(PluginInstallation, { description: 'Installed plugins, by alias.' }),
  },
  { title: 'Bot', description: 'A bot with its definition and its installations.' },
)
