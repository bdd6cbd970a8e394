import type { KeywordCompiler } from '../keyword.js'
import type { ValidationRun } from '../validation-run.js'

export const atLeast = (count: number, limit: number) => count >= limit
export const atMost = (count: number, limit: number) => count <= limit

/**
 * A keyword that limits how many parts a value has.
 * @param countOf the number of parts; undefined for a value that the keyword accepts
 */
export function countKeyword(
  keyword: string,
  than: string,
  parts: string,
  countOf: (value: unknown, run: ValidationRun) => number | undefined,
  fits: (count: number, limit: number) => boolean,
): KeywordCompiler {
  return (limit) => {
    if (typeof limit !== 'number') return undefined
    return (value, path, run) => {
      const count = countOf(value, run)
      if (count === undefined || fits(count, limit)) return true
      return run.fail(keyword, path, { limit }, `must not have ${than} ${limit} ${parts}`)
    }
  }
}
