import type { Hint } from './event-bus.js'

/** Hints that wait to be passed on, one for each log. */
export class PendingHints {
  readonly #hints = new Map<string, Hint>()
  readonly #limit: number

  /** @param limit how many logs are remembered; hints about more are dropped, as any hint may be */
  constructor(limit = Number.POSITIVE_INFINITY) {
    this.#limit = limit
  }

  get size(): number {
    return this.#hints.size
  }

  add(hint: Hint): void {
    const id = `${hint.topic}\n${hint.key}`
    const earlier = this.#hints.get(id)
    if (earlier) this.#hints.set(id, merge(earlier, hint))
    else if (this.#hints.size < this.#limit) this.#hints.set(id, hint)
  }

  /** All hints in the order of their first mention; none are left. */
  take(): Hint[] {
    const hints = [...this.#hints.values()]
    this.#hints.clear()
    return hints
  }
}

/** Without a sequence a hint says to look in any case, so one such hint makes all of them so. */
function merge(one: Hint, other: Hint): Hint {
  if (one.seq === undefined) return one
  return other.seq === undefined || other.seq > one.seq ? other : one
}
