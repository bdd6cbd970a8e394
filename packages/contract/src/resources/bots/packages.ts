import { type TObject, Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { AnyMap, Id, OneOf, pageOf, paging, Text, wrap } from '../../shared.js'

/*
 * Interfaces and plugins, of which this server has none. Existing tools look them up before they
 * deploy, and continue when the response says in their format that there is nothing.
 */

const nothing = 'For existing tools that look here: this server has none.'
const search = Type.Object({
  ...paging,
  name: Type.Optional(Text(200, 'Only those with this name.')),
  version: Type.Optional(Text(100, 'Only this version.')),
})
const byId = Type.Object({ id: Id('Id to look up.') })
const byName = Type.Object({
  name: Text(200, 'Name to look up; a `/` in it is written as `%2F`.', 1),
  version: Text(200, 'A version, `latest`, or a range such as `<2.0.0`.', 1),
})
const byPlatform = Type.Object({
  ...byId.properties,
  platform: OneOf(['node', 'browser'], 'Platform on which the code is to run.'),
})

const listOf = <const Id extends string, const Member extends string>(
  id: Id,
  path: string,
  member: Member,
) =>
  operation({
    id,
    method: 'GET',
    path,
    tag: 'Integrations',
    summary: `List ${member}`,
    description: nothing,
    auth: 'workspace',
    query: search,
    response: json(pageOf(member, Type.Unsafe<never>(AnyMap('Never returned.')), 'Always empty.')),
  })

const lookFor = <const Id extends string>(what: string, id: Id, path: string, params: TObject) =>
  operation({
    id,
    method: 'GET',
    path,
    tag: 'Integrations',
    summary: `Look up ${what}`,
    description: nothing,
    auth: 'workspace',
    params,
    errors: ['ResourceNotFound'],
    response: json(Type.Unsafe<never>(wrap('found', AnyMap('Never returned.')))),
  })

/** Lists of interfaces and plugins, of a workspace and of the hub. */
export const packageLists = {
  interfaces: listOf('listInterfaces', '/v1/admin/interfaces', 'interfaces'),
  publicInterfaces: listOf('listPublicInterfaces', '/v1/admin/hub/interfaces', 'interfaces'),
  plugins: listOf('listPlugins', '/v1/admin/plugins', 'plugins'),
  publicPlugins: listOf('listPublicPlugins', '/v1/admin/hub/plugins', 'plugins'),
}

const own = { interfaces: '/v1/admin/interfaces', plugins: '/v1/admin/plugins' }
const hub = { interfaces: '/v1/admin/hub/interfaces', plugins: '/v1/admin/hub/plugins' }

/** Lookups of interfaces and plugins, which find nothing. */
export const packageLookups = {
  interface: lookFor('an interface', 'getInterface', `${own.interfaces}/{id}`, byId),
  interfaceByName: lookFor(
    'an interface by name',
    'getInterfaceByName',
    `${own.interfaces}/{name}/{version}`,
    byName,
  ),
  publicInterface: lookFor(
    'an interface of the hub',
    'getPublicInterfaceById',
    `${hub.interfaces}/{id}`,
    byId,
  ),
  publicInterfaceByName: lookFor(
    'an interface of the hub by name',
    'getPublicInterface',
    `${hub.interfaces}/{name}/{version}`,
    byName,
  ),
  plugin: lookFor('a plugin', 'getPlugin', `${own.plugins}/{id}`, byId),
  pluginByName: lookFor(
    'a plugin by name',
    'getPluginByName',
    `${own.plugins}/{name}/{version}`,
    byName,
  ),
  pluginCode: lookFor(
    'the code of a plugin',
    'getPluginCode',
    `${own.plugins}/{id}/code/{platform}`,
    byPlatform,
  ),
  dereferencedPlugin: lookFor(
    'a plugin with its interfaces',
    'getDereferencedPlugin',
    `${own.plugins}/{id}/dereferenced`,
    byId,
  ),
  publicPlugin: lookFor('a plugin of the hub', 'getPublicPluginById', `${hub.plugins}/{id}`, byId),
  publicPluginByName: lookFor(
    'a plugin of the hub by name',
    'getPublicPlugin',
    `${hub.plugins}/{name}/{version}`,
    byName,
  ),
  publicPluginCode: lookFor(
    'the code of a plugin of the hub',
    'getPublicPluginCode',
    `${hub.plugins}/{id}/code/{platform}`,
    byPlatform,
  ),
  dereferencedPublicPlugin: lookFor(
    'a plugin of the hub with its interfaces',
    'getDereferencedPublicPluginById',
    `${hub.plugins}/{id}/dereferenced`,
    byId,
  ),
}
