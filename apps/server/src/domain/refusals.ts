import { ApiError } from '@botstead/contract'

/**
 * The error for a resource that does not exist, or that the caller may not see: "There is no bot bot_1 in this workspace."
 * @param where the place that was searched, such as `in this workspace`
 */
export function notFound(kind: string, id: string, where?: string): ApiError {
  const place = where === undefined ? '' : ` ${where}`
  return new ApiError('ResourceNotFound', `There is no ${kind} ${id}${place}.`)
}
