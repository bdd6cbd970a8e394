import { isAscii, isUtf8 } from 'node:buffer'
import { ApiError } from '@botstead/contract'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { exceededBound, type JsonBounds, maxJsonDepth } from '../platform/json-bounds.js'

/**
 * Objects, lists and texts of a body: as many as fit into a mebibyte, which is the limit of most bodies. Those that carry code
 * may be much longer, and made of the shortest objects, one of them would take a gigabyte of memory.
 */
const maxObjects = 512 * 1024
/** Values of a body. Numbers take little memory, and tools send the code of a plugin as a list of its bytes. */
const maxValues = 16 * maxObjects
const bounds = { depth: maxJsonDepth, objects: maxObjects, values: maxValues }
const boundWords: Record<keyof JsonBounds, string> = {
  depth: `nest deeper than ${maxJsonDepth} levels`,
  objects: `have more than ${maxObjects} objects, lists and texts`,
  values: `have more than ${maxValues} values`,
}
/** Characters of a body in which the place of a fault is looked for. */
const maxExplained = 1024 * 1024

/** A body, or why it is refused. */
type JsonBody = { value: unknown; refusal?: undefined } | { refusal: ApiError; value?: undefined }

/** Parses the bytes of a body; no bytes are no body. */
export type ReadJson = (request: FastifyRequest, bytes: Buffer) => JsonBody

/**
 * Makes an application read JSON bodies; an empty one counts as none, because clients send DELETE with a JSON type
 * and no body.
 * @returns what it reads them with
 */
export function readJsonBodies(app: FastifyInstance): ReadJson {
  const readJson = createJsonReader(app)
  app.removeContentTypeParser('text/plain')
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (request: FastifyRequest, bytes: Buffer, done) => {
      const refusal = refusalOfHead(request)
      if (refusal !== undefined) return done(refusal)
      const read = readJson(request, bytes)
      if (read.refusal !== undefined) done(read.refusal)
      else done(null, read.value)
    },
  )
  return readJson
}

/**
 * Matches texts that need the parser of the framework: member names that change prototypes, whose characters
 * can be escaped as `\u00..`, and a byte order mark.
 */
const special = /__proto__|constructor|\\u00|^\uFEFF/

function createJsonReader(app: FastifyInstance): ReadJson {
  const parse = app.getDefaultJsonParser('error', 'error')
  return (request, bytes) => {
    // The bytes of ASCII are its characters.
    const isPlain = isAscii(bytes)
    if (!isPlain && !isUtf8(bytes)) return { refusal: notUtf8() }
    const body = isPlain ? bytes.toString('latin1') : bytes.toString()
    if (body.length === 0) return { value: undefined }
    const exceeded = exceededBound(body, bounds)
    if (exceeded !== undefined) return { refusal: beyond(exceeded) }
    if (!special.test(body)) {
      try {
        return { value: JSON.parse(body) }
      } catch (error) {
        return { refusal: notJson(body, error) }
      }
    }
    let read: JsonBody = { value: undefined }
    parse(request, body, (error, value) => {
      read = error ? { refusal: notJson(body, error) } : { value }
    })
    return read
  }
}

/** JSON is exchanged in UTF-8; another charset would silently be misread. */
function refusalOfHead({ headers }: FastifyRequest): ApiError | undefined {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    return new ApiError(
      'UnsupportedMediaType',
      `The header Content-Encoding must be left out: bodies are not decompressed (${encoding}).`,
      { metadata: { in: 'headers', field: 'content-encoding' } },
    )
  }
  const [, charset] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers['content-type'] ?? '') ?? []
  if (charset === undefined || /^(utf-?8|us-ascii)$/i.test(charset)) return undefined
  return new ApiError(
    'UnsupportedMediaType',
    `The body must be in UTF-8, as JSON is, not in ${charset}.`,
    { metadata: { in: 'headers', field: 'content-type' } },
  )
}

/** Bytes that are not UTF-8 would silently be stored as replacement characters. */
function notUtf8(): ApiError {
  return new ApiError(
    'InvalidPayload',
    'The body is not valid JSON: it has bytes that are not UTF-8.',
  )
}

function notJson(body: string, cause: unknown): ApiError {
  if (body.length > maxExplained) {
    return new ApiError('InvalidPayload', 'The body is not valid JSON.', { cause })
  }
  const fault = jsonFaultOf(body) ?? 'members __proto__ and constructor.prototype are not accepted'
  return new ApiError('InvalidPayload', `The body is not valid JSON: ${fault}.`, { cause })
}

function beyond(bound: keyof JsonBounds): ApiError {
  return new ApiError('InvalidPayload', `The body must not ${boundWords[bound]}.`)
}

type Expected = keyof typeof expectedWords

/** Descriptions of the tokens that are allowed at a position of a JSON text. */
const expectedWords = {
  value: 'a value',
  'value or ]': 'a value or ]',
  name: 'a name in double quotes',
  'name or }': 'a name in double quotes or }',
  colon: 'a colon',
  ', or ]': 'a comma or ]',
  ', or }': 'a comma or }',
  end: 'the end of the text',
} as const

const blank = /[ \t\n\r]*/y
/** A part of a string: a single pattern for the whole string would backtrack on one that has no end. */
const part = /[^"\\\p{Cc}]+|[\x7f-\x9f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/uy
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)(?!\w)/y

/**
 * Describes the first syntax error of a JSON text: line and column from 1, the token found, and the token
 * expected. Undefined if the text is valid JSON.
 */
export function jsonFaultOf(json: string): string | undefined {
  const open: ('{' | '[')[] = []
  let expected: Expected = 'value'
  let at = 0
  const take = (token: RegExp): boolean => {
    token.lastIndex = at
    if (!token.test(json)) return false
    at = token.lastIndex
    return true
  }
  const takeText = (): boolean => {
    const start = at
    if (json[at] !== '"') return false
    at += 1
    let goesOn = true
    while (goesOn) goesOn = take(part)
    const isWhole = json[at] === '"'
    at = isWhole ? at + 1 : start
    return isWhole
  }
  const afterValue = (): Expected => {
    const inside = open.at(-1)
    if (inside === undefined) return 'end'
    return inside === '{' ? ', or }' : ', or ]'
  }
  for (;;) {
    take(blank)
    const next: string | undefined = json[at]
    if (next === undefined) {
      return expected === 'end'
        ? undefined
        : `unexpected end of the text, expected ${expectedWords[expected]}`
    }
    const closes = next === '}' ? '{' : '['
    if ((next === '}' || next === ']') && expected.endsWith(next)) {
      at += 1
      if (open.pop() !== closes) return describeFault(json, at - 1, expected)
      expected = afterValue()
    } else if (expected.startsWith('value') && (next === '{' || next === '[')) {
      at += 1
      open.push(next)
      expected = next === '{' ? 'name or }' : 'value or ]'
    } else if (expected.startsWith('value') && (take(scalar) || takeText())) expected = afterValue()
    else if (expected.startsWith('name') && takeText()) expected = 'colon'
    else if (expected === 'colon' && next === ':') {
      at += 1
      expected = 'value'
    } else if (expected.startsWith(',') && next === ',') {
      at += 1
      expected = open.at(-1) === '{' ? 'name' : 'value'
    } else return describeFault(json, at, expected)
  }
}

function describeFault(json: string, at: number, expected: Expected): string {
  const line = json.slice(0, at).split('\n')
  const found = String.fromCodePoint(json.codePointAt(at) ?? 0)
  const place = `line ${line.length}, column ${(line.at(-1)?.length ?? 0) + 1}`
  return `${place}: expected ${expectedWords[expected]}, found ${JSON.stringify(found)}`
}
