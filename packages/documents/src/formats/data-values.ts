import { ExtractionError } from '../document/extraction.js'

/**
 * A value of JSON or YAML. Numbers and other plain values are texts as in the source, and not values of a program:
 * `1.10`, `01234` and ids of 18 digits are written so for a reason.
 */
export type Value = string | null | Value[] | Members

/**
 * An object, with all members in the order of the source, also those of which the key occurs twice. Two lists instead of
 * one of pairs: a file may have a million members, and each pair would be an object more.
 */
export interface Members {
  keys: string[]
  /** Of the keys, at the same places. */
  values: Value[]
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

/** The key under which comments stand, as people write them in JSON without comments. */
const commentKey = '//'

/**
 * Reads a value of JSON.
 *
 * @param options.comments whether comments and a comma behind the last part are valid, as in the settings of many
 *   programs. A comment becomes a member `//` of its object, or an item of its list.
 * @throws SyntaxError if it is not valid
 * @throws ExtractionError if it is nested too deeply
 */
export function readJson(text: string, options = { comments: false }): Value {
  try {
    return createJsonReader(text, options).whole()
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
  backslash: 0x5c,
  slash: 0x2f,
  star: 0x2a,
  list: 0x5b,
  listEnd: 0x5d,
  object: 0x7b,
  objectEnd: 0x7d,
}
function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

/** Reads JSON. Its functions throw at the first fault, without saying which one. */
function createJsonReader(text: string, { comments }: { comments: boolean }): { whole(): Value } {
  let at = 0
  /** Comments that belong to the object or the list that is open. */
  let noted: string[] = []
  const plain = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y

  /** The code of the next character that is neither blank nor in a comment. */
  function peek(): number {
    for (;;) {
      while (isBlank(text.charCodeAt(at))) at += 1
      const code = text.charCodeAt(at)
      if (code !== codes.slash || !comments) return code
      comment()
    }
  }

  function comment(): void {
    const isLong = text.charCodeAt(at + 1) === codes.star
    if (!isLong && text.charCodeAt(at + 1) !== codes.slash) throw new SyntaxError('not valid JSON')
    const found = text.indexOf(isLong ? '*/' : '\n', at + 2)
    if (found === -1 && isLong) throw new SyntaxError('not valid JSON')
    const end = found === -1 ? text.length : found
    const lines = text.slice(at + 2, end).split('\n')
    const words = lines.map((line) => line.replace(/^\s*\*/, '').trim()).filter(Boolean)
    if (words.length > 0) noted.push(words.join(' '))
    at = isLong ? end + 2 : end
  }

  function expect(code: number): void {
    if (peek() !== code) throw new SyntaxError('not valid JSON')
    at += 1
  }

  function string(): string {
    expect(codes.quote)
    const start = at
    let isEscaped = false
    for (let code = text.charCodeAt(at); code !== codes.quote; code = text.charCodeAt(at)) {
      // Control characters are not valid in strings; nor is the end of the text, of which the code is not a number.
      if (!(code >= 0x20)) throw new SyntaxError('not valid JSON')
      isEscaped ||= code === codes.backslash
      at += code === codes.backslash ? 2 : 1
    }
    const content = text.slice(start, at)
    at += 1
    return isEscaped ? String(JSON.parse(`"${content}"`)) : content
  }

  /** Whether another part follows in a list or an object, of which `count` parts were read. */
  function hasNext(count: number, end: number): boolean {
    if (peek() !== end && count > 0) expect(codes.comma)
    else if (text.charCodeAt(at) !== end) return true
    else return close()
    return comments && peek() === end ? close() : true
  }

  function close(): false {
    at += 1
    return false
  }

  function list(depth: number): Value[] {
    const values: Value[] = []
    at += 1
    while (hasNext(values.length, codes.listEnd)) {
      const inner = value(depth)
      // An object that follows has the comments above it among its members, so that a list of objects stays one.
      if (typeof inner !== 'object' || inner === null) addNoted(values)
      values.push(inner)
    }
    addNoted(values)
    return values
  }

  function object(depth: number): Members {
    const members: Members = { keys: [], values: [] }
    at += 1
    while (hasNext(members.keys.length, codes.objectEnd)) {
      addNoted(members)
      members.keys.push(string())
      expect(codes.colon)
      members.values.push(value(depth))
    }
    addNoted(members)
    return members
  }

  function addNoted(target: Value[] | Members): void {
    if (noted.length === 0) return
    for (const each of noted) {
      if (Array.isArray(target)) target.push(`${commentKey} ${each}`)
      else {
        target.keys.push(commentKey)
        target.values.push(each)
      }
    }
    noted = []
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
      if (typeof whole === 'object' && whole !== null) addNoted(whole)
      return whole
    },
  }
}
