import type { Clock, Timers } from '../src/platform/clock.js'

interface Alarm {
  readonly at: number
  readonly callback: () => void
}

/** Time that stands still until a test moves it. */
export class ManualTime implements Clock, Timers {
  #now: number
  readonly #alarms = new Set<Alarm>()

  constructor(start = Date.parse('2026-03-01T12:00:00.000Z')) {
    this.#now = start
  }

  now(): number {
    return this.#now
  }

  after(milliseconds: number, callback: () => void): () => void {
    const alarm = { at: this.#now + Math.max(0, milliseconds), callback }
    this.#alarms.add(alarm)
    return () => void this.#alarms.delete(alarm)
  }

  /** Number of timers that are set. */
  get pending(): number {
    return this.#alarms.size
  }

  /** Moves on to the next timer and lets it ring. */
  ring(): void {
    const next = this.#next()
    if (next) this.advance(next.at - this.#now)
  }

  /** Moves on and lets every timer that falls due ring at its time. */
  advance(milliseconds: number): void {
    const end = this.#now + milliseconds
    for (let next = this.#next(); next && next.at <= end; next = this.#next()) {
      this.#alarms.delete(next)
      this.#now = next.at
      next.callback()
    }
    this.#now = end
  }

  #next(): Alarm | undefined {
    return [...this.#alarms].sort((a, b) => a.at - b.at)[0]
  }
}
