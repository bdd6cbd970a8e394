/** A value, or the promise of one: of a cache, which has most values in memory and reads the others. */
export type Awaitable<T> = T | Promise<T>

/** Continues with a value, at once if it is there, so that the hot path waits for nothing. */
export function after<Value, Next>(
  value: Awaitable<Value>,
  next: (value: Value) => Awaitable<Next>,
): Awaitable<Next> {
  return value instanceof Promise ? value.then(next) : next(value)
}
