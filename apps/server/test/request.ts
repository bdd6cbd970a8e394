import type { Operation } from '@botstead/contract'
import { expect } from 'vitest'
import type { TestServer } from './harness.js'

/** Stands for a member that is left out. */
export const absent = Symbol('absent')

/** A request in parts, so that a test can break one of them. */
export interface Request {
  params?: Readonly<Record<string, string>>
  /** By name as it stands in the address: `limit`, `tags.color`. */
  query?: Readonly<Record<string, string | readonly string[]>>
  headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  body?: unknown
}

/** A refusal as the caller must see it. */
export interface Refusal {
  status: number
  type: string
  /** The whole message, or what it must match. */
  message: string | RegExp
}

/** Sends a request of an operation, complete or broken. */
export async function send(
  server: TestServer,
  operation: Operation,
  { params = {}, query = {}, headers = {}, body }: Request,
): Promise<Response> {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  )
  const search = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one) => `${encodeURIComponent(name)}=${encodeURIComponent(one)}`),
  )
  return await server.fetch(`${path}${search.length > 0 ? `?${search.join('&')}` : ''}`, {
    method: operation.method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

/** The body of a response, which can still be read; of a stream, which does not end, its first event. */
export async function beginningOf(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    return await response.clone().text()
  }
  const reader = response.body?.getReader()
  const { value } = (await reader?.read()) ?? {}
  await reader?.cancel()
  return Buffer.from(value ?? []).toString()
}

/** The standard body: status, type and message as expected, and the id that the log has too. */
export async function expectRefusal(response: Response, refusal: Refusal): Promise<void> {
  const answer: unknown = await response.json()
  const { status, type, message } = refusal
  expect(answer).toMatchObject({
    code: status,
    type,
    message: typeof message === 'string' ? message : expect.stringMatching(message),
  })
  const members = Object.keys(answer as object).filter((name) => name !== 'metadata')
  expect(members).toEqual(['id', 'code', 'type', 'message'])
  expect(answer).toHaveProperty('id', response.headers.get('x-request-id'))
  expect(response.status).toBe(status)
  expect(response.headers.get('content-type')).toMatch(/^application\/json/)
}

/** The same request with the value at a place, such as `body.tags.name`, replaced or left out. */
export function replaced(request: Request, place: string, value: unknown): Request {
  const [part = '', ...path] = place.replaceAll(/<\w+>/g, '').split('.')
  if (part === 'body') {
    return { ...request, body: replacedIn(structuredClone(request.body), path, value) }
  }
  const name = path.join('.').replace(/\.0$/, '')
  const isItem = name !== path.join('.')
  const members: Record<string, unknown> = { ...request[part as 'params' | 'query' | 'headers'] }
  if (value === absent) delete members[name]
  // One item alone would look like a value that is no list.
  else members[name] = isItem ? [value, 'x'] : value
  return { ...request, [part]: members }
}

function replacedIn(target: unknown, path: readonly string[], value: unknown): unknown {
  const [first, ...rest] = path
  if (first === undefined) return value === absent ? undefined : value
  const container = target ?? {}
  if (typeof container !== 'object') throw new Error(`Nothing can stand at ${path.join('.')}`)
  const next = replacedIn(Reflect.get(container, first), rest, value)
  if (next === undefined) Reflect.deleteProperty(container, first)
  else Reflect.set(container, first, next)
  return container
}
