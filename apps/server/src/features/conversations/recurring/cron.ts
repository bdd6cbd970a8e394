import { ApiError } from '@botstead/contract'
import { Cron } from 'croner'

/**
 * When a cron expression is due next after a time, both in milliseconds since the Unix epoch; null
 * for never. Five fields, so that nothing is due more often than once a minute; in UTC.
 */
export function nextTime(cron: string, after: number): number | null {
  const next = new Cron(cron, { mode: '5-part', timezone: 'UTC', paused: true }).nextRun(
    new Date(after),
  )
  return next === null ? null : next.getTime()
}

/** Like {@link nextTime}, for an expression of a request. */
export function requireNextTime(name: string, cron: string, after: number): number {
  const field = `recurringEvents.${name}.schedule.cron`
  let next: number | null
  try {
    next = nextTime(cron, after)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw invalid(field, `is no cron expression of five fields: ${reason}`, cause)
  }
  if (next === null) throw invalid(field, 'names a time that never comes.')
  return next
}

function invalid(field: string, rule: string, cause?: unknown): ApiError {
  return new ApiError('InvalidPayload', `body.${field} ${rule}`, {
    cause,
    metadata: { in: 'body', field },
  })
}
