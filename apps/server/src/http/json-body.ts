import { ApiError } from '@botstead/contract'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Levels of objects and lists in a body; writing deeper ones as JSON again would exhaust the stack. */
const maxDepth = 500

/** JSON bodies, of which an empty one counts as none: clients send DELETE with a JSON type and no body. */
export function readJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('text/plain')
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    (request: FastifyRequest, body: string, done) => {
      if (body.length === 0) done(null, undefined)
      else if (nestsDeeper(body, maxDepth)) done(tooDeep())
      else parse(request, body, done)
    },
  )
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
