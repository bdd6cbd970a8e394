import { ExtractionError } from '../document/extraction.js'
import { requirePieces } from '../document/limits.js'

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

/** Values of JSON: in tables, they take less memory than other pieces of documents. */
const maxValues = 1_000_000

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
    return readWhole({ text, comments: options.comments, at: 0, count: 0, noted: [] })
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

// Native code: a loop over the characters takes several times as long until it is optimised, which is after most files.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are not valid in strings
const inString = /[^"\\\x00-\x1f]*/y
const plain = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y

/**
 * The state of reading JSON. The functions below take it instead of being made for each text, so that they stay optimised
 * from one text to the next. They throw at the first fault, without saying which one.
 */
interface JsonReader {
  readonly text: string
  readonly comments: boolean
  at: number
  /** Values so far. */
  count: number
  /** Comments that belong to the object or the list that is open. */
  noted: string[]
}

function readWhole(reader: JsonReader): Value {
  const whole = readValue(reader, 0)
  peek(reader)
  if (reader.at < reader.text.length) throw notValid()
  if (typeof whole === 'object' && whole !== null) addNoted(reader, whole)
  return whole
}

function notValid(): SyntaxError {
  return new SyntaxError('not valid JSON')
}

function readValue(reader: JsonReader, depth: number): Value {
  if (depth > maxDepth) throw tooDeep()
  reader.count += 1
  if (reader.count > maxValues) requirePieces(reader.count, 'values', maxValues)
  const code = peek(reader)
  if (code === codes.quote) return readString(reader)
  if (code === codes.list) return readList(reader, depth + 1)
  return code === codes.object ? readObject(reader, depth + 1) : readPlain(reader)
}

/** The code of the next character that is neither blank nor in a comment. */
function peek(reader: JsonReader): number {
  const { text, comments } = reader
  for (;;) {
    let { at } = reader
    while (isBlank(text.charCodeAt(at))) at += 1
    reader.at = at
    const code = text.charCodeAt(at)
    if (code !== codes.slash || !comments) return code
    skipComment(reader)
  }
}

function skipComment(reader: JsonReader): void {
  const { text, at } = reader
  const isLong = text.charCodeAt(at + 1) === codes.star
  if (!isLong && text.charCodeAt(at + 1) !== codes.slash) throw notValid()
  const found = text.indexOf(isLong ? '*/' : '\n', at + 2)
  if (found === -1 && isLong) throw notValid()
  const end = found === -1 ? text.length : found
  const lines = text.slice(at + 2, end).split('\n')
  const words = lines.map((line) => line.replace(/^\s*\*/, '').trim()).filter(Boolean)
  if (words.length > 0) reader.noted.push(words.join(' '))
  reader.at = isLong ? end + 2 : end
}

function expect(reader: JsonReader, code: number): void {
  if (peek(reader) !== code) throw notValid()
  reader.at += 1
}

function readString(reader: JsonReader): string {
  expect(reader, codes.quote)
  const { text, at: start } = reader
  let at = start
  let isEscaped = false
  for (;;) {
    inString.lastIndex = at
    inString.test(text)
    at = inString.lastIndex
    const code = text.charCodeAt(at)
    if (code === codes.quote) break
    // Control characters are not valid in strings; nor is the end of the text, of which the code is not a number.
    if (code !== codes.backslash) throw notValid()
    isEscaped = true
    at += 2
  }
  reader.at = at + 1
  const content = text.slice(start, at)
  return isEscaped ? String(JSON.parse(`"${content}"`)) : content
}

/** A number, or a word such as `true`. */
function readPlain(reader: JsonReader): Value {
  const { text, at } = reader
  plain.lastIndex = at
  if (!plain.test(text)) throw notValid()
  reader.at = plain.lastIndex
  const written = text.slice(at, plain.lastIndex)
  return written === 'null' ? null : written
}

/** Whether another part follows in a list or an object, of which `count` parts were read. */
function hasNext(reader: JsonReader, count: number, end: number): boolean {
  let code = peek(reader)
  if (code !== end && count > 0) {
    expect(reader, codes.comma)
    // A comma may stand behind the last part.
    if (!reader.comments) return true
    code = peek(reader)
  }
  if (code !== end) return true
  reader.at += 1
  return false
}

function readList(reader: JsonReader, depth: number): Value[] {
  const values: Value[] = []
  reader.at += 1
  while (hasNext(reader, values.length, codes.listEnd)) {
    const inner = readValue(reader, depth)
    // An object that follows has the comments above it among its members, so that a list of objects stays one.
    if (typeof inner !== 'object' || inner === null) addNoted(reader, values)
    values.push(inner)
  }
  addNoted(reader, values)
  return values
}

function readObject(reader: JsonReader, depth: number): Members {
  const members: Members = { keys: [], values: [] }
  reader.at += 1
  while (hasNext(reader, members.keys.length, codes.objectEnd)) {
    addNoted(reader, members)
    members.keys.push(readString(reader))
    expect(reader, codes.colon)
    members.values.push(readValue(reader, depth))
  }
  addNoted(reader, members)
  return members
}

function addNoted(reader: JsonReader, target: Value[] | Members): void {
  if (reader.noted.length === 0) return
  for (const each of reader.noted) {
    if (Array.isArray(target)) target.push(`${commentKey} ${each}`)
    else {
      target.keys.push(commentKey)
      target.values.push(each)
    }
  }
  reader.noted = []
}
