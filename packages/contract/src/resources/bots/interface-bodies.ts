import { Type } from 'typebox'
import { AnyMapInput, MapPatch, Text } from '../../shared.js'
import { ActionDefinitionPatch, attribute, EventDefinitionPatch } from './bot-definitions.js'
import { aboutPackage, newName } from './package-queries.js'

const title = Type.Optional(Text(500, 'Display name, at most 500 characters.'))
const description = Type.Optional(Text(2000, 'Purpose, at most 2,000 characters.'))
const schema = (of: string) => AnyMapInput(`JSON Schema of the ${of}, at most 102,400 bytes.`)

const Entity = Type.Object(
  { title, description, schema: schema('entity') },
  {
    title: 'InterfaceEntityInput',
    description: 'One type of object; schemas refer to it by its name.',
  },
)

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
  },
  { title: 'InterfaceChannelPatch', description: 'One channel, merged field by field.' },
)

const NameTemplate = Type.Object(
  {
    script: Text(20_000, 'The script, at most 20,000 characters.'),
    language: Text(100, 'Language of the script.'),
  },
  { title: 'NameTemplate', description: 'Generates the display name of an implementation.' },
)

const definition = {
  ...aboutPackage,
  public: Type.Optional(
    Type.Boolean({ description: 'Whether it is in the hub of every workspace; false by default.' }),
  ),
  entities: Type.Optional(MapPatch(Entity, 'Declared entities.')),
  events: Type.Optional(MapPatch(EventDefinitionPatch, 'Declared events.')),
  actions: Type.Optional(MapPatch(ActionDefinitionPatch, 'Declared actions.')),
  channels: Type.Optional(MapPatch(Channel, 'Channels that carry messages.')),
  nameTemplate: Type.Optional(
    Type.Union([NameTemplate, Type.Null()], {
      description: 'Generates the display name of an implementation; null removes it.',
    }),
  ),
  attributes: Type.Optional(MapPatch(attribute, 'Free-form attributes.')),
}

/** Body of `createInterface`. */
export const CreateInterfaceBody = Type.Object(
  { ...newName, ...definition },
  { title: 'CreateInterfaceBody' },
)

/** Body of `updateInterface`: a merge patch. */
export const UpdateInterfaceBody = Type.Object(definition, { title: 'UpdateInterfaceBody' })
