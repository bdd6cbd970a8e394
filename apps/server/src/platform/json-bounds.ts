// JSON of others is looked at before it is parsed: each value of two bytes becomes an object of 50 or more, and what
// nests deeply exhausts the stack of whoever walks through it, such as `JSON.stringify`.

/** Nesting levels of JSON that is passed on; serializing deeper ones would exhaust the stack. */
export const maxJsonDepth = 500

/** Whether a JSON text has more nesting levels than allowed; short ones are not read. */
export function nestsDeeper(json: string, allowed: number): boolean {
  if (json.length <= 2 * allowed) return false
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    switch (json[at]) {
      case '"':
        at = endOfString(json, at)
        break
      case '{':
      case '[':
        depth += 1
        if (depth > allowed) return true
        break
      case '}':
      case ']':
        depth -= 1
        break
    }
  }
  return false
}

/**
 * Whether a JSON text has more values than allowed, give or take one; short ones are not read. Lists and objects count
 * as values, names of members do not.
 */
export function hasMoreValues(json: string, allowed: number): boolean {
  // Each value but the outermost takes two characters or more.
  if (json.length <= 2 * allowed) return false
  let values = 1
  for (let at = 0; at < json.length; at++) {
    switch (json[at]) {
      case '"':
        at = endOfString(json, at)
        break
      case '{':
      case '[':
      case ',':
        values += 1
        if (values > allowed) return true
        break
      case '}':
      case ']':
        // The value that its bracket announced is not there.
        if (json[at - 1] === '{' || json[at - 1] === '[') values -= 1
        break
    }
  }
  return values > allowed
}

/** Whether a JSON text has more objects, lists and texts than allowed, names of members included; short ones are not read. */
export function hasMoreObjects(json: string, allowed: number): boolean {
  if (json.length <= 2 * allowed) return false
  let objects = 0
  for (let at = 0; at < json.length; at++) {
    const character = json[at]
    if (character !== '"' && character !== '{' && character !== '[') continue
    objects += 1
    if (objects > allowed) return true
    if (character === '"') at = endOfString(json, at)
  }
  return false
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
