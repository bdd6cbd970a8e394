import { ApiError, type Body, type contract, type Output } from '@botstead/contract'
import { findSchemaFault, listUncheckedPatterns } from '@botstead/json-schema'
import { requireShape } from '../../../domain/shapes.js'
import { requireNewStates } from '../../../domain/state-names.js'
import { afterCommit } from '../../../platform/db/after-commit.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { Log } from '../../../platform/telemetry/log.js'

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

/** What a bot declares, as it is stored. Every map is always there, so that readers need not ask. */
export type BotDefinition = Pick<WireBot, Part> & {
  recurringEvents: NonNullable<NewBot['recurringEvents']>
}

/** The parts of a create or update that change what a bot declares. `null` removes an entry. */
export type DefinitionPatch = Pick<BotPatch, Part | 'recurringEvents'>

type JsonMap = Record<string, unknown>

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

/** Most entries a bot may declare of each kind. */
const mostEntries = { states: 10, events: 20, actions: 200, recurringEvents: 20, tags: 50 }
/** Most tags a bot may carry itself. */
const mostOwnTags = 200
/** Most bytes of one JSON schema, and of the configuration. */
const maxSchemaBytes = 102_400
/** The same of all schemas of a definition: they are held in memory, and checked in one go. */
const maxBytesOfSchemas = 1_048_576
const maxConfigurationBytes = 20_480
/** Most patterns of one definition that are logged: each update may log them again. */
const maxLoggedPatterns = 20

/** Applies a merge patch and checks what comes out against the limits of a definition. */
export function patchDefinition(current: BotDefinition, patch: DefinitionPatch): BotDefinition {
  requireNewStates(current.states, patch.states)
  const next: BotDefinition = {
    states: mergeMap(current.states, patch.states),
    events: mergeMap(current.events, withoutNullAttributes(patch.events)),
    actions: mergeMap(current.actions, withoutNullAttributes(patch.actions)),
    recurringEvents: mergeMap(current.recurringEvents, patch.recurringEvents),
    user: { tags: mergeMap(current.user.tags, patch.user?.tags) },
    conversation: { tags: mergeMap(current.conversation.tags, patch.conversation?.tags) },
    message: { tags: mergeMap(current.message.tags, patch.message?.tags) },
    configuration: {
      data: patch.configuration?.data ?? current.configuration.data,
      schema: patch.configuration?.schema ?? current.configuration.schema,
    },
    subscriptions: patchSubscriptions(current.subscriptions, patch.subscriptions),
    medias: patch.medias ?? current.medias,
  }
  checkEntries('states', next.states, mostEntries.states)
  checkEntries('events', next.events, mostEntries.events)
  checkEntries('actions', next.actions, mostEntries.actions)
  checkEntries('recurringEvents', next.recurringEvents, mostEntries.recurringEvents)
  checkEntries('user.tags', next.user.tags, mostEntries.tags)
  checkEntries('conversation.tags', next.conversation.tags, mostEntries.tags)
  checkEntries('message.tags', next.message.tags, mostEntries.tags)
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

/** A value sets, `null` removes, a key that is not mentioned stays. */
export function mergeMap<Entry>(
  current: Record<string, Entry>,
  patch: Record<string, Entry | null> | undefined,
): Record<string, Entry> {
  if (patch === undefined) return current
  const next = new Map(Object.entries(current))
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) next.delete(key)
    else next.set(key, value)
  }
  return Object.fromEntries(next)
}

/** Tags of an update: as {@link mergeMap}, and an empty string removes too. */
export function mergeTags(
  current: Record<string, string>,
  patch: Record<string, string | null> | undefined,
): Record<string, string> {
  if (patch === undefined) return current
  const next = new Map(Object.entries(current))
  for (const [name, value] of Object.entries(patch)) {
    if (value === null || value === '') next.delete(name)
    else next.set(name, value)
  }
  const tags = Object.fromEntries(next)
  checkEntries('tags', tags, mostOwnTags)
  return tags
}

function patchSubscriptions(
  current: BotDefinition['subscriptions'],
  patch: DefinitionPatch['subscriptions'],
): BotDefinition['subscriptions'] {
  if (patch === undefined) return current
  if (patch.events === null) return { events: null }
  return { events: mergeMap(current.events ?? {}, patch.events) }
}

/** Attributes inside a definition are patched too: a null there removes the attribute. */
export function withoutNullAttributes<Entry extends { attributes?: Record<string, string | null> }>(
  patch: Record<string, Entry | null> | undefined,
) {
  if (patch === undefined) return undefined
  return Object.fromEntries(
    Object.entries(patch).map(([name, entry]) => [
      name,
      entry && { ...entry, attributes: entry.attributes && mergeMap<string>({}, entry.attributes) },
    ]),
  )
}

/** Throws `LimitExceeded` if a map of a definition holds too many. */
export function checkEntries(field: string, map: JsonMap, most: number): void {
  const count = Object.keys(map).length
  if (count > most) {
    throw new ApiError('LimitExceeded', `body.${field} may hold ${most} entries, not ${count}.`)
  }
}

/** What recurs is made as it stands, so that it has to fit when it is declared. */
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

/** Schemas of a definition, each with its path in the definition. */
type Schemas = Iterable<[field: string, schema: unknown]>

/** Logs the patterns of a bot that are not enforced, after the transaction has committed. */
export function logPatternsOfBot(
  tx: Tx,
  log: Pick<Log, 'warn'>,
  botId: string,
  definition: BotDefinition,
): void {
  logUncheckedPatterns(tx, log, { botId }, schemasOf(definition))
}

/**
 * Logs the patterns that are not enforced, because they look around or refer to a group: the author of
 * the definition expects them to be. Writes nothing if the transaction is rolled back.
 * @param owner what the definition belongs to, as fields of the log
 */
export function logUncheckedPatterns(
  tx: Tx,
  log: Pick<Log, 'warn'>,
  owner: Readonly<Record<string, string>>,
  schemas: Schemas,
): void {
  const unchecked = [...schemas].flatMap(([field, schema]) =>
    isMap(schema) ? listUncheckedPatterns(schema).map((pattern) => ({ field, pattern })) : [],
  )
  if (unchecked.length === 0) return
  afterCommit(tx, () => {
    for (const each of unchecked.slice(0, maxLoggedPatterns)) {
      log.warn({ ...owner, ...each }, 'a pattern of a JSON schema is not checked')
    }
    if (unchecked.length > maxLoggedPatterns) {
      log.warn(
        { ...owner, patterns: unchecked.length },
        'more patterns of JSON schemas are not checked than are logged',
      )
    }
  })
}

/**
 * Throws unless these members of the body are JSON Schemas of which neither one nor all together are too
 * large, or too much work to judge values by; each may be left out.
 */
export function checkSchemas(schemas: Schemas): void {
  let bytes = 0
  for (const [field, schema] of schemas) {
    if (schema === undefined) continue
    bytes += byteLength(schema)
    if (bytes > maxBytesOfSchemas) {
      throw new ApiError(
        'LimitExceeded',
        `body.${field} is too much: all schemas of a definition may have ${maxBytesOfSchemas} bytes together.`,
      )
    }
    checkSchema(field, schema)
  }
}

function checkSchema(field: string, schema: unknown): void {
  if (byteLength(schema) > maxSchemaBytes) {
    throw new ApiError('LimitExceeded', `body.${field} must have at most ${maxSchemaBytes} bytes.`)
  }
  if (!isMap(schema)) {
    throw new ApiError('InvalidJsonSchema', `body.${field} must be a JSON schema, an object.`)
  }
  const fault = findSchemaFault(schema)
  if (fault !== undefined) {
    throw new ApiError('InvalidJsonSchema', `body.${field} is not a valid JSON schema: ${fault}.`)
  }
}

function member(value: unknown, name: string): unknown {
  return isMap(value) ? value[name] : undefined
}

function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function byteLength(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
