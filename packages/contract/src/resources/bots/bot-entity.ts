import { type TSchema, Type } from 'typebox'
import { AnyMap, Id, MapOf, OneOf, Tags, Timestamp } from '../../shared.js'
import { Installation, PluginInstallation } from './installations.js'

const title = Type.Optional(Type.String({ description: 'Display name.' }))
const description = Type.Optional(Type.String({ description: 'What it is for.' }))
const attributes = Type.Optional(
  MapOf(Type.String({ description: 'Value of the attribute.' }), {
    description: 'Free-form attributes of the definition.',
  }),
)

const declaredTags = (of: string) =>
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
    { description: `What is declared for ${of}.` },
  )

const schemaOnly = (of: string) =>
  Type.Object({ schema: AnyMap(`JSON Schema of the ${of}.`) }, { description: `The ${of}.` })

const definitions = <Definition extends TSchema>(of: string, definition: Definition) =>
  MapOf(definition, { description: `${of}, by name.` })

/** Who made a bot. The set is the interface's own; nothing depends on it here. */
export const botTypes = ['studio', 'adk', 'desk'] as const

const base = {
  id: Id('Id of the bot; value of the header `x-bot-id`.'),
  name: Type.String({ description: 'Name of the bot.' }),
  createdAt: Timestamp('When the bot was made.'),
  updatedAt: Timestamp('When the bot last changed.'),
  deployedAt: Type.Optional(
    Timestamp('When code or an address was last given; absent before the first time.'),
  ),
  tags: Tags('Tags of the bot.'),
  type: OneOf([...botTypes], 'Who made the bot.'),
}

/** A bot as lists show it. */
export const BotSummary = Type.Object(base, {
  title: 'BotSummary',
  description: 'A bot as lists show it.',
})

/** A bot with its definition and what is installed in it. */
export const Bot = Type.Object(
  {
    ...base,
    description: Type.Optional(Type.String({ description: 'What the bot is for.' })),
    createdBy: Type.Optional(Id('Id of the account that made the bot.')),
    dev: Type.Boolean({ description: 'Whether this is a development bot.' }),
    status: OneOf(['active', 'deploying', 'deleting'], 'What the bot is doing.'),
    signingSecret: Type.String({
      description:
        'Secret that signs deliveries to the bot. Shown only by the creation and by rotation; empty elsewhere.',
    }),
    alwaysAlive: Type.Boolean({ description: 'Kept for existing clients.' }),
    maxExecutionTime: Type.Optional(
      Type.Number({ description: 'Longest time for one delivery, in seconds.' }),
    ),
    secrets: Type.Array(Type.String({ description: 'Name of a secret.' }), {
      description: 'Names of the secrets; their values are never shown.',
    }),
    medias: Type.Array(
      Type.Object(
        {
          url: Type.String({ description: 'Address of the file.' }),
          name: Type.String({ description: 'Name of the file.' }),
        },
        { description: 'One media file.' },
      ),
      { description: 'Media files of the bot.' },
    ),
    user: declaredTags('users'),
    conversation: declaredTags('conversations'),
    message: declaredTags('messages'),
    states: definitions(
      'Declared states',
      Type.Object(
        {
          type: OneOf(['conversation', 'user', 'bot', 'workflow'], 'What the state belongs to.'),
          schema: AnyMap('JSON Schema of the payload.'),
          expiry: Type.Optional(
            Type.Number({ description: 'Idle time until it expires, in milliseconds.' }),
          ),
        },
        { title: 'StateDefinition', description: 'One declared state.' },
      ),
    ),
    events: definitions(
      'Declared events',
      Type.Object(
        { title, description, schema: AnyMap('JSON Schema of the payload.'), attributes },
        { title: 'EventDefinition', description: 'One declared event.' },
      ),
    ),
    actions: definitions(
      'Declared actions',
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
        { title: 'ActionDefinition', description: 'One declared action.' },
      ),
    ),
    recurringEvents: definitions(
      'Events made on a schedule',
      Type.Object(
        {
          schedule: Type.Object(
            { cron: Type.String({ description: 'Cron expression, in UTC.' }) },
            { description: 'When the event is made.' },
          ),
          type: Type.String({ description: 'Type of the event.' }),
          payload: AnyMap('Payload of the event.'),
          failedAttempts: Type.Integer({
            description: 'Deliveries that failed since the last success.',
          }),
          lastFailureReason: Type.Union([Type.String(), Type.Null()], {
            description: 'Why the last delivery failed; null if it did not.',
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
              description: 'The types of event.',
            }),
            Type.Null(),
          ],
          { description: 'Types of event that are delivered to the bot; null for all.' },
        ),
      },
      { description: 'What is delivered to the bot.' },
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
        'Installed integrations: by alias with the header `x-multiple-integrations: true`, by id of the integration without it.',
    }),
    plugins: MapOf(PluginInstallation, { description: 'Installed plugins, by alias.' }),
  },
  { title: 'Bot', description: 'A bot with its definition and what is installed in it.' },
)
