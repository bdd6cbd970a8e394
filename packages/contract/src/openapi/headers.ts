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
export const headerReferences = (...names: (keyof typeof responseHeaders)[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

/** Headers of every response. */
export const rateHeaders = headerReferences(
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
)
