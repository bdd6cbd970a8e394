import { availableParallelism } from 'node:os'
import type { Timers } from '../../../platform/clock.js'
import { OutgoingError } from '../../../platform/outgoing/outgoing.js'
import { createGate } from '../../../platform/workers/gate.js'

export interface RoomDeps {
  timers: Timers
  /** Most programs at a time. */
  processes: number
  /** Ends a program that is idle, if there is one. */
  endOneIdle: () => void
}

/** The room for programs of one process of the server. */
export interface Room {
  /** Waits for room for one more program. @returns a function to call once, when the program has ended */
  enter(): Promise<() => void>
  /** Waits until one more program may start: some at a time do. @returns a function to call when it has started */
  begin(): Promise<() => void>
  isFull(): boolean
  /** Refuses everyone who waits and who comes later. */
  close(reason: Error): void
}

/** Milliseconds that a start waits until another program has ended. */
const patienceMs = 10_000
/** Most starts that wait for room. */
const mostWaiting = 1000

export function createRoom({ timers, processes, endOneIdle }: RoomDeps): Room {
  const starting = createGate(Math.max(2, availableParallelism()), mostWaiting, tooMany)
  const room = createGate(processes, mostWaiting, tooMany)

  function tooMany(): Error {
    return new OutgoingError(
      'connection',
      `This server runs ${processes} programs already (BOTSTEAD_HOSTING_PROCESSES), and all are busy.`,
    )
  }

  const isFull = () => room.load().running >= processes

  return {
    async enter() {
      if (isFull()) endOneIdle()
      const patience = new AbortController()
      const cancel = timers.after(patienceMs, () => patience.abort(tooMany()))
      try {
        return await room.enter(patience.signal)
      } finally {
        cancel()
      }
    },
    begin: () => starting.enter(),
    isFull,
    close(reason) {
      starting.close(reason)
      room.close(reason)
    },
  }
}
