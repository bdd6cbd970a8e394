import { ApiError, type Body, type contract, type Output } from '@botstead/contract'
import { mergePatch } from '../../../domain/patches.js'
import { requireShape } from '../../../domain/payload.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { Log } from '../../../platform/telemetry/log.js'
import {
  byteLength,
  checkEntries,
  checkSchemas,
  isMap,
  logUncheckedPatterns,
  requireNewStates,
  type Schemas,
  withoutNullAttributes,
} from '../definitions/index.js'

type WireBot = Output<typeof contract.bots.get>['bot']
type NewBot = Body<typeof contract.bots.create>
type BotPatch = Body<typeof contract.bots.update>

type Part =
  | 'states'
  | 'events'
  | 'actions'
  | 'user'
  | 'conversation'
  | 'message'
  | 'configuration'
  | 'subscriptions'
  | 'medias'

/** The declarations of a bot, as stored. Every map is present, so that readers need not check. */
export type BotDefinition = Pick<WireBot, Part> & {
  recurringEvents: NonNullable<NewBot['recurringEvents']>
}

/** The parts of a create or update that change what a bot declares. `null` removes an entry. */
export type DefinitionPatch = Pick<BotPatch, Part | 'recurringEvents'>

export const emptyDefinition: BotDefinition = {
  states: {},
  events: {},
  actions: {},
  recurringEvents: {},
  user: { tags: {} },
  conversation: { tags: {} },
  message: { tags: {} },
  configuration: { data: {}, schema: {} },
  subscriptions: { events: null },
  medias: [],
}

/** Maximum number of entries a bot may declare of each kind. */
const maxEntries = { states: 10, events: 20, actions: 200, recurringEvents: 20, tags: 50 }
/** Maximum number of tags of a bot itself. */
const maxOwnTags = 200
/** Maximum bytes of the configuration of a bot. */
const maxConfigurationBytes = 20_480
/** Applies a merge patch and checks the result against the limits of a definition. */
export function patchDefinition(current: BotDefinition, patch: DefinitionPatch): BotDefinition {
  requireNewStates(current.states, patch.states)
  const next: BotDefinition = {
    states: mergePatch(current.states, patch.states),
    events: mergePatch(current.events, withoutNullAttributes(patch.events)),
    actions: mergePatch(current.actions, withoutNullAttributes(patch.actions)),
    recurringEvents: mergePatch(current.recurringEvents, patch.recurringEvents),
    user: { tags: mergePatch(current.user.tags, patch.user?.tags) },
    conversation: { tags: mergePatch(current.conversation.tags, patch.conversation?.tags) },
    message: { tags: mergePatch(current.message.tags, patch.message?.tags) },
    configuration: {
      data: patch.configuration?.data ?? current.configuration.data,
      schema: patch.configuration?.schema ?? current.configuration.schema,
    },
    subscriptions: patchSubscriptions(current.subscriptions, patch.subscriptions),
    medias: patch.medias ?? current.medias,
  }
  checkEntries('states', next.states, maxEntries.states)
  checkEntries('events', next.events, maxEntries.events)
  checkEntries('actions', next.actions, maxEntries.actions)
  checkEntries('recurringEvents', next.recurringEvents, maxEntries.recurringEvents)
  checkEntries('user.tags', next.user.tags, maxEntries.tags)
  checkEntries('conversation.tags', next.conversation.tags, maxEntries.tags)
  checkEntries('message.tags', next.message.tags, maxEntries.tags)
  checkSchemas(schemasOf(next))
  checkRecurring(next)
  if (byteLength(next.configuration.data) > maxConfigurationBytes) {
    throw new ApiError(
      'LimitExceeded',
      `body.configuration.data must have at most ${maxConfigurationBytes} bytes of JSON.`,
    )
  }
  return next
}

/** Tags of an update: as `mergePatch`, and an empty string removes too. */
export function mergeTags(
  current: Record<string, string>,
  patch: Record<string, string | null> | undefined,
): Record<string, string> {
  if (patch === undefined) return current
  const entries = Object.entries(patch).map(([name, value]) => [name, value === '' ? null : value])
  const tags = mergePatch<string>(current, Object.fromEntries(entries))
  checkEntries('tags', tags, maxOwnTags)
  return tags
}

function patchSubscriptions(
  current: BotDefinition['subscriptions'],
  patch: DefinitionPatch['subscriptions'],
): BotDefinition['subscriptions'] {
  if (patch === undefined) return current
  if (patch.events === null) return { events: null }
  return { events: mergePatch(current.events ?? {}, patch.events) }
}

/**
 * Recurring events are created from the declared payload, so the payload must fit its schema now.
 */
function checkRecurring({ events, recurringEvents }: BotDefinition): void {
  for (const [name, { type, payload }] of Object.entries(recurringEvents)) {
    const schema = Object.hasOwn(events, type) ? events[type]?.schema : undefined
    if (schema === undefined) continue
    requireShape(schema, payload, `recurringEvents.${name}.payload`, `the event ${type}`)
  }
}

function* schemasOf(definition: BotDefinition): Schemas {
  yield ['configuration.schema', definition.configuration.schema]
  for (const part of ['states', 'events'] as const) {
    for (const [name, entry] of Object.entries(definition[part])) {
      yield [`${part}.${name}.schema`, member(entry, 'schema')]
    }
  }
  for (const [name, action] of Object.entries(definition.actions)) {
    yield [`actions.${name}.input.schema`, member(member(action, 'input'), 'schema')]
    yield [`actions.${name}.output.schema`, member(member(action, 'output'), 'schema')]
  }
}

/** Logs the patterns of a bot that are not enforced, after the transaction has committed. */
export function logPatternsOfBot(
  tx: Tx,
  log: Pick<Log, 'warn'>,
  botId: string,
  definition: BotDefinition,
): void {
  logUncheckedPatterns(tx, log, { botId }, schemasOf(definition))
}

function member(value: unknown, name: string): unknown {
  return isMap(value) ? value[name] : undefined
}
