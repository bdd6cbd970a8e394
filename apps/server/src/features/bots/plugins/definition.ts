import type { Body, contract, Output } from '@botstead/contract'
import { mergePatch } from '../../../domain/patches.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { Log } from '../../../platform/telemetry/log.js'
import {
  checkEntries,
  checkSchemas,
  logUncheckedPatterns,
  requireNewStates,
  type Schemas,
  withoutNullAttributes,
} from '../definitions/index.js'

type WirePlugin = Output<typeof contract.plugins.get>['plugin']
export type PluginPatch = Body<typeof contract.plugins.update>
export type NewPlugin = Body<typeof contract.plugins.create>

/** An interface or an integration that a plugin depends on. */
export interface Dependency {
  id: string
  name: string
  /** A version or a range. */
  version: string
  /** Whether the plugin names it by its id, rather than by name and version. */
  isById: boolean
}

/** The dependencies of a plugin, by alias. */
export interface Dependencies {
  interfaces: Record<string, Dependency>
  integrations: Record<string, Dependency>
}

/** A change of what a plugin depends on: `null` removes. */
export type DependencyPatch = Partial<
  Record<keyof Dependencies, Readonly<Record<string, Dependency | null>>>
>

/** The declarations of a plugin, as stored. Every map is present. */
export type PluginDefinition = Pick<
  WirePlugin,
  'configuration' | 'states' | 'events' | 'actions' | 'user' | 'conversation' | 'message'
> & { dependencies: Dependencies; attributes: Record<string, string> }

const noConfiguration = { schema: {} }

export const emptyDefinition: PluginDefinition = {
  configuration: noConfiguration,
  states: {},
  events: {},
  actions: {},
  user: { tags: {} },
  conversation: { tags: {} },
  message: { tags: {} },
  dependencies: { interfaces: {}, integrations: {} },
  attributes: {},
}

/** Maximum number of entries of each kind. */
const max = { dependencies: 50, tags: 50, named: 200 }

/**
 * Applies a merge patch and checks the result.
 * @param dependencies those of the patch, with what they refer to
 */
export function patchDefinition(
  current: PluginDefinition,
  patch: PluginPatch,
  dependencies: DependencyPatch,
): PluginDefinition {
  requireNewStates(current.states, patch.states)
  const { configuration = current.configuration } = patch
  const next: PluginDefinition = {
    configuration: configuration ?? noConfiguration,
    states: mergePatch(current.states, patch.states),
    events: mergePatch(current.events, withoutNullAttributes(patch.events)),
    actions: mergePatch(current.actions, withoutNullAttributes(patch.actions)),
    user: { tags: mergePatch(current.user.tags, patch.user?.tags) },
    conversation: { tags: mergePatch(current.conversation.tags, patch.conversation?.tags) },
    message: { tags: mergePatch(current.message.tags, patch.message?.tags) },
    dependencies: {
      interfaces: mergePatch(current.dependencies.interfaces, dependencies.interfaces),
      integrations: mergePatch(current.dependencies.integrations, dependencies.integrations),
    },
    attributes: mergePatch(current.attributes, patch.attributes),
  }
  for (const name of ['states', 'events', 'actions'] as const) {
    checkEntries(name, next[name], max.named)
  }
  for (const name of ['user', 'conversation', 'message'] as const) {
    checkEntries(`${name}.tags`, next[name].tags, max.tags)
  }
  for (const name of ['interfaces', 'integrations'] as const) {
    checkEntries(`dependencies.${name}`, next.dependencies[name], max.dependencies)
  }
  checkSchemas(schemasOf(next))
  return next
}

/** Logs the patterns of a plugin that are not enforced, after the transaction has committed. */
export function logPatternsOfPlugin(
  tx: Tx,
  log: Pick<Log, 'warn'>,
  pluginId: string,
  definition: PluginDefinition,
): void {
  logUncheckedPatterns(tx, log, { pluginId }, schemasOf(definition))
}

function* schemasOf(definition: PluginDefinition): Schemas {
  yield ['configuration.schema', definition.configuration.schema]
  for (const part of ['states', 'events'] as const) {
    for (const [name, { schema }] of Object.entries(definition[part])) {
      yield [`${part}.${name}.schema`, schema]
    }
  }
  for (const [name, { input, output }] of Object.entries(definition.actions)) {
    yield [`actions.${name}.input.schema`, input.schema]
    yield [`actions.${name}.output.schema`, output.schema]
  }
}
