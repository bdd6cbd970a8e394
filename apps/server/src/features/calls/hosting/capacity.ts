import { availableParallelism } from 'node:os'
import type { Timers } from '../../../platform/clock.js'
import { OutgoingError } from '../../../platform/outgoing/outgoing.js'
import { createGate } from '../../../platform/workers/gate.js'

export interface CapacityDeps {
  timers: Timers
  /** Most programs at a time. */
  processes: number
  /** Ends a program that is idle, if there is one. */
  endOneIdle: () => void
  /** How many programs are ending now, and wait for no request. */
  countEnding: () => number
}

/** The room for programs of one process of the server. */
export interface Capacity {
  /** Waits for room for one more program. @returns a function to call once, when the program has ended */
  enter(): Promise<() => void>
  /**
   * Waits until one more program of a workspace may start: some at a time do.
   * @returns a function to call when it has started
   */
  begin(workspaceId: string): Promise<() => void>
  /** Ends an idle program if more wait for room than programs are ending. Call it when one has become idle. */
  makeRoom(): void
  isFull(): boolean
  /** Refuses everyone who waits and who comes later. */
  close(reason: Error): void
}

/** Milliseconds that a start waits until another program has ended. */
const patienceMs = 10_000
/** Milliseconds after which a program that still loads does not delay the next start any more. */
const turnMs = 3000
/** Most starts that wait for room. */
const mostWaiting = 1000

export function createCapacity(deps: CapacityDeps): Capacity {
  const { timers, processes, endOneIdle, countEnding } = deps
  const turns = createStartTurns(timers, Math.max(2, availableParallelism()))
  const running = createGate(processes, mostWaiting, tooMany)

  function tooMany(): Error {
    return new OutgoingError(
      'connection',
      `This server runs ${processes} programs already (BOTSTEAD_HOSTING_PROCESSES), and all are busy.`,
    )
  }

  function makeRoom(): void {
    if (running.load().waiting > countEnding()) endOneIdle()
  }

  return {
    async enter() {
      const patience = new AbortController()
      const cancel = timers.after(patienceMs, () => patience.abort(tooMany()))
      try {
        const entered = running.enter(patience.signal)
        makeRoom()
        return await entered
      } finally {
        cancel()
      }
    },
    begin: turns.begin,
    makeRoom,
    isFull: () => running.load().running >= processes,
    close(reason) {
      turns.close(reason)
      running.close(reason)
    },
  }
}

interface Waiter {
  admit(): void
  refuse(reason: Error): void
}

/**
 * Lets some programs start at a time, because starting takes much processor time. The workspaces of those that wait
 * take turns, and code that loads slowly gives its turn back: neither can keep others from starting.
 */
function createStartTurns(timers: Timers, places: number) {
  /** The workspace whose turn is next comes first. */
  const waiting = new Map<string, Waiter[]>()
  let free = places
  let closed: Error | undefined

  function admitNext(): void {
    const [next] = waiting
    if (next === undefined || free === 0) return
    const [workspaceId, [waiter, ...others]] = next
    waiting.delete(workspaceId)
    if (others.length > 0) waiting.set(workspaceId, others)
    free -= 1
    waiter?.admit()
  }

  /** @returns a function that gives the turn back, unless that has happened */
  function take(): () => void {
    let isOver = false
    const end = () => {
      if (isOver) return
      isOver = true
      cancel()
      free += 1
      admitNext()
    }
    const cancel = timers.after(turnMs, end)
    return end
  }

  return {
    async begin(workspaceId: string): Promise<() => void> {
      if (closed !== undefined) throw closed
      await new Promise<void>((admit, refuse) => {
        waiting.set(workspaceId, [...(waiting.get(workspaceId) ?? []), { admit, refuse }])
        admitNext()
      })
      return take()
    },
    close(reason: Error): void {
      closed = reason
      for (const { refuse } of [...waiting.values()].flat()) refuse(reason)
      waiting.clear()
    },
  }
}
