import { Type } from 'typebox'
import { AnyMapInput, Id, MapPatch, OneOf, Text } from '../../shared.js'
import {
  ActionDefinitionPatch,
  attribute,
  declaredTagsPatch,
  EventDefinitionPatch,
  stateExpiry,
} from './bot-definitions.js'
import { aboutPackage, newName } from './package-queries.js'

const code = (description: string) => Text(20_971_520, `${description}, at most 20 MiB.`)

const Dependency = Type.Object(
  {
    id: Type.Optional(Id('Its id; then it cannot be deleted while the plugin depends on it.')),
    name: Type.Optional(Text(200, 'Its name, if there is no id.')),
    version: Type.Optional(Text(200, 'A version, `latest` or a range of versions.')),
  },
  { title: 'PluginDependencyInput', description: 'One dependency: by id, or by name and version.' },
)

const Configuration = Type.Object(
  {
    title: Type.Optional(Text(500, 'Display name, at most 500 characters.')),
    description: Type.Optional(Text(2000, 'Purpose, at most 2,000 characters.')),
    schema: AnyMapInput('JSON Schema of the configuration, at most 102,400 bytes.'),
  },
  { title: 'PluginConfigurationInput', description: 'Configuration of an installation.' },
)

const State = Type.Object(
  {
    type: OneOf(['conversation', 'user', 'bot'], 'Type of the object that the state belongs to.'),
    schema: AnyMapInput('JSON Schema of the payload, at most 102,400 bytes.'),
    expiry: stateExpiry,
  },
  { title: 'PluginStateInput', description: 'One state.' },
)

const definition = {
  ...aboutPackage,
  public: Type.Optional(Type.Boolean({ description: 'Deprecated form of `visibility`.' })),
  visibility: Type.Optional(
    OneOf(
      ['public', 'private', 'unlisted'],
      '`private` by default: only its workspace can use it; `public`: every workspace can; `unlisted`: likewise, but it is in no list of the hub.',
    ),
  ),
  states: Type.Optional(MapPatch(State, 'Declared states.')),
  events: Type.Optional(MapPatch(EventDefinitionPatch, 'Declared events.')),
  actions: Type.Optional(MapPatch(ActionDefinitionPatch, 'Declared actions.')),
  user: declaredTagsPatch('users'),
  conversation: declaredTagsPatch('conversations'),
  message: declaredTagsPatch('messages'),
  dependencies: Type.Optional(
    Type.Object(
      {
        interfaces: Type.Optional(
          MapPatch(Dependency, 'Interfaces, each of which an integration of the bot implements.'),
        ),
        integrations: Type.Optional(MapPatch(Dependency, 'Integrations of the bot.')),
      },
      { description: 'Requirements of the plugin on its bot.' },
    ),
  ),
  attributes: Type.Optional(MapPatch(attribute, 'Free-form attributes.')),
}

/** Body of `createPlugin`. */
export const CreatePluginBody = Type.Object(
  {
    ...newName,
    ...definition,
    configuration: Type.Optional(Configuration),
    code: Type.Object(
      { node: code('Code for Node.js'), browser: code('Code for browsers') },
      { description: 'The bundled code, which tools build into bots.' },
    ),
  },
  { title: 'CreatePluginBody' },
)

/** Body of `updatePlugin`: a merge patch. */
export const UpdatePluginBody = Type.Object(
  {
    ...definition,
    configuration: Type.Optional(
      Type.Union([Configuration, Type.Null()], {
        description: 'Configuration of an installation; null removes it.',
      }),
    ),
    code: Type.Optional(
      Type.Object(
        {
          node: Type.Optional(code('Code for Node.js')),
          browser: Type.Optional(code('Code for browsers')),
        },
        { description: 'The bundled code; an omitted platform keeps its code.' },
      ),
    ),
  },
  { title: 'UpdatePluginBody' },
)
