import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { AnyMap, Empty, Id, MapOf, pageOf, Timestamp, wrap } from '../../shared.js'
import { DeclaredAction, DeclaredEvent, definitions } from './bot-entity.js'
import { attributes, OwnerWorkspace } from './hub-entity.js'
import { CreateInterfaceBody, UpdateInterfaceBody } from './interface-bodies.js'
import { nameAndVersion, packageBase, packageSearch } from './package-queries.js'

const text = (description: string) => Type.String({ description })
const title = Type.Optional(text('Display name.'))
const description = Type.Optional(text('Purpose.'))

const base = packageBase({
  id: Id('Id of the interface.'),
  createdAt: Timestamp('Time at which the interface was created.'),
  updatedAt: Timestamp('Time at which the interface last changed.'),
})

const whole = {
  ...base,
  entities: definitions(
    'Declared entities',
    Type.Object(
      { title, description, schema: AnyMap('JSON Schema of the entity.') },
      { title: 'InterfaceEntity', description: 'One type of object.' },
    ),
  ),
  events: definitions('Declared events', DeclaredEvent),
  actions: definitions('Declared actions', DeclaredAction),
  channels: definitions(
    'Channels that carry messages',
    Type.Object(
      {
        title,
        description,
        messages: MapOf(
          Type.Object(
            { schema: AnyMap('JSON Schema of the payload.') },
            { description: 'One message type.' },
          ),
          { description: 'Message types, by name.' },
        ),
      },
      { title: 'InterfaceChannel', description: 'One channel.' },
    ),
  ),
  nameTemplate: Type.Optional(
    Type.Object(
      { script: text('The script.'), language: text('Language of the script.') },
      { description: 'Generates the display name of an implementation.' },
    ),
  ),
  attributes: Type.Optional(attributes),
}

const Interface = Type.Object(whole, {
  title: 'Interface',
  description:
    'Abilities that integrations can implement, and that plugins use through any implementation.',
})
const InterfaceSummary = Type.Object(base, {
  title: 'InterfaceSummary',
  description: 'An interface as lists contain it.',
})
const PublicInterface = Type.Object(
  { ...whole, ownerWorkspace: OwnerWorkspace },
  { title: 'PublicInterface', description: 'An interface of the hub.' },
)
const PublicInterfaceSummary = Type.Object(
  { ...base, ownerWorkspace: OwnerWorkspace },
  { title: 'PublicInterfaceSummary', description: 'An interface of the hub in a list.' },
)

const interfaceId = Type.Object({ id: Id('Id of the interface.') })
const definitionErrors = [
  'InvalidJsonSchema',
  'InvalidIdentifier',
  'LimitExceeded',
  'AlreadyExists',
] as const

/** Interfaces of a workspace and of the hub. */
export const interfaces = {
  create: operation({
    id: 'createInterface',
    method: 'POST',
    path: '/v1/admin/interfaces',
    tag: 'Integrations',
    summary: 'Create an interface',
    description:
      'Name and version together are unique in a workspace. The name of a public interface belongs to the workspace that published it first.',
    auth: 'workspace',
    permission: 'bots:write',
    audit: 'workspace',
    concerns: 'workspace',
    body: CreateInterfaceBody,
    response: json(wrap('interface', Interface)),
    status: 201,
    errors: definitionErrors,
    idempotent: true,
    bodyLimit: 'large',
  }),
  list: operation({
    id: 'listInterfaces',
    method: 'GET',
    path: '/v1/admin/interfaces',
    tag: 'Integrations',
    summary: 'List the interfaces of a workspace',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    query: Type.Object(packageSearch),
    response: json(pageOf('interfaces', InterfaceSummary, 'Interfaces in the requested order.')),
  }),
  get: operation({
    id: 'getInterface',
    method: 'GET',
    path: '/v1/admin/interfaces/{id}',
    tag: 'Integrations',
    summary: 'Get an interface',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    params: interfaceId,
    response: json(wrap('interface', Interface)),
    errors: ['ResourceNotFound'],
  }),
  getByName: operation({
    id: 'getInterfaceByName',
    method: 'GET',
    path: '/v1/admin/interfaces/{name}/{version}',
    tag: 'Integrations',
    summary: 'Get an interface by name and version',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    params: nameAndVersion,
    response: json(wrap('interface', Interface)),
    errors: ['ResourceNotFound'],
  }),
  update: operation({
    id: 'updateInterface',
    method: 'PUT',
    path: '/v1/admin/interfaces/{id}',
    tag: 'Integrations',
    summary: 'Update an interface',
    description:
      'The body is a merge patch: omitted fields keep their value; in maps, a value sets an entry, `null` removes it, and entries that are not mentioned stay.',
    auth: 'workspace',
    permission: 'bots:write',
    audit: 'workspace',
    concerns: 'workspace',
    params: interfaceId,
    body: UpdateInterfaceBody,
    response: json(wrap('interface', Interface)),
    errors: [...definitionErrors, 'ResourceNotFound', 'ReferenceConstraint'],
    bodyLimit: 'large',
  }),
  remove: operation({
    id: 'deleteInterface',
    method: 'DELETE',
    path: '/v1/admin/interfaces/{id}',
    tag: 'Integrations',
    summary: 'Delete an interface that no integration implements and no plugin depends on',
    auth: 'workspace',
    permission: 'bots:write',
    audit: 'workspace',
    concerns: 'workspace',
    params: interfaceId,
    response: json(Empty),
    errors: ['ResourceNotFound', 'ReferenceConstraint'],
  }),
  listPublic: operation({
    id: 'listPublicInterfaces',
    method: 'GET',
    path: '/v1/admin/hub/interfaces',
    tag: 'Integrations',
    summary: 'List the public interfaces of all workspaces',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    query: Type.Object(packageSearch),
    response: json(pageOf('interfaces', PublicInterfaceSummary, 'Public interfaces.')),
  }),
  getPublic: operation({
    id: 'getPublicInterfaceById',
    method: 'GET',
    path: '/v1/admin/hub/interfaces/{id}',
    tag: 'Integrations',
    summary: 'Get a public interface',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    params: interfaceId,
    response: json(wrap('interface', PublicInterface)),
    errors: ['ResourceNotFound'],
  }),
  getPublicByName: operation({
    id: 'getPublicInterface',
    method: 'GET',
    path: '/v1/admin/hub/interfaces/{name}/{version}',
    tag: 'Integrations',
    summary: 'Get a public interface by name and version',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    params: nameAndVersion,
    response: json(wrap('interface', PublicInterface)),
    errors: ['ResourceNotFound'],
  }),
}
