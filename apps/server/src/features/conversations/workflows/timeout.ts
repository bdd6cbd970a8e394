import { ApiError } from '@botstead/contract'
import { bodyTimeOf } from '../../../domain/times.js'

const day = 24 * 60 * 60 * 1000
/** Milliseconds that a workflow has unless said otherwise. */
const usual = day
const longest = 366 * day

/** When a workflow ends by itself, in milliseconds since the Unix epoch. */
export function timeoutOf(given: string | undefined, now: number): number {
  if (given === undefined) return now + usual
  const time = bodyTimeOf('timeoutAt', given)
  if (time > now && time <= now + longest) return time
  throw new ApiError('InvalidPayload', 'body.timeoutAt must be within a year from now.', {
    metadata: { in: 'body', field: 'timeoutAt' },
  })
}
