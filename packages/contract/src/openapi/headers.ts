import type { JsonSchema } from './schemas.js'

const wholeNumber = (description: string): JsonSchema => ({
  description,
  schema: { type: 'integer', minimum: 0 },
})

/** Headers of answers, by name. */
export const answerHeaders = {
  'RateLimit-Limit': wholeNumber('Requests that may come at once.'),
  'RateLimit-Remaining': wholeNumber('Requests that are left of them.'),
  'RateLimit-Reset': wholeNumber(
    'Seconds until all of them are available again. Equal to `Retry-After` if that is present.',
  ),
  'Retry-After': wholeNumber('Seconds to wait before the next try.'),
} satisfies Record<string, JsonSchema>

/** References to headers of answers. */
export const headerReferences = (...names: (keyof typeof answerHeaders)[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

/** What every answer carries. */
export const rateHeaders = headerReferences(
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
)
