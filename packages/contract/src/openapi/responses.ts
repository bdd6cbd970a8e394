import { errorsOf } from '../calling.js'
import { type ErrorType, errorCatalogue } from '../errors.js'
import type { Operation } from '../operation.js'
import type { JsonSchema } from './schemas.js'

const wholeNumber = (description: string): JsonSchema => ({
  description,
  schema: { type: 'integer', minimum: 0 },
})

/** Response headers, by name. */
export const responseHeaders = {
  'RateLimit-Limit': wholeNumber('Maximum number of requests in one burst.'),
  'RateLimit-Remaining': wholeNumber('Requests that remain in the current burst.'),
  'RateLimit-Reset': wholeNumber(
    'Seconds until the full burst is available again. Equal to `Retry-After` if that is present.',
  ),
  'Retry-After': wholeNumber('Seconds to wait before the next attempt.'),
} satisfies Record<string, JsonSchema>

/** References to response headers. */
const headerReferences = (...names: (keyof typeof responseHeaders)[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

/** Headers of every response. */
export const rateHeaders = headerReferences(
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
)

/** The error responses of an operation, one per status, as references. */
export const errorReferences = (operation: Operation): Record<string, JsonSchema> =>
  Object.fromEntries(
    byStatus(operation).map(([status, types]) => [
      status,
      { $ref: `#/components/responses/${nameOf(types)}` },
    ]),
  )

/** Every error response that some operation refers to, by name. */
export function errorResponses(operations: readonly Operation[]): Record<string, JsonSchema> {
  const responses = new Map<string, JsonSchema>()
  for (const operation of operations) {
    for (const [status, types] of byStatus(operation)) {
      responses.set(nameOf(types), errorResponse(status, types))
    }
  }
  return Object.fromEntries([...responses].sort(([a], [b]) => a.localeCompare(b, 'en')))
}

/** One example of each error. */
export function errorExamples(): Record<string, JsonSchema> {
  return Object.fromEntries(
    (Object.keys(errorCatalogue) as ErrorType[]).map((type) => [type, errorExample(type)]),
  )
}

function errorResponse(status: number, types: ErrorType[]): JsonSchema {
  return {
    description: types.map((type) => `\`${type}\`: ${errorCatalogue[type].meaning}`).join(' '),
    headers: status === 429 ? { ...rateHeaders, ...headerReferences('Retry-After') } : rateHeaders,
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(
          types.map((type) => [type, { $ref: `#/components/examples/${type}` }]),
        ),
      },
    },
  }
}

function errorExample(type: ErrorType): JsonSchema {
  const { status, meaning } = errorCatalogue[type]
  return {
    summary: meaning,
    value: { id: 'req_01KJA2M7Q8W5D3X9ZB6T4R1VFC', code: status, type, message: meaning },
  }
}

const nameOf = (types: ErrorType[]) => types.join('.')

function byStatus(operation: Operation): [number, ErrorType[]][] {
  const groups = new Map<number, ErrorType[]>()
  for (const type of errorsOf(operation)) {
    const { status } = errorCatalogue[type]
    groups.set(status, [...(groups.get(status) ?? []), type])
  }
  return [...groups]
}
