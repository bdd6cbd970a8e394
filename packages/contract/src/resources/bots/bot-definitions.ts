import { Type } from 'typebox'
import { AnyMapInput, MapInput, MapPatch, OneOf, Text } from '../../shared.js'

const title = Type.Optional(Text(500, 'Display name, at most 500 characters.'))
const description = Type.Optional(Text(2000, 'Purpose, at most 2,000 characters.'))
/** Value of a free-form attribute. */
export const attribute = Text(2000, 'Value of the attribute, at most 2,000 characters.')
const attributes = Type.Optional(MapInput(attribute, 'Free-form attributes of the definition.'))
const attributesPatch = Type.Optional(
  MapPatch(attribute, 'Free-form attributes of the definition.'),
)

const TagDefinition = Type.Object(
  { title, description },
  { title: 'TagDefinitionInput', description: 'One declared tag.' },
)

/** Declarations for users, conversations or messages. */
export const declaredTags = (of: string) =>
  Type.Optional(
    Type.Object(
      { tags: Type.Optional(MapInput(TagDefinition, `Tags declared for ${of}.`)) },
      { description: `Declarations for ${of}.` },
    ),
  )

/** The same, as a merge patch. */
export const declaredTagsPatch = (of: string) =>
  Type.Optional(
    Type.Object(
      { tags: Type.Optional(MapPatch(TagDefinition, `Tags declared for ${of}.`)) },
      { description: `Declarations for ${of}.` },
    ),
  )

/** The idle time after which a state expires. */
export const stateExpiry = Type.Optional(
  Type.Number({
    minimum: 1,
    maximum: 2_592_000_000,
    description: 'Idle time until the state expires, 1 ms to 30 days, in milliseconds.',
  }),
)

/** A state that a bot declares. */
export const StateDefinition = Type.Object(
  {
    type: OneOf(
      ['conversation', 'user', 'bot', 'workflow'],
      'Type of the object that the state belongs to.',
    ),
    schema: AnyMapInput('JSON Schema of the payload, at most 102,400 bytes.'),
    expiry: stateExpiry,
  },
  { title: 'StateDefinitionInput', description: 'One state.' },
)

const eventMembers = {
  title,
  description,
  schema: AnyMapInput('JSON Schema of the payload, at most 102,400 bytes.'),
}

/** An event that a bot declares. */
export const EventDefinition = Type.Object(
  { ...eventMembers, attributes },
  { title: 'EventDefinitionInput', description: 'One event.' },
)

/** The same in an update, where `null` removes an attribute. */
export const EventDefinitionPatch = Type.Object(
  { ...eventMembers, attributes: attributesPatch },
  { title: 'EventDefinitionPatch', description: 'One event.' },
)

const schemaOnly = (of: string) =>
  Type.Object(
    { schema: AnyMapInput(`JSON Schema of the ${of}, at most 102,400 bytes.`) },
    { description: `The ${of}.` },
  )

const actionMembers = {
  title,
  description,
  billable: Type.Optional(Type.Boolean({ description: 'Accepted for existing clients.' })),
  cacheable: Type.Optional(
    Type.Boolean({ description: 'Whether an earlier result may be reused.' }),
  ),
  input: schemaOnly('input'),
  output: schemaOnly('output'),
}

/** An action that a bot declares. */
export const ActionDefinition = Type.Object(
  { ...actionMembers, attributes },
  { title: 'ActionDefinitionInput', description: 'One action.' },
)

/** The same in an update, where `null` removes an attribute. */
export const ActionDefinitionPatch = Type.Object(
  { ...actionMembers, attributes: attributesPatch },
  { title: 'ActionDefinitionPatch', description: 'One action.' },
)

/** An event that is created on a schedule. */
export const RecurringEvent = Type.Object(
  {
    schedule: Type.Object(
      { cron: Text(200, 'Cron expression, in UTC; 1 to 200 characters.', 1) },
      { description: 'Schedule on which the event is created.' },
    ),
    type: Text(200, 'Type of the event, 1 to 200 characters.', 1),
    payload: AnyMapInput('Payload of the event, at most 131,072 bytes.'),
  },
  { title: 'RecurringEventInput', description: 'One recurring event.' },
)
