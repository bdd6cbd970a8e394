import { ApiError } from '@botstead/contract'
import { findSchemaFault, listUncheckedPatterns } from '@botstead/json-schema'
import { mergePatch } from '../../../domain/patches.js'
import { fieldError } from '../../../domain/refusals.js'
import type { Tx } from '../../../platform/db/schema.js'
import { afterCommit } from '../../../platform/db/transaction.js'
import type { Log } from '../../../platform/telemetry/log.js'

type JsonMap = Record<string, unknown>

/** Schemas of a definition, each with its path in the definition. */
export type Schemas = Iterable<[field: string, schema: unknown]>

/** Maximum bytes of one JSON schema. */
const maxSchemaBytes = 102_400
/** Maximum bytes of all schemas of a definition: they are held in memory and checked together. */
const maxBytesOfSchemas = 1_048_576
/** Maximum number of patterns of one definition that are logged: each update may log them again. */
const maxLoggedPatterns = 20

/** Attributes inside a definition are patched too: null removes an attribute. */
export function withoutNullAttributes<Entry extends { attributes?: Record<string, string | null> }>(
  patch: Record<string, Entry | null> | undefined,
) {
  if (patch === undefined) return undefined
  return Object.fromEntries(
    Object.entries(patch).map(([name, entry]) => [
      name,
      entry && {
        ...entry,
        attributes: entry.attributes && mergePatch<string>({}, entry.attributes),
      },
    ]),
  )
}

/** Throws `LimitExceeded` if a map of a definition holds too many. */
export function checkEntries(field: string, map: JsonMap, max: number): void {
  const count = Object.keys(map).length
  if (count > max) {
    throw new ApiError('LimitExceeded', `body.${field} may hold ${max} entries, not ${count}.`)
  }
}

/**
 * Logs the patterns that are not enforced because they use lookaround or backreferences; the author
 * of the definition expects them to be enforced. Writes nothing if the transaction is rolled back.
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
 * Throws unless these members of the body are JSON Schemas that are, each and together, neither too
 * large nor too expensive to validate with. Each may be left out.
 */
export function checkSchemas(schemas: Schemas): void {
  let bytes = 0
  for (const [field, schema] of schemas) {
    if (schema === undefined) continue
    bytes += byteLength(schema)
    if (bytes > maxBytesOfSchemas) {
      throw new ApiError(
        'LimitExceeded',
        `body.${field} is too large: all schemas of a definition may have ${maxBytesOfSchemas} bytes together.`,
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

/** Whether a value is a JSON object: neither null nor an array. */
export function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Bytes of a value as JSON. */
export function byteLength(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

const httpAddress = /^https?:\/\/[^/]/i

/** Whether a text is an address that can be called. */
export function isHttpAddress(text: string): boolean {
  return httpAddress.test(text) && URL.canParse(text)
}

/**
 * Throws unless the address of a bot or an integration can be called; null and undefined mean no
 * address.
 */
export function requireServerAddress(url: string | null | undefined): void {
  if (url === null || url === undefined || isHttpAddress(url)) return
  throw fieldError(
    'body.url',
    'must be an http or https address such as https://bots.example.com/guide.',
    'InvalidDataFormat',
  )
}

/** States of plugins have the alias of the plugin and `#` before their name. */
const stateName = /^(?:[a-zA-Z0-9][a-zA-Z0-9/_.-]{0,98}#)?[a-z][a-zA-Z0-9]{1,99}$/

/**
 * Throws `InvalidIdentifier` unless a state can have this name.
 * @param part where in the request the name is
 * @param field what to call it there
 */
export function requireStateName(name: string, part: 'body' | 'params', field: string): void {
  if (stateName.test(name)) return
  throw new ApiError(
    'InvalidIdentifier',
    `${part}.${field}: must be 2 to 100 letters and digits, starting with a lowercase letter; the alias of a plugin and # may precede it.`,
    { metadata: { in: part, field } },
  )
}

/** The same for the states that a definition adds; those that it has already may keep their names. */
export function requireNewStates(
  current: Record<string, unknown>,
  patch: Record<string, unknown> | undefined,
): void {
  for (const [name, state] of Object.entries(patch ?? {})) {
    if (state === null || Object.hasOwn(current, name)) continue
    requireStateName(name, 'body', `states.${name}`)
  }
}
