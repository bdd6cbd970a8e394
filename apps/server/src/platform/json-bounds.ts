// JSON of others is looked at before it is parsed: each value of two bytes becomes an object of 50 or more, and what
// nests deeply exhausts the stack of whoever walks through it, such as `JSON.stringify`.

/** Nesting levels of JSON that is passed on; serializing deeper ones would exhaust the stack. */
export const maxJsonDepth = 500

/** Upper bounds for a JSON text; an omitted bound is unlimited. */
export interface JsonBounds {
  /** Nesting levels. */
  depth?: number
  /** Objects, lists and texts, names of members included. */
  objects?: number
  /** Values, give or take one. Lists and objects count as values, names of members do not. */
  values?: number
}

/**
 * Returns the first bound that a JSON text exceeds, in one pass; undefined if none. It does not read texts that are
 * too short to exceed one.
 */
export function exceededBound(
  json: string,
  {
    depth: maxDepth = Number.POSITIVE_INFINITY,
    objects: maxObjects = Number.POSITIVE_INFINITY,
    values: maxValues = Number.POSITIVE_INFINITY,
  }: JsonBounds,
): keyof JsonBounds | undefined {
  // A level, an object or a value takes two characters or more, except for the outermost value.
  if (json.length <= 2 * Math.min(maxDepth, maxObjects, maxValues)) return undefined
  let depth = 0
  let objects = 0
  let values = 1
  for (let at = 0; at < json.length; at++) {
    switch (json[at]) {
      case '"':
        objects += 1
        at = endOfString(json, at)
        break
      case '{':
      case '[':
        depth += 1
        objects += 1
        values += 1
        break
      case ',':
        values += 1
        break
      case '}':
      case ']':
        depth -= 1
        // The value that its bracket announced is not there.
        if (json[at - 1] === '{' || json[at - 1] === '[') values -= 1
        continue
      default:
        continue
    }
    if (depth > maxDepth) return 'depth'
    if (objects > maxObjects) return 'objects'
    if (values > maxValues) return 'values'
  }
  return values > maxValues ? 'values' : undefined
}

/** The end of the string that starts here, by `indexOf`, because strings make up most of a large body. */
function endOfString(json: string, start: number): number {
  let at = start
  do {
    at = json.indexOf('"', at + 1)
    if (at < 0) return json.length
  } while (isEscaped(json, at))
  return at
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0
  while (json[at - 1 - backslashes] === '\\') backslashes += 1
  return backslashes % 2 === 1
}
