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

/** Reads valid JSON. */
function createJsonReader(text: string): { value(depth: number): Value } {
  const blank = /[\s:,]*/y
  const plain = /[^\s,:[\]{}"]*/y
  let at = 0

  /** The next character that is neither blank nor a separator. */
  function peek(): string {
    blank.lastIndex = at
    blank.exec(text)
    at = blank.lastIndex
    return text.charAt(at)
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
    for (at += 1; peek() !== ']'; ) values.push(value(depth))
    at += 1
    return values
  }

  function object(depth: number): Members {
    const members: Members['members'] = []
    for (at += 1; peek() !== '}'; ) {
      const key = string()
      members.push([key, value(depth)])
    }
    at += 1
    return { members }
  }

  function value(depth: number): Value {
    if (depth > maxDepth) throw tooDeep()
    switch (peek()) {
      case '"':
        return string()
      case '[':
        return list(depth + 1)
      case '{':
        return object(depth + 1)
      default: {
        plain.lastIndex = at
        const [literal = ''] = plain.exec(text) ?? []
        at = plain.lastIndex
        return literal === 'null' ? null : literal
      }
    }
  }

  return { value }
}
