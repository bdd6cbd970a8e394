import type { Clock } from '../../../platform/clock.js'
import type { Timers } from '../../../platform/timers.js'
import type { Listener } from './listener.js'

/** Milliseconds without a byte after which a listener is pinged. */
const quietMilliseconds = 30_000
const spokeMilliseconds = 1000
const spokes = quietMilliseconds / spokeMilliseconds

/**
 * Pings quiet listeners with one timer for all: a wheel with a spoke for each second. A listener stands
 * at the spoke at which it would be due; found to have been sent something since, it moves on.
 */
export class Heartbeat {
  readonly #timers: Timers
  readonly #clock: Clock
  readonly #check: (listener: Listener) => void
  readonly #wheel = Array.from({ length: spokes }, () => new Set<Listener>())
  readonly #places = new Map<Listener, Set<Listener>>()
  #turn = 0
  #cancel: (() => void) | undefined

  /** @param check called for every listener at least every minute */
  constructor(timers: Timers, clock: Clock, check: (listener: Listener) => void) {
    this.#timers = timers
    this.#clock = clock
    this.#check = check
  }

  add(listener: Listener): void {
    this.#place(listener, spokes)
    this.#cancel ??= this.#timers.after(spokeMilliseconds, () => this.#advance())
  }

  remove(listener: Listener): void {
    this.#places.get(listener)?.delete(listener)
    this.#places.delete(listener)
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  #place(listener: Listener, ahead: number): void {
    const spoke = this.#wheel[(this.#turn + Math.min(ahead, spokes)) % spokes]
    if (spoke === undefined) return
    spoke.add(listener)
    this.#places.set(listener, spoke)
  }

  #advance(): void {
    this.#turn = (this.#turn + 1) % spokes
    const due = this.#wheel[this.#turn] ?? new Set()
    const now = this.#clock.now()
    for (const listener of [...due]) {
      due.delete(listener)
      const left = listener.sentAt + quietMilliseconds - now
      if (left <= 0) {
        listener.ping()
        this.#place(listener, spokes)
      } else {
        this.#place(listener, Math.ceil(left / spokeMilliseconds))
      }
      this.#check(listener)
    }
    this.#cancel =
      this.#places.size === 0
        ? undefined
        : this.#timers.after(spokeMilliseconds, () => this.#advance())
  }
}
