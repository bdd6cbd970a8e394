import { ApiError } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { fieldError } from '../../../domain/refusals.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import { builtInEntries } from '../installations/index.js'
import type { IntegrationsService } from '../integrations/index.js'
import type { InterfacesService } from '../interfaces/index.js'
import type { Dependencies, Dependency, DependencyPatch, PluginPatch } from './definition.js'

type Given = NonNullable<NonNullable<PluginPatch['dependencies']>['interfaces']>[string]

export interface DependencyDeps {
  interfaces: Pick<InterfacesService, 'findUsable' | 'findUsableByName'>
  integrations: Pick<IntegrationsService, 'findInstallable' | 'findUsableByName'>
}

interface Named {
  name: string
  version: string
}

/** The lookups of one kind of dependency, in a workspace and in the hub. */
interface Finder {
  byId: (id: string) => Promise<Named | undefined>
  byName: (name: string, version: string) => Promise<{ id: string } | undefined>
}

/**
 * Finds what the patch of a plugin depends on. Throws `ReferenceNotFound` for what is neither in the workspace nor
 * in the hub.
 */
export async function resolveDependencies(
  { interfaces, integrations }: DependencyDeps,
  executor: Db | Tx,
  { workspaceId }: WorkspaceActor,
  { dependencies = {} }: PluginPatch,
): Promise<DependencyPatch> {
  const finders: Record<keyof Dependencies, Finder> = {
    interfaces: {
      byId: async (id) => (await interfaces.findUsable(executor, workspaceId, [id])).get(id),
      byName: (name, version) => interfaces.findUsableByName(executor, workspaceId, name, version),
    },
    integrations: {
      byId: async (id) =>
        builtInEntries.get(id) ??
        (await integrations.findInstallable(executor, workspaceId, [id])).get(id),
      byName: (name, version) =>
        integrations.findUsableByName(executor, workspaceId, name, version),
    },
  }
  const found: Record<keyof Dependencies, Record<string, Dependency | null>> = {
    interfaces: {},
    integrations: {},
  }
  for (const kind of ['interfaces', 'integrations'] as const) {
    const entries: [string, Dependency | null][] = []
    for (const [alias, given] of Object.entries(dependencies[kind] ?? {})) {
      const path = `dependencies.${kind}.${alias}`
      entries.push([alias, given === null ? null : await resolve(given, finders[kind], path)])
    }
    found[kind] = Object.fromEntries(entries)
  }
  return found
}

async function resolve(
  given: NonNullable<Given>,
  { byId, byName }: Finder,
  path: string,
): Promise<Dependency> {
  const { id, name, version } = given
  if (id !== undefined) {
    const found = await byId(id)
    if (found === undefined) throw missing(path, id)
    return { id, name: found.name, version: version ?? found.version, isById: true }
  }
  if (name === undefined) {
    throw fieldError(`body.${path}`, 'must have an id, or a name and a version.')
  }
  const wanted = version ?? 'latest'
  const found = await byName(name, wanted)
  if (found === undefined) throw missing(path, `${name} of version ${wanted}`)
  return { id: found.id, name, version: wanted, isById: false }
}

function missing(path: string, what: string): ApiError {
  return new ApiError(
    'ReferenceNotFound',
    `body.${path}: there is no ${what} in this workspace or in the hub.`,
    { metadata: { in: 'body', field: path } },
  )
}
