/**
 * A callback for bytes, messages or events that others control. A fault in a listener would end this process;
 * a fault in this callback is handed to `onFault`, which ends what the bytes came from.
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
