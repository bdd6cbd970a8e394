import { isoTime } from '../platform/clock.js'
import { fieldError } from './refusals.js'

/**
 * A time that narrows a list, as it is stored; undefined if none was given.
 * @param edge what a date without a time stands for: both ends of a range include their day
 */
export function timeOf(
  name: string,
  given: string | undefined,
  edge: 'beginning' | 'end',
): string | undefined {
  if (given === undefined) return undefined
  const isDate = /^\d{4}-\d\d-\d\d$/.test(given)
  const time = Date.parse(isDate && edge === 'end' ? `${given}T23:59:59.999Z` : given)
  // The format allows leap seconds, which have no place on the clock of the server.
  if (Number.isNaN(time)) {
    throw fieldError(`query.${name}`, 'is not a time that exists.')
  }
  return isoTime(time)
}

/** A time in a body, in milliseconds since the Unix epoch. */
export function bodyTimeOf(field: string, given: string): number {
  const time = Date.parse(given)
  if (!Number.isNaN(time)) return time
  throw fieldError(`body.${field}`, 'is not a time that exists.')
}

/** A schedule in a request: `dateTime`, or `delay` in milliseconds. */
interface WireSchedule {
  dateTime?: string
  delay?: number
}

/** Maximum delay of a schedule in milliseconds: a year. */
const maxDelay = 366 * 24 * 60 * 60 * 1000

/**
 * Returns the due time of a schedule in milliseconds since the Unix epoch; undefined without a schedule.
 * A time in the past is due at once.
 */
export function dueTimeOf(schedule: WireSchedule | undefined, now: number): number | undefined {
  if (schedule === undefined) return undefined
  const { dateTime, delay } = schedule
  if ((dateTime === undefined) === (delay === undefined)) {
    throw fieldError('body.schedule', 'must have dateTime or delay, and not both.')
  }
  const due =
    dateTime === undefined ? now + (delay ?? 0) : bodyTimeOf('schedule.dateTime', dateTime)
  if (due > now + maxDelay) {
    throw fieldError('body.schedule.dateTime', 'must be within a year from now.')
  }
  return Math.max(due, now)
}
