/** Milliseconds between two looks. Held up for less than that, the event loop counts as running. */
const stepMs = 50

/**
 * Begins to measure for how long the event loop of this process does not run: something holds it, or the process has no
 * processor.
 * @returns a function that ends it, with the milliseconds so far in all; each stay is counted 50 ms short at most
 */
export function watchLoopDelay(): () => number {
  let delayMs = 0
  let last = performance.now()
  function look(): void {
    const now = performance.now()
    delayMs += Math.max(0, now - last - stepMs)
    last = now
  }
  const timer = setInterval(look, stepMs)
  return () => {
    look()
    clearInterval(timer)
    return delayMs
  }
}
