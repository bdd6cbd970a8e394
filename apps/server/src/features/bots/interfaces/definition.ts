import type { Body, contract, Output } from '@botstead/contract'
import { mergePatch } from '../../../domain/patches.js'
import {
  checkEntries,
  checkSchemas,
  type Schemas,
  withoutNullAttributes,
} from '../definitions/index.js'

type WireInterface = Output<typeof contract.interfaces.get>['interface']
export type InterfacePatch = Body<typeof contract.interfaces.update>
export type NewInterface = Body<typeof contract.interfaces.create>
type Channel = WireInterface['channels'][string]

/** The declarations of an interface, as stored. Every map is present. */
export type InterfaceDefinition = Pick<
  WireInterface,
  'entities' | 'events' | 'actions' | 'channels' | 'nameTemplate'
> & { attributes: Record<string, string> }

export const emptyDefinition: InterfaceDefinition = {
  entities: {},
  events: {},
  actions: {},
  channels: {},
  attributes: {},
}

/** Maximum number of entries of each kind. */
const max = { channels: 50, messages: 50, named: 200 }

/** Applies a merge patch and checks the result. */
export function patchDefinition(
  current: InterfaceDefinition,
  patch: InterfacePatch,
): InterfaceDefinition {
  const { nameTemplate = current.nameTemplate } = patch
  const next: InterfaceDefinition = {
    entities: mergePatch(current.entities, patch.entities),
    events: mergePatch(current.events, withoutNullAttributes(patch.events)),
    actions: mergePatch(current.actions, withoutNullAttributes(patch.actions)),
    channels: mergeChannels(current.channels, patch.channels),
    ...(nameTemplate && { nameTemplate }),
    attributes: mergePatch(current.attributes, patch.attributes),
  }
  for (const name of ['entities', 'events', 'actions'] as const) {
    checkEntries(name, next[name], max.named)
  }
  checkEntries('channels', next.channels, max.channels)
  for (const [name, { messages }] of Object.entries(next.channels)) {
    checkEntries(`channels.${name}.messages`, messages, max.messages)
  }
  checkSchemas(schemasOf(next))
  return next
}

function mergeChannels(
  current: Record<string, Channel>,
  patch: InterfacePatch['channels'],
): Record<string, Channel> {
  const merged = Object.entries(patch ?? {}).map(([name, channel]) => {
    if (channel === null) return [name, null] as const
    const { messages, ...before } = (Object.hasOwn(current, name) && current[name]) || {
      messages: {},
    }
    const { messages: changed, ...about } = channel
    return [name, { ...before, ...about, messages: mergePatch(messages, changed) }] as const
  })
  return mergePatch(current, Object.fromEntries(merged))
}

function* schemasOf(definition: InterfaceDefinition): Schemas {
  for (const part of ['entities', 'events'] as const) {
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
