import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { AnyMap, Empty, Id, MapInput, MapOf, OneOf, pageOf, Timestamp, wrap } from '../../shared.js'
import { DeclaredAction, DeclaredEvent, declaredTags, definitions } from './bot-entity.js'
import { attributes, HubMeta, OwnerWorkspace } from './hub-entity.js'
import { nameAndVersion, packageBase, packageSearch } from './package-queries.js'
import { CreatePluginBody, UpdatePluginBody } from './plugin-bodies.js'

const text = (description: string) => Type.String({ description })

const base = packageBase({
  id: Id('Id of the plugin.'),
  createdAt: Timestamp('Time at which the plugin was created.'),
  updatedAt: Timestamp('Time at which the plugin last changed.'),
  visibility: OneOf(['public', 'private', 'unlisted'], 'Visibility of the plugin in the hub.'),
  lifecycleStatus: OneOf(['published', 'deprecated'], 'Whether it can be newly installed.'),
})

const dependencies = (of: string) =>
  MapOf(
    Type.Object(
      {
        id: text(`Id of the ${of}.`),
        name: text(`Name of the ${of}.`),
        version: text('Its version, or the range of versions.'),
      },
      { title: 'PluginDependency', description: 'One dependency.' },
    ),
    { description: 'By alias.' },
  )

const whole = {
  ...base,
  configuration: Type.Object(
    {
      title: Type.Optional(text('Display name.')),
      description: Type.Optional(text('Purpose.')),
      schema: AnyMap('JSON Schema of the configuration.'),
    },
    { description: 'Configuration of an installation.' },
  ),
  states: definitions(
    'Declared states',
    Type.Object(
      {
        type: OneOf(
          ['conversation', 'user', 'bot'],
          'Type of the object that the state belongs to.',
        ),
        schema: AnyMap('JSON Schema of the payload.'),
        expiry: Type.Optional(
          Type.Number({ description: 'Idle time until the state expires, in milliseconds.' }),
        ),
      },
      { title: 'PluginState', description: 'One declared state.' },
    ),
  ),
  events: definitions('Declared events', DeclaredEvent),
  actions: definitions('Declared actions', DeclaredAction),
  user: declaredTags('users'),
  conversation: declaredTags('conversations'),
  message: declaredTags('messages'),
  dependencies: Type.Object(
    { interfaces: dependencies('object'), integrations: dependencies('object') },
    { description: 'Interfaces and integrations that a bot must have for the plugin.' },
  ),
  attributes: Type.Optional(attributes),
}

const Plugin = Type.Object(whole, {
  title: 'Plugin',
  description: 'A part of bots with states, events and actions of its own.',
})
const PluginSummary = Type.Object(base, {
  title: 'PluginSummary',
  description: 'A plugin as lists contain it.',
})
const hub = { ownerWorkspace: OwnerWorkspace, meta: HubMeta }
const PublicPlugin = Type.Object(
  { ...whole, ...hub },
  { title: 'PublicPlugin', description: 'A plugin of the hub.' },
)
const PublicPluginSummary = Type.Object(
  { ...base, ...hub },
  { title: 'PublicPluginSummary', description: 'A plugin of the hub in a list.' },
)

const pluginId = Type.Object({ id: Id('Id of the plugin.') })
const platform = Type.Object({
  id: Id('Id of the plugin.'),
  platform: OneOf(['node', 'browser'], 'Platform on which the code is to run.'),
})
const implementations = Type.Object({
  interfaces: Type.Optional(
    MapInput(
      Id('Id of the integration that implements the interface.'),
      'Integrations, by the alias of the interface: `interfaces.<alias>=<id>`.',
    ),
  ),
})
const Code = Type.Object({ code: text('The code as it was deployed.') })
const dereferencing =
  'References to entities of interfaces are replaced by the schema that the given integration has for the entity, otherwise by that of the interface.'
const definitionErrors = [
  'InvalidJsonSchema',
  'InvalidIdentifier',
  'ReferenceNotFound',
  'LimitExceeded',
  'AlreadyExists',
] as const

/** Plugins of a workspace and of the hub. */
export const plugins = {
  create: operation({
    id: 'createPlugin',
    method: 'POST',
    path: '/v1/admin/plugins',
    tag: 'Integrations',
    summary: 'Create a plugin',
    description:
      'The server stores the code of a plugin for tools, which build it into bots. Name and version together are unique in a workspace. The name of a published plugin belongs to the workspace that published it first.',
    auth: 'workspace',
    permission: 'bots:write',
    audit: 'workspace',
    concerns: 'workspace',
    body: CreatePluginBody,
    response: json(wrap('plugin', Plugin)),
    status: 201,
    errors: definitionErrors,
    idempotent: true,
    bodyLimit: 'large',
  }),
  list: operation({
    id: 'listPlugins',
    method: 'GET',
    path: '/v1/admin/plugins',
    tag: 'Integrations',
    summary: 'List the plugins of a workspace',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    query: Type.Object(packageSearch),
    response: json(pageOf('plugins', PluginSummary, 'Plugins in the requested order.')),
  }),
  get: operation({
    id: 'getPlugin',
    method: 'GET',
    path: '/v1/admin/plugins/{id}',
    tag: 'Integrations',
    summary: 'Get a plugin',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    params: pluginId,
    response: json(wrap('plugin', Plugin)),
    errors: ['ResourceNotFound'],
  }),
  getByName: operation({
    id: 'getPluginByName',
    method: 'GET',
    path: '/v1/admin/plugins/{name}/{version}',
    tag: 'Integrations',
    summary: 'Get a plugin by name and version',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    params: nameAndVersion,
    response: json(wrap('plugin', Plugin)),
    errors: ['ResourceNotFound'],
  }),
  getCode: operation({
    id: 'getPluginCode',
    method: 'GET',
    path: '/v1/admin/plugins/{id}/code/{platform}',
    tag: 'Integrations',
    summary: 'Get the code of a plugin',
    auth: 'workspace',
    permission: 'configuration:read',
    concerns: 'bots',
    params: platform,
    response: json(Code),
    errors: ['ResourceNotFound'],
  }),
  getDereferenced: operation({
    id: 'getDereferencedPlugin',
    method: 'GET',
    path: '/v1/admin/plugins/{id}/dereferenced',
    tag: 'Integrations',
    summary: 'Get a plugin with the entities of its interfaces',
    description: dereferencing,
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    params: pluginId,
    query: implementations,
    response: json(wrap('plugin', Plugin)),
    errors: ['ResourceNotFound', 'ReferenceNotFound', 'LimitExceeded'],
  }),
  update: operation({
    id: 'updatePlugin',
    method: 'PUT',
    path: '/v1/admin/plugins/{id}',
    tag: 'Integrations',
    summary: 'Update a plugin',
    description:
      'The body is a merge patch: omitted fields keep their value; in maps, a value sets an entry, `null` removes it, and entries that are not mentioned stay.',
    auth: 'workspace',
    permission: 'bots:write',
    audit: 'workspace',
    concerns: 'workspace',
    params: pluginId,
    body: UpdatePluginBody,
    response: json(wrap('plugin', Plugin)),
    errors: [...definitionErrors, 'ResourceNotFound', 'ReferenceConstraint'],
    bodyLimit: 'large',
  }),
  remove: operation({
    id: 'deletePlugin',
    method: 'DELETE',
    path: '/v1/admin/plugins/{id}',
    tag: 'Integrations',
    summary: 'Delete a plugin that is not installed in any bot',
    auth: 'workspace',
    permission: 'bots:write',
    audit: 'workspace',
    concerns: 'workspace',
    params: pluginId,
    response: json(Empty),
    errors: ['ResourceNotFound', 'ReferenceConstraint'],
  }),
}

/** Public plugins of all workspaces. */
export const publicPlugins = {
  list: operation({
    id: 'listPublicPlugins',
    method: 'GET',
    path: '/v1/admin/hub/plugins',
    tag: 'Integrations',
    summary: 'List the public plugins of all workspaces',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    query: Type.Object(packageSearch),
    response: json(pageOf('plugins', PublicPluginSummary, 'Public plugins.')),
  }),
  get: operation({
    id: 'getPublicPluginById',
    method: 'GET',
    path: '/v1/admin/hub/plugins/{id}',
    tag: 'Integrations',
    summary: 'Get a public plugin',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    params: pluginId,
    response: json(wrap('plugin', PublicPlugin)),
    errors: ['ResourceNotFound'],
  }),
  getByName: operation({
    id: 'getPublicPlugin',
    method: 'GET',
    path: '/v1/admin/hub/plugins/{name}/{version}',
    tag: 'Integrations',
    summary: 'Get a public plugin by name and version',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    params: nameAndVersion,
    response: json(wrap('plugin', PublicPlugin)),
    errors: ['ResourceNotFound'],
  }),
  getCode: operation({
    id: 'getPublicPluginCode',
    method: 'GET',
    path: '/v1/admin/hub/plugins/{id}/code/{platform}',
    tag: 'Integrations',
    summary: 'Get the code of a public plugin',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    params: platform,
    response: json(Code),
    errors: ['ResourceNotFound'],
  }),
  getDereferenced: operation({
    id: 'getDereferencedPublicPluginById',
    method: 'GET',
    path: '/v1/admin/hub/plugins/{id}/dereferenced',
    tag: 'Integrations',
    summary: 'Get a public plugin with the entities of its interfaces',
    description: dereferencing,
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    params: pluginId,
    query: implementations,
    response: json(wrap('plugin', PublicPlugin)),
    errors: ['ResourceNotFound', 'ReferenceNotFound', 'LimitExceeded'],
  }),
}
