import { ApiError, type ErrorType } from '@botstead/contract'

/**
 * The error for a resource that does not exist, or that the caller may not see: "There is no bot bot_1 in this workspace."
 * @param where the place that was searched, such as `in this workspace`
 */
export function notFound(kind: string, id: string, where?: string): ApiError {
  return new ApiError('ResourceNotFound', `There is no ${kind} ${id}${after(where)}.`)
}

/** A field of a request: the part and the path in it, such as `body.schedule.dateTime` or `query.since`. */
type FieldPath = `${'body' | 'query' | 'params' | 'headers'}.${string}`

/**
 * The error for a field of a request that breaks a rule: `body.version must be a semantic version such as 1.4.0.`
 * Its metadata are the part and the path, and the details that a caller's program can use.
 * @param rule the rest of the sentence
 * @param type without one, that of an invalid query or of an invalid part of the rest
 */
export function fieldError(
  path: FieldPath,
  rule: string,
  type: ErrorType = path.startsWith('query.') ? 'InvalidQuery' : 'InvalidPayload',
  details?: Record<string, unknown>,
): ApiError {
  return new ApiError(type, `${path} ${rule}`, { metadata: { ...placeOf(path), ...details } })
}

/** The error for an id in a field that refers to nothing which the caller may see: `body.userId: there is no user user_1.` */
export function noReference(path: FieldPath, kind: string, id: string, where?: string): ApiError {
  return new ApiError('ReferenceNotFound', `${path}: there is no ${kind} ${id}${after(where)}.`, {
    metadata: placeOf(path),
  })
}

function placeOf(path: FieldPath): { in: string; field: string } {
  const end = path.indexOf('.')
  return { in: path.slice(0, end), field: path.slice(end + 1) }
}

function after(where: string | undefined): string {
  return where === undefined ? '' : ` ${where}`
}
