/**
 * Wraps a callback for bytes, messages or events that others control. An error thrown in a listener would end this
 * process; what this callback throws goes to `onFault`, which ends the source of the bytes.
 */
export function guarded<Given extends unknown[]>(
  onFault: (error: unknown) => void,
  callback: (...given: Given) => void,
): (...given: Given) => void {
  return (...given) => {
    try {
      callback(...given)
    } catch (error) {
      onFault(error)
    }
  }
}
