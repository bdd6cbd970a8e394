import { ExtractionError } from '../document/extraction.js'

/**
 * A value of JSON or YAML. Numbers and other plain values are what the source says and not what they mean to a program:
 * `1.10`, `01234` and ids of 18 digits are written so for a reason.
 */
export type Value = string | null | Value[] | Members

/** An object, with all members in the order of the source, also those of which the key occurs twice. */
export interface Members {
  members: [key: string, value: Value][]
}

/** Levels of data, which are walked recursively. */
export const maxDepth = 100

/** The error for data that is nested more deeply than `maxDepth`. */
export function tooDeep(): ExtractionError {
  return new ExtractionError(
    'too_deep',
    `The data is nested more than ${maxDepth} levels deep. Flatten it and upload it again.`,
  )
}

/**
 * Reads a value of JSON.
 *
 * @throws SyntaxError if it is not valid
 * @throws ExtractionError if it is nested too deeply
 */
export function readJson(text: string): Value {
  // The parser of JavaScript checks and explains; what it makes of numbers is not used.
  JSON.parse(text)
  return createJsonReader(text).value(0)
}

const codes = { quote: 0x22, list: 0x5b, listEnd: 0x5d, object: 0x7b, objectEnd: 0x7d }

/** Whether a character is blank, a comma or a colon: of valid JSON, none of them says more. */
function isBetween(code: number): boolean {
  return (
    code === 0x20 ||
    code === 0x2c ||
    code === 0x3a ||
    code === 0x0a ||
    code === 0x0d ||
    code === 0x09
  )
}

function isEnd(code: number): boolean {
  return code === codes.listEnd || code === codes.objectEnd
}

/** Reads valid JSON. */
function createJsonReader(text: string): { value(depth: number): Value } {
  let at = 0

  /** The code of the next character that is neither blank nor a separator. */
  function peek(): number {
    while (isBetween(text.charCodeAt(at))) at += 1
    return text.charCodeAt(at)
  }

  function string(): string {
    const start = at
    let end = text.indexOf('"', start + 1)
    while (isEscaped(end)) end = text.indexOf('"', end + 1)
    at = end + 1
    const content = text.slice(start + 1, end)
    return content.includes('\\') ? String(JSON.parse(`"${content}"`)) : content
  }

  function isEscaped(quote: number): boolean {
    let from = quote
    while (text.charAt(from - 1) === '\\') from -= 1
    return (quote - from) % 2 === 1
  }

  function list(depth: number): Value[] {
    const values: Value[] = []
    for (at += 1; peek() !== codes.listEnd; ) values.push(value(depth))
    at += 1
    return values
  }

  function object(depth: number): Members {
    const members: Members['members'] = []
    for (at += 1; peek() !== codes.objectEnd; ) {
      const key = string()
      members.push([key, value(depth)])
    }
    at += 1
    return { members }
  }

  /** A number, or a word such as `true`. */
  function literal(): Value {
    const start = at
    while (at < text.length && !isBetween(text.charCodeAt(at)) && !isEnd(text.charCodeAt(at)))
      at += 1
    const written = text.slice(start, at)
    return written === 'null' ? null : written
  }

  function value(depth: number): Value {
    if (depth > maxDepth) throw tooDeep()
    const code = peek()
    if (code === codes.quote) return string()
    if (code === codes.list) return list(depth + 1)
    return code === codes.object ? object(depth + 1) : literal()
  }

  return { value }
}
