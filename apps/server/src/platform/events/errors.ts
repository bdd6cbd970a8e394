/**
 * The log does not hold what comes right after the number a reader has: it was trimmed since, or the
 * number is not of this log. The reader has to look at the present state and follow from there.
 */
export class OutsideEventLogError extends Error {
  override readonly name = 'OutsideEventLogError'

  constructor(stream: string, after: number) {
    super(`The log of ${stream} cannot be followed from ${after}`)
  }
}
