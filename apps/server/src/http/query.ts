/**
 * Reads a query string by the schema of its operation. Clients encode maps and lists
 * in several ways, and a list of one item looks like a scalar, so only the schema determines what
 * was meant:
 *
 * - lists by repetition `ids=a&ids=b`, or with brackets `ids[]=a`, `ids[0]=a`
 * - maps with dots `tags.color=red`, brackets `tags[color]=red`, or one JSON object `tags={"color":"red"}`
 * - conditions inside a map `tags.color.not=red`, `tags[color][not][0]=red`
 *
 * Members that the schema does not know are dropped.
 */
export type QueryReader = (raw: string) => Record<string, unknown>

interface JsonSchema {
  type?: string
  properties?: Record<string, JsonSchema>
  additionalProperties?: JsonSchema | boolean
  patternProperties?: Record<string, JsonSchema>
  anyOf?: JsonSchema[]
}

type Kind = 'scalar' | 'list' | 'map'

/** More members than any operation has, to bound the work on a hostile query. */
const maxMembers = 1000
/** Words that turn the end of a map key into a condition. */
const conditions = new Set(['in', 'not', 'exists'])

export function compileQueryReader(schema: JsonSchema | undefined): QueryReader {
  const kinds = new Map<string, Kind>()
  for (const [name, property] of Object.entries(schema?.properties ?? {})) {
    kinds.set(name, kindOf(property))
  }
  return (raw) => readQuery(raw, kinds)
}

function kindOf(schema: JsonSchema): Kind {
  if (schema.type === 'array') return 'list'
  if (schema.type === 'object') return 'map'
  return 'scalar'
}

function readQuery(raw: string, kinds: ReadonlyMap<string, Kind>): Record<string, unknown> {
  const query: Record<string, unknown> = Object.create(null)
  if (raw === '' || kinds.size === 0) return query
  for (const member of raw.split('&', maxMembers)) {
    const [rawKey, rawValue] = splitOnce(member, '=')
    const { name, path } = parseKey(rawKey)
    const kind = kinds.get(name)
    if (kind === undefined) continue
    addMember(query, name, kind, path, decode(rawValue))
  }
  return query
}

function addMember(
  query: Record<string, unknown>,
  name: string,
  kind: Kind,
  path: readonly string[],
  value: string,
): void {
  if (kind === 'scalar') {
    query[name] = combine(query[name], value)
  } else if (kind === 'list') {
    query[name] = [...toList(query[name]), value]
  } else if (path.length === 0) {
    query[name] = mergeJson(query[name], value)
  } else {
    const map = toMap(query[name])
    query[name] = map
    addToMap(map, path, value)
  }
}

/** Sets `map[key]` or `map[key][condition]`; a repeated key becomes a list. */
function addToMap(map: Record<string, unknown>, path: readonly string[], value: string): void {
  const parts = path.length > 1 && isIndex(path.at(-1)) ? path.slice(0, -1) : path
  const last = parts.at(-1) ?? ''
  if (parts.length > 1 && conditions.has(last)) {
    const key = parts.slice(0, -1).join('.')
    const condition = toMap(map[key])
    condition[last] = combine(condition[last], value)
    map[key] = condition
    return
  }
  const key = parts.join('.')
  map[key] = combine(map[key], value)
}

/** Merges a whole map in one member, as JSON. Anything but an object is kept for validation to refuse. */
function mergeJson(current: unknown, value: string): unknown {
  try {
    const parsed: unknown = JSON.parse(value)
    if (isRecord(parsed)) return Object.assign(toMap(current), parsed)
  } catch {
    // Not JSON: falls through to the plain text, which validation reports as "must be an object".
  }
  return value
}

function combine(current: unknown, value: string): unknown {
  if (current === undefined) return value
  return [...toList(current), value]
}

function toList(value: unknown): unknown[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value : [value]
}

function toMap(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : Object.create(null)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The key of one member: its name and the path inside the map or list. */
function parseKey(rawKey: string): { name: string; path: string[] } {
  const key = decode(rawKey)
  const open = key.indexOf('[')
  const dot = rawKey.indexOf('.')
  // Whichever comes first: brackets after a dot are part of a name, and so are dots inside brackets.
  const dotted = dot > 0 && !/\[|%5b/i.test(rawKey.slice(0, dot))
  if (!dotted && open > 0 && key.endsWith(']')) {
    return { name: key.slice(0, open), path: key.slice(open + 1, -1).split('][') }
  }
  if (dot > 0) {
    // Split before decoding: an encoded dot or bracket is part of the name of the tag.
    const [name = '', ...path] = rawKey.split('.').map(decode)
    return { name, path }
  }
  return { name: key, path: [] }
}

function isIndex(segment: string | undefined): boolean {
  return segment === '' || (segment !== undefined && /^\d{1,4}$/.test(segment))
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)]
}

/** Percent-decodes a text; a malformed encoding is left unchanged instead of failing the request. */
function decode(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text
  const spaced = text.replaceAll('+', ' ')
  try {
    return decodeURIComponent(spaced)
  } catch {
    return spaced
  }
}
