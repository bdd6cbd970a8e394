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
  try {
    return createJsonReader(text).whole()
  } catch (error) {
    // Another parser would nest as deeply as the file, in memory that nothing bounds.
    if (error instanceof ExtractionError) throw error
    // The parser of JavaScript says where the fault is.
    JSON.parse(text)
    throw error
  }
}

const codes = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  list: 0x5b,
  listEnd: 0x5d,
  object: 0x7b,
  objectEnd: 0x7d,
}
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are not valid in strings
const unescaped = /[\x00-\x1f]/

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

/** Reads JSON. Its functions throw at the first fault, without saying which one. */
function createJsonReader(text: string): { whole(): Value } {
  let at = 0
  const plain = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y

  /** The code of the next character that is not blank. */
  function peek(): number {
    while (isBlank(text.charCodeAt(at))) at += 1
    return text.charCodeAt(at)
  }

  function expect(code: number): void {
    if (peek() !== code) throw new SyntaxError('not valid JSON')
    at += 1
  }

  function string(): string {
    expect(codes.quote)
    const start = at
    let end = text.indexOf('"', start)
    while (isEscaped(end)) end = text.indexOf('"', end + 1)
    if (end === -1) throw new SyntaxError('not valid JSON')
    at = end + 1
    const content = text.slice(start, end)
    if (content.includes('\\')) return String(JSON.parse(`"${content}"`))
    if (unescaped.test(content)) throw new SyntaxError('not valid JSON')
    return content
  }

  function isEscaped(quote: number): boolean {
    let from = quote
    while (text.charAt(from - 1) === '\\') from -= 1
    return (quote - from) % 2 === 1
  }

  /** Whether another part follows in a list or an object, of which `count` parts were read. */
  function hasNext(count: number, end: number): boolean {
    if (peek() === end) {
      at += 1
      return false
    }
    if (count > 0) expect(codes.comma)
    return true
  }

  function list(depth: number): Value[] {
    const values: Value[] = []
    at += 1
    while (hasNext(values.length, codes.listEnd)) values.push(value(depth))
    return values
  }

  function object(depth: number): Members {
    const members: Members['members'] = []
    at += 1
    while (hasNext(members.length, codes.objectEnd)) {
      const key = string()
      expect(codes.colon)
      members.push([key, value(depth)])
    }
    return { members }
  }

  /** A number, or a word such as `true`. */
  function literal(): Value {
    plain.lastIndex = at
    if (!plain.test(text)) throw new SyntaxError('not valid JSON')
    const written = text.slice(at, plain.lastIndex)
    at = plain.lastIndex
    return written === 'null' ? null : written
  }

  function value(depth: number): Value {
    if (depth > maxDepth) throw tooDeep()
    const code = peek()
    if (code === codes.quote) return string()
    if (code === codes.list) return list(depth + 1)
    return code === codes.object ? object(depth + 1) : literal()
  }

  return {
    whole() {
      const whole = value(0)
      peek()
      if (at < text.length) throw new SyntaxError('not valid JSON')
      return whole
    },
  }
}
