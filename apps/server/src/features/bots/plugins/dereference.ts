import { ApiError } from '@botstead/contract'
import { isMap } from '../definitions/index.js'
import type { PluginDefinition } from './definition.js'

type Schema = Record<string, unknown>

/** The schema of an entity of an interface; undefined if it is not known. */
export type FindEntity = (interfaceAlias: string, entity: string) => Schema | undefined

/** The form in which schemas of plugins refer to an entity. */
const reference = /^interface:([^/]+)\/entities\/(.+)$/

/** Maximum bytes of all schemas that replace references: a short reference may stand for a large schema. */
const maxReplacedBytes = 4 * 1024 * 1024

/**
 * A definition in which references to entities of interfaces are replaced by their schemas; unknown ones stay.
 * Throws `LimitExceeded` if that makes it too large.
 */
export function dereferenced(definition: PluginDefinition, find: FindEntity): PluginDefinition {
  let bytes = 0

  function replaced(part: unknown): unknown {
    if (Array.isArray(part)) return part.map(replaced)
    if (!isMap(part)) return part
    const entity = typeof part.$ref === 'string' ? entityOf(part.$ref) : undefined
    if (entity !== undefined) return entity
    return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, replaced(value)]))
  }

  function entityOf(ref: string): Schema | undefined {
    const [, alias, name] = reference.exec(ref) ?? []
    const schema = alias === undefined || name === undefined ? undefined : find(alias, name)
    if (schema === undefined) return undefined
    bytes += Buffer.byteLength(JSON.stringify(schema))
    if (bytes <= maxReplacedBytes) return schema
    throw new ApiError(
      'LimitExceeded',
      `The schemas of the entities that this plugin refers to may have ${maxReplacedBytes} bytes together.`,
    )
  }

  const schemaOf = (schema: Schema): Schema => {
    const next = replaced(schema)
    return isMap(next) ? next : schema
  }
  const mapped = <Entry>(entries: Record<string, Entry>, change: (entry: Entry) => Entry) =>
    Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, change(entry)]))

  return {
    ...definition,
    configuration: {
      ...definition.configuration,
      schema: schemaOf(definition.configuration.schema),
    },
    states: mapped(definition.states, (state) => ({ ...state, schema: schemaOf(state.schema) })),
    events: mapped(definition.events, (event) => ({ ...event, schema: schemaOf(event.schema) })),
    actions: mapped(definition.actions, (action) => ({
      ...action,
      input: { schema: schemaOf(action.input.schema) },
      output: { schema: schemaOf(action.output.schema) },
    })),
  }
}
