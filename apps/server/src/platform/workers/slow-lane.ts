/** The place of a task, until it is left. */
export interface Place {
  /** Whether the task runs beside the ordinary places by now. */
  isSlow(): boolean
  leave(): void
}

export interface SlowLane {
  /**
   * Watches over a task: once it takes long while others wait, its ordinary place goes to them.
   *
   * @param leave gives the ordinary place back
   * @param onSlow called when it is given back early
   */
  hold(leave: () => void, onSlow: () => void): Place
  /** Tasks that run beside the ordinary places. */
  count(): number
}

export interface SlowLaneOptions {
  /** How many may run beside the ordinary places; with more, the others wait after all. */
  places: number
  /** Milliseconds after which a task counts as slow. */
  afterMs: number
}

/**
 * Keeps tasks that take long from holding up those that do not.
 *
 * @param options.isWanted whether somebody waits for an ordinary place
 */
export function createSlowLane(options: SlowLaneOptions & { isWanted: () => boolean }): SlowLane {
  let taken = 0
  return {
    count: () => taken,
    hold(leave, onSlow) {
      let slow = false
      const timer = setInterval(() => {
        if (taken >= options.places || !options.isWanted()) return
        clearInterval(timer)
        slow = true
        taken += 1
        leave()
        onSlow()
      }, options.afterMs)
      return {
        isSlow: () => slow,
        leave() {
          clearInterval(timer)
          if (slow) taken -= 1
          else leave()
        },
      }
    },
  }
}
