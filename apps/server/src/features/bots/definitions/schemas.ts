import { ApiError } from '@botstead/contract'
import { findSchemaFault, listUncheckedPatterns } from '@botstead/json-schema'
import { mergePatch } from '../../../domain/patches.js'
import type { Tx } from '../../../platform/db/schema.js'
import { afterCommit } from '../../../platform/db/transaction.js'
import type { Log } from '../../../platform/telemetry/log.js'

type JsonMap = Record<string, unknown>

/** Schemas of a definition, each with its path in the definition. */
export type Schemas = Iterable<[field: string, schema: unknown]>

/** Most bytes of one JSON schema. */
const maxSchemaBytes = 102_400
/** Most bytes of all schemas of a definition: they are held in memory and checked together. */
const maxBytesOfSchemas = 1_048_576
/** Most patterns of one definition that are logged: each update may log them again. */
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
export function checkEntries(field: string, map: JsonMap, most: number): void {
  const count = Object.keys(map).length
  if (count > most) {
    throw new ApiError('LimitExceeded', `body.${field} may hold ${most} entries, not ${count}.`)
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

export function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function byteLength(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
