/** Where the program takes the time from, so that tests can move it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

// Under load many ask for the time of the same millisecond, several times each.
let lastMilliseconds = Number.NaN
let lastText = ''

/** ISO 8601 in UTC with milliseconds: the only form of time in the database and on the wire. */
export function isoTime(milliseconds: number): string {
  if (milliseconds !== lastMilliseconds) {
    lastText = new Date(milliseconds).toISOString()
    lastMilliseconds = milliseconds
  }
  return lastText
}
