import type { Body, contract, Output } from '@botstead/contract'
import { mergePatch } from '../../../domain/patches.js'
import { noReference } from '../../../domain/refusals.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { Log } from '../../../platform/telemetry/log.js'
import {
  checkEntries,
  checkSchemas,
  logUncheckedPatterns,
  requireNewStates,
  withoutNullAttributes,
} from '../definitions/index.js'

type WireIntegration = Output<typeof contract.integrations.get>['integration']
type Patch = Body<typeof contract.integrations.update>
type Channel = WireIntegration['channels'][string]
type ChannelPatch = NonNullable<NonNullable<Patch['channels']>[string]>
type Configuration = WireIntegration['configuration']
type ConfigurationPatch = NonNullable<Patch['configuration']>
type ImplementedPatch = NonNullable<NonNullable<Patch['interfaces']>[string]>

/** The interfaces that a workspace may implement, by id. */
export type UsableInterfaces = ReadonlyMap<string, { name: string; version: string }>

/** Whether a bot may let an integration create something, and the tags that it requires. */
export type Creation = WireIntegration['user']['creation']

/** The declarations of an integration, as stored. Every map is present. */
export type IntegrationDefinition = Pick<
  WireIntegration,
  | 'identifier'
  | 'configuration'
  | 'configurations'
  | 'channels'
  | 'states'
  | 'events'
  | 'actions'
  | 'user'
  | 'entities'
  | 'interfaces'
> & {
  sandbox: NonNullable<WireIntegration['sandbox']>
  attributes: Record<string, string>
  extraOperations: Record<string, { enabled: boolean }>
}

const noCreation = { enabled: false, requiredTags: [] }
const noConfiguration: Configuration = { schema: {}, identifier: { required: false } }
const noChannel: Channel = {
  messages: {},
  conversation: { tags: {}, creation: noCreation },
  message: { tags: {} },
}

export const emptyDefinition: IntegrationDefinition = {
  identifier: {},
  sandbox: {},
  configuration: noConfiguration,
  configurations: {},
  channels: {},
  states: {},
  events: {},
  actions: {},
  user: { tags: {}, creation: noCreation },
  entities: {},
  interfaces: {},
  attributes: {},
  extraOperations: {},
}

/** Maximum number of entries of each kind. */
const max = { channels: 50, interfaces: 50, messages: 50, tags: 50, named: 200 }

/** A definition as stored, also by versions of the server that knew fewer parts. */
export function readDefinition(stored: string): IntegrationDefinition {
  return { ...emptyDefinition, ...decodeJson<Partial<IntegrationDefinition>>(stored) }
}

/**
 * Applies a merge patch and checks the result.
 * @param interfaces those among `interfacesIn` that may be implemented
 */
export function patchDefinition(
  current: IntegrationDefinition,
  patch: Patch,
  interfaces: UsableInterfaces,
): IntegrationDefinition {
  requireNewStates(current.states, patch.states)
  const next: IntegrationDefinition = {
    identifier: withoutNulls({ ...current.identifier, ...patch.identifier }),
    sandbox: withoutNulls({ ...current.sandbox, ...patch.sandbox }),
    configuration: patch.configuration
      ? toConfiguration(patch.configuration)
      : current.configuration,
    configurations: mergePatch(
      current.configurations,
      mapEntries(patch.configurations, toConfiguration),
    ),
    channels: mergeChannels(current.channels, patch.channels),
    states: mergePatch(current.states, patch.states),
    events: mergePatch(current.events, withoutNullAttributes(patch.events)),
    actions: mergePatch(current.actions, withoutNullAttributes(patch.actions)),
    user: {
      tags: mergePatch(current.user.tags, patch.user?.tags),
      creation: patch.user?.creation ?? current.user.creation,
    },
    entities: mergePatch(current.entities, patch.entities),
    interfaces: mergePatch(
      current.interfaces,
      mapEntries(patch.interfaces, (given, alias) => toImplemented(given, alias, interfaces)),
    ),
    attributes: mergePatch(current.attributes, patch.attributes),
    extraOperations: mergePatch(current.extraOperations, patch.extraOperations),
  }
  checkAll(next)
  return next
}

/** Ids of the interfaces that a patch names. */
export function interfacesIn(patch: Pick<Patch, 'interfaces'>): string[] {
  return Object.values(patch.interfaces ?? {}).flatMap((given) => given?.id ?? [])
}

function toImplemented(
  { id, entities = {}, actions = {}, events = {}, channels = {} }: ImplementedPatch,
  alias: string,
  interfaces: UsableInterfaces,
): IntegrationDefinition['interfaces'][string] {
  const found = interfaces.get(id)
  if (found === undefined) {
    throw noReference(
      `body.interfaces.${alias}.id`,
      'interface',
      id,
      'in this workspace or in the hub',
    )
  }
  const { name, version } = found
  return { id, name, version, entities, actions, events, channels }
}

function toConfiguration({ identifier, schema, ...rest }: ConfigurationPatch): Configuration {
  const { linkTemplateScript, required = false } = identifier ?? {}
  return {
    ...rest,
    schema: schema ?? {},
    identifier: { required, ...(linkTemplateScript && { linkTemplateScript }) },
  }
}

function mergeChannels(
  current: Record<string, Channel>,
  patch: Patch['channels'],
): Record<string, Channel> {
  const merged = Object.entries(patch ?? {}).map(([name, channel]) => {
    const before = Object.hasOwn(current, name) ? current[name] : undefined
    return [name, channel && mergeChannel(before ?? noChannel, channel)] as const
  })
  return mergePatch(current, Object.fromEntries(merged))
}

function mergeChannel(current: Channel, patch: ChannelPatch): Channel {
  const { title = current.title, description = current.description } = patch
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    messages: mergePatch(current.messages, patch.messages),
    conversation: {
      tags: mergePatch(current.conversation.tags, patch.conversation?.tags),
      creation: patch.conversation?.creation ?? current.conversation.creation,
    },
    message: { tags: mergePatch(current.message.tags, patch.message?.tags) },
  }
}

function mapEntries<From, To>(
  map: Record<string, From | null> | undefined,
  change: (value: From, name: string) => To,
): Record<string, To | null> | undefined {
  if (map === undefined) return undefined
  return Object.fromEntries(
    Object.entries(map).map(([name, value]) => [name, value === null ? null : change(value, name)]),
  )
}

function withoutNulls(map: Record<string, string | null | undefined>): Record<string, string> {
  const given = Object.entries(map).filter((entry): entry is [string, string] => !!entry[1])
  return Object.fromEntries(given)
}

function checkAll(definition: IntegrationDefinition): void {
  for (const name of ['states', 'events', 'actions', 'entities', 'configurations'] as const) {
    checkEntries(name, definition[name], max.named)
  }
  checkEntries('channels', definition.channels, max.channels)
  checkEntries('interfaces', definition.interfaces, max.interfaces)
  checkEntries('user.tags', definition.user.tags, max.tags)
  for (const [name, channel] of Object.entries(definition.channels)) {
    checkEntries(`channels.${name}.messages`, channel.messages, max.messages)
    checkEntries(`channels.${name}.conversation.tags`, channel.conversation.tags, max.tags)
    checkEntries(`channels.${name}.message.tags`, channel.message.tags, max.tags)
  }
  checkSchemas(schemasOf(definition))
}

/** Logs the patterns of an integration that are not enforced, after the transaction has committed. */
export function logPatternsOfIntegration(
  tx: Tx,
  log: Pick<Log, 'warn'>,
  integrationId: string,
  definition: IntegrationDefinition,
): void {
  logUncheckedPatterns(tx, log, { integrationId }, schemasOf(definition))
}

function* schemasOf(definition: IntegrationDefinition): Iterable<[field: string, schema: unknown]> {
  yield ['configuration.schema', definition.configuration.schema]
  for (const part of ['configurations', 'states', 'events', 'entities'] as const) {
    for (const [name, { schema }] of Object.entries(definition[part])) {
      yield [`${part}.${name}.schema`, schema]
    }
  }
  for (const [name, { input, output }] of Object.entries(definition.actions)) {
    yield [`actions.${name}.input.schema`, input.schema]
    yield [`actions.${name}.output.schema`, output.schema]
  }
  for (const [name, { messages }] of Object.entries(definition.channels)) {
    for (const [type, { schema }] of Object.entries(messages)) {
      yield [`channels.${name}.messages.${type}.schema`, schema]
    }
  }
}
