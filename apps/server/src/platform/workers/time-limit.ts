/** The phases of a task, each with a time limit of its own. */
type Spending = 'work' | 'start'

/** Limits what a task spends on two things, of which it does one at a time. */
export interface TimeLimit {
  /** From now on time counts for `spending`, and no longer for the other; what it has spent on both stays. */
  count(spending: Spending): void
  /** Nothing counts any more. */
  end(): void
}

/**
 * @param milliseconds how much may be spent on each
 * @param onLate called once, when more than that was spent on one
 */
export function createTimeLimit(
  milliseconds: Readonly<Record<Spending, number>>,
  onLate: () => void,
): TimeLimit {
  const left = { ...milliseconds }
  let counted: { spending: Spending; since: number; timer: NodeJS.Timeout } | undefined
  let isOver = false

  function pause(): void {
    if (counted === undefined) return
    clearTimeout(counted.timer)
    left[counted.spending] -= performance.now() - counted.since
    counted = undefined
  }

  function end(): void {
    isOver = true
    pause()
  }

  return {
    count(spending) {
      if (isOver || counted?.spending === spending) return
      pause()
      const onTime = () => {
        end()
        onLate()
      }
      const timer = setTimeout(onTime, Math.max(0, left[spending]))
      counted = { spending, since: performance.now(), timer }
    },
    end,
  }
}
