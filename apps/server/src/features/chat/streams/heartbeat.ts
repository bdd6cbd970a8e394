import type { Clock, Timers } from '../../../platform/clock.js'
import type { Listener } from './listener.js'

/** Milliseconds without a byte after which a listener is pinged. */
const quietMilliseconds = 30_000
const spokeMilliseconds = 1000
const spokes = quietMilliseconds / spokeMilliseconds

/**
 * Pings quiet listeners with one timer for all: a timer wheel with a slot for each second. A
 * listener is in the slot at which it would be due; if something was sent to it since, it moves to
 * a later one.
 */
export class Heartbeat {
  readonly #timers: Timers
  readonly #clock: Clock
  readonly #check: (listener: Listener) => void
  readonly #wheel = Array.from({ length: spokes }, () => new Set<Listener>())
  readonly #spokes = new Map<Listener, Set<Listener>>()
  #turn = 0
  #cancel: (() => void) | undefined

  /** @param check called for every listener at least every minute */
  constructor(timers: Timers, clock: Clock, check: (listener: Listener) => void) {
    this.#timers = timers
    this.#clock = clock
    this.#check = check
  }

  add(listener: Listener): void {
    this.#put(listener, spokes)
    this.#cancel ??= this.#timers.after(spokeMilliseconds, () => this.#advance())
  }

  remove(listener: Listener): void {
    this.#spokes.get(listener)?.delete(listener)
    this.#spokes.delete(listener)
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  #put(listener: Listener, ahead: number): void {
    const spoke = this.#wheel[(this.#turn + Math.min(ahead, spokes)) % spokes]
    if (spoke === undefined) return
    spoke.add(listener)
    this.#spokes.set(listener, spoke)
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
        this.#put(listener, spokes)
      } else {
        this.#put(listener, Math.ceil(left / spokeMilliseconds))
      }
      this.#check(listener)
    }
    this.#cancel =
      this.#spokes.size === 0
        ? undefined
        : this.#timers.after(spokeMilliseconds, () => this.#advance())
  }
}
