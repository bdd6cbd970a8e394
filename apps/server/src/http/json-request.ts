import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Operation } from '@botstead/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ReadJson } from './json-body.js'
import { createValidator, describeViolation } from './validation.js'

/** Types that need no reading; with other spellings the framework takes the request. */
const plainTypes = new Set([
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset=utf-8',
  'application/json; charset=UTF-8',
  'application/json;charset=UTF-8',
])

/** The parts of a request that have a schema, in the order in which they are checked. */
const parts = ['params', 'body', 'querystring', 'headers'] as const

interface DirectRequests {
  /** Bytes of the longest body. */
  limit: number
  readJson: ReadJson
  respond(request: FastifyRequest, reply: FastifyReply): void
}

/**
 * Reads and validates the requests of an operation that have a JSON body, and passes them on. The stations of the
 * framework between its first hooks and its handlers, none of which is used, are skipped.
 *
 * Only the plain case is handled: a body of a declared length within the limit, in an undisputed type.
 * @returns a function that returns false if the framework must handle the request
 */
export function directRequests(
  operation: Operation,
  { limit, readJson, respond }: DirectRequests,
): (request: FastifyRequest, reply: FastifyReply) => boolean {
  const validate = compileChecks(operation)

  return (request, reply) => {
    const { raw } = request
    if (!isPlain(raw.headers, limit)) return false
    readBody(raw, (failure, bytes) => {
      if (reply.sent) return
      if (failure !== undefined) return refuseRest(reply, failure)
      try {
        const read = readJson(request, bytes)
        if (read.refusal !== undefined) return refuseRest(reply, read.refusal)
        request.body = read.value
        validate(request)
      } catch (refusal) {
        return void reply.send(refusal)
      }
      respond(request, reply)
    })
    return true
  }
}

function isPlain(headers: IncomingHttpHeaders, limit: number): boolean {
  const length = Number(headers['content-length'])
  return (
    length > 0 &&
    length <= limit &&
    plainTypes.has(headers['content-type'] ?? '') &&
    headers['content-encoding'] === undefined &&
    headers['transfer-encoding'] === undefined
  )
}

/** Closes the connection after a refusal, as the framework does where it cannot read a body. */
function refuseRest(reply: FastifyReply, refusal: Error): void {
  reply.header('connection', 'close').send(refusal)
}

type Whole = (failure: Error | undefined, bytes: Buffer) => void

const noBytes = Buffer.alloc(0)

/** Reads a body whose length Node checks. */
function readBody(raw: IncomingMessage, whole: Whole): void {
  let first: Buffer | undefined
  let more: Buffer[] | undefined
  const end = (failure?: Error) => {
    raw.off('data', add)
    raw.off('end', end)
    raw.off('error', end)
    // Whatever stopped the body is an error of the sender.
    if (failure !== undefined) whole(Object.assign(failure, { statusCode: 400 }), noBytes)
    else if (first === undefined) whole(undefined, noBytes)
    else whole(undefined, more === undefined ? first : Buffer.concat(more))
  }
  const add = (chunk: Buffer) => {
    if (first === undefined) first = chunk
    else {
      more ??= [first]
      more.push(chunk)
    }
  }
  raw.on('data', add)
  raw.on('end', end)
  raw.on('error', end)
}

/** Returns a function that throws if a request violates a schema of its operation. */
function compileChecks({ params, query, headers, body }: Operation) {
  const schemas = { params, body, querystring: query, headers }
  const checks = parts.flatMap((part) => {
    const schema = schemas[part]
    return schema === undefined
      ? []
      : [{ part, check: createValidator({ schema, httpPart: part }) }]
  })
  const partOf = (request: FastifyRequest, part: (typeof parts)[number]): unknown =>
    part === 'querystring' ? request.query : request[part]

  return (request: FastifyRequest): void => {
    for (const { part, check } of checks) {
      if (!check(partOf(request, part))) throw describeViolation(check.errors ?? [], part)
    }
  }
}
