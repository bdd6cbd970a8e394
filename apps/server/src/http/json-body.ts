import { isUtf8 } from 'node:buffer'
import { ApiError } from '@botstead/contract'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { jsonFaultOf } from './json-fault.js'

/** Levels of objects and lists in a body; writing deeper ones as JSON again would exhaust the stack. */
const maxDepth = 500

/** JSON bodies, of which an empty one counts as none: clients send DELETE with a JSON type and no body. */
export function readJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('text/plain')
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (request: FastifyRequest, bytes: Buffer, done) => {
      const refusal = refusalOfHead(request) ?? refusalOfBytes(bytes)
      if (refusal !== undefined) return done(refusal)
      const body = bytes.toString()
      if (body.length === 0) done(null, undefined)
      else if (nestsDeeper(body, maxDepth)) done(tooDeep())
      else {
        parse(request, body, (error, value) => {
          if (error) done(notJson(body, error))
          else done(null, value)
        })
      }
    },
  )
}

/** JSON is exchanged in UTF-8; another charset would be read as something else, without a word. */
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

/** Bytes that are no UTF-8 would be stored as replacement characters, without a word. */
function refusalOfBytes(bytes: Buffer): ApiError | undefined {
  if (isUtf8(bytes)) return undefined
  return new ApiError(
    'InvalidPayload',
    'The body is not valid JSON: it has bytes that are not UTF-8.',
  )
}

function notJson(body: string, cause: unknown): ApiError {
  const fault = jsonFaultOf(body) ?? 'members __proto__ and constructor.prototype are not accepted'
  return new ApiError('InvalidPayload', `The body is not valid JSON: ${fault}.`, { cause })
}

/** Whether a JSON text has more levels of objects and lists than allowed; short ones are not read. */
export function nestsDeeper(json: string, allowed: number): boolean {
  if (json.length <= 2 * allowed) return false
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    switch (json[at]) {
      case '"':
        at = endOfText(json, at)
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

/** Where the text that starts here ends; found by searching, because texts are most of a large body. */
function endOfText(json: string, start: number): number {
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

function tooDeep(): ApiError {
  return new ApiError('InvalidPayload', `The body must not nest deeper than ${maxDepth} levels.`)
}
