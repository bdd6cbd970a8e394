/** A time in UTC as ISO 8601 with milliseconds, so that text order is the order of time. */
export type TimeColumn = string

/** JSON as text: not parsed by the database, and read back as it was written. */
export type JsonColumn = string

/** A flag is a column of 0 or 1: SQLite has no other, and PostgreSQL takes no number for a boolean. */
export function encodeBoolean(value: boolean): 0 | 1 {
  return value ? 1 : 0
}

export function decodeBoolean(value: number): boolean {
  return value !== 0
}

/** Throws on what JSON has no text for, such as undefined, a function or a cycle. */
export function encodeJson(value: unknown): string {
  const text: string | undefined = JSON.stringify(value)
  if (text === undefined) throw new TypeError(`${typeof value} has no JSON text`)
  return text
}

/** Reads what {@link encodeJson} wrote; the caller knows the type because he wrote it. */
export function decodeJson<T>(text: string): T {
  const value: T = JSON.parse(text)
  return value
}

/** Replaces the zero character, which PostgreSQL refuses in a text. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '\uFFFD')
}
