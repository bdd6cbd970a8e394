/** Whether a value is what JSON calls an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value of a text; the text itself if it is not JSON. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The object that a text is; undefined for any other value, and for what is not JSON. */
export function objectIn(text: string): Record<string, unknown> | undefined {
  const value = jsonOrText(text)
  return isObject(value) ? value : undefined
}

/**
 * The object that a text of a form is.
 * @param what name of the field, such as `The metadata`
 */
export function requireObject(text: string, what: string): Record<string, unknown> {
  const object = objectIn(text)
  if (object === undefined) throw new Error(`${what} must be a JSON object.`)
  return object
}
