/** A bounded number of places. */
export interface Places {
  left(): number
  /**
   * Waits for a place. @returns a function that gives it back, and does nothing when it is called again
   * @throws what `full` returns if none becomes free in time
   */
  take(): Promise<() => void>
}

/** @param patienceMs milliseconds that `take` waits */
export function createPlaces(count: number, patienceMs: number, full: () => Error): Places {
  const waiting = new Set<() => void>()
  let left = count

  async function wait(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    let admit: (() => void) | undefined
    try {
      await new Promise<void>((resolve, reject) => {
        admit = resolve
        waiting.add(resolve)
        timer = setTimeout(() => reject(full()), patienceMs)
      })
    } finally {
      clearTimeout(timer)
      if (admit) waiting.delete(admit)
    }
  }

  return {
    left: () => left,
    async take() {
      if (left > 0) left -= 1
      else await wait()
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        // The place goes to the next directly, so that nobody takes it in between.
        const [next] = waiting
        if (next === undefined) left += 1
        else {
          waiting.delete(next)
          next()
        }
      }
    },
  }
}
