/** An ISO 8601 time in the form of `datetime-local` inputs, which has the zone of the reader; empty for none. */
export function toLocal(value: string): string {
  const time = new Date(value)
  if (Number.isNaN(time.getTime())) return ''
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** The ISO 8601 time of such an input; undefined for none. */
export function fromLocal(text: string): string | undefined {
  const time = new Date(text)
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}
