/** Where the program takes the time from, so that tests can move it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** ISO 8601 in UTC with milliseconds: the only form of time in the database and on the wire. */
export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
