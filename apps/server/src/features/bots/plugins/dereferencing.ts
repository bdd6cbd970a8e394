import { ApiError } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { noReference } from '../../../domain/refusals.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Db } from '../../../platform/db/schema.js'
import type { IntegrationsService } from '../integrations/index.js'
import type { InterfaceDefinition, InterfacesService } from '../interfaces/index.js'
import type { Dependency, PluginDefinition } from './definition.js'
import { dereferenced, type FindEntity } from './dereference.js'
import type { PluginRow } from './store.js'

type Entities = Readonly<Record<string, { schema: Record<string, unknown> }>>

interface DereferencingDeps {
  db: Db
  interfaces: { service: Pick<InterfacesService, 'findUsable'> }
  integrations: { service: Pick<IntegrationsService, 'findDefinitions'> }
}

/** Makes the function that replaces references to entities of interfaces in the schemas of a plugin. */
export function createDereferencing({ db, interfaces, integrations }: DereferencingDeps) {
  /** The entities of an interface as an integration has them. */
  async function entitiesOf(
    { workspaceId }: WorkspaceActor,
    alias: string,
    { id, name }: Dependency,
    integrationId: string,
  ): Promise<Entities> {
    const found = await integrations.service.findDefinitions(workspaceId, [integrationId])
    const integration = found.get(integrationId)
    const implemented = Object.values(integration?.interfaces ?? {})
    const chosen =
      implemented.find((each) => each.id === id) ?? implemented.find((each) => each.name === name)
    if (integration === undefined || chosen === undefined) {
      throw noReference(
        `query.interfaces.${alias}`,
        'integration',
        integrationId,
        `that implements ${name}`,
      )
    }
    const entries = Object.entries(chosen.entities).flatMap(([entity, own]) => {
      const found = Object.hasOwn(integration.entities, own.name)
        ? integration.entities[own.name]
        : undefined
      return found === undefined ? [] : [[entity, found] as const]
    })
    return Object.fromEntries(entries)
  }

  return async (
    actor: WorkspaceActor,
    plugin: PluginRow,
    given: Readonly<Record<string, string>>,
  ): Promise<PluginDefinition> => {
    const definition = decodeJson<PluginDefinition>(plugin.definition)
    const needed = definition.dependencies.interfaces
    const stray = Object.keys(given).find((alias) => !Object.hasOwn(needed, alias))
    if (stray !== undefined) {
      throw new ApiError(
        'ReferenceNotFound',
        `query.interfaces.${stray}: the plugin depends on no interface of this alias.`,
        { metadata: { in: 'query', field: `interfaces.${stray}` } },
      )
    }
    const ids = Object.values(needed).map(({ id }) => id)
    const usable = await interfaces.service.findUsable(db, actor.workspaceId, ids)
    const known = new Map<string, Entities>()
    for (const [alias, dependency] of Object.entries(needed)) {
      const row = usable.get(dependency.id)
      const base = row ? decodeJson<InterfaceDefinition>(row.definition).entities : {}
      const integrationId = Object.hasOwn(given, alias) ? given[alias] : undefined
      const own =
        integrationId === undefined ? {} : await entitiesOf(actor, alias, dependency, integrationId)
      known.set(alias, { ...base, ...own })
    }
    const find: FindEntity = (alias, entity) => {
      const entities = known.get(alias) ?? {}
      return Object.hasOwn(entities, entity) ? entities[entity]?.schema : undefined
    }
    return dereferenced(definition, find)
  }
}
