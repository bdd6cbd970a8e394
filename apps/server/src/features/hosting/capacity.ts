import { availableParallelism } from 'node:os'
import type { Timers } from '../../platform/clock.js'
import { OutgoingError } from '../../platform/outgoing/outgoing.js'

export interface CapacityDeps {
  timers: Timers
  /** Maximum number of programs at a time. */
  processes: number
  /** Ends a program that is idle, if there is one. */
  endOneIdle: () => void
  /** Counts programs that are ending now and wait for no request. */
  countEnding: () => number
}

/** Room for one program, from before its start until its end. */
export interface Room {
  /** Call it when the program has started: from then on it is none of those that keep others out. */
  started(): void
  /** Call it once, when the program has ended, or does not start. */
  leave(): void
}

/** The room for programs of one process of the server. */
export interface Capacity {
  /** Waits for room for one more program of a workspace. */
  enter(workspaceId: string): Promise<Room>
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
/** Factor by which it may wait longer while other programs of its workspace start, which soon ends. */
const maxWaits = 6
/** Milliseconds after which a program that still loads does not delay the next start any more. */
const turnMs = 3000
/** Maximum number of starts of a workspace that wait for room. */
const maxWaiting = 1000

export function createCapacity(deps: CapacityDeps): Capacity {
  const { timers, processes, endOneIdle, countEnding } = deps
  const turns = createStartTurns(timers, Math.max(2, availableParallelism()))
  const rooms = createRooms(processes)

  function makeRoom(): void {
    if (rooms.countNext() > countEnding()) endOneIdle()
  }

  return {
    async enter(workspaceId) {
      const entered = rooms.enter(workspaceId)
      let waits = 1
      const look = () => {
        if (!entered.isBehindOwn() || waits === maxWaits) return entered.giveUp()
        waits += 1
        cancel = timers.after(patienceMs, look)
      }
      let cancel = timers.after(patienceMs, look)
      try {
        makeRoom()
        return await entered.room
      } finally {
        cancel()
      }
    },
    begin: turns.begin,
    makeRoom,
    isFull: rooms.isFull,
    close(reason) {
      turns.close(reason)
      rooms.close(reason)
    },
  }
}

interface Waiter {
  admit(): void
  refuse(reason: Error): void
}

/** A wait for room. */
interface Entry {
  room: Promise<Room>
  /** Whether it is over when other programs of the workspace have started, and no sooner. */
  isBehindOwn(): boolean
  giveUp(): void
}

/**
 * Workspaces take turns in getting room, and a workspace may have as many programs that start as it leaves places to others:
 * one alone half of the places, two a third each. A program that starts cannot be ended for one that waits, unlike one
 * that is idle, and code may load slowly on purpose.
 */
function createRooms(places: number) {
  /** The workspace whose turn is next comes first. */
  const waiting = new Map<string, Set<Waiter>>()
  /** Number of starting programs by workspace. */
  const starting = new Map<string, number>()
  let allStarting = 0
  let taken = 0
  let closed: Error | undefined

  const startingOf = (workspaceId: string) => starting.get(workspaceId) ?? 0
  const mayStart = (workspaceId: string) => startingOf(workspaceId) < places - allStarting

  function countStarting(workspaceId: string, change: 1 | -1): void {
    const count = startingOf(workspaceId) + change
    if (count > 0) starting.set(workspaceId, count)
    else starting.delete(workspaceId)
    allStarting += change
  }

  function forget(workspaceId: string, waiter: Waiter): void {
    const waiters = waiting.get(workspaceId)
    waiters?.delete(waiter)
    if (waiters?.size === 0) waiting.delete(workspaceId)
  }

  function admitNext(): void {
    for (const [workspaceId, waiters] of [...waiting]) {
      const [next] = waiters
      if (taken === places) return
      if (next === undefined || !mayStart(workspaceId)) continue
      waiting.delete(workspaceId)
      waiting.set(workspaceId, waiters)
      forget(workspaceId, next)
      next.admit()
    }
  }

  /** Takes a place, which is free. */
  function take(workspaceId: string): Room {
    let isStarting = true
    taken += 1
    countStarting(workspaceId, 1)
    const started = () => {
      if (!isStarting) return
      isStarting = false
      countStarting(workspaceId, -1)
      admitNext()
    }
    return {
      started,
      leave() {
        taken -= 1
        started()
        admitNext()
      },
    }
  }

  function refusalOf(workspaceId: string): Error {
    const reason =
      taken === places
        ? `This server runs ${places} programs already (BOTSTEAD_HOSTING_PROCESSES), and all are busy.`
        : `${startingOf(workspaceId)} programs of the workspace are starting: it may have as many as it leaves places to others, of ${places} in all (BOTSTEAD_HOSTING_PROCESSES).`
    return new OutgoingError('connection', reason)
  }

  return {
    /** Begins to wait, unless there is room. */
    enter(workspaceId: string): Entry {
      let giveUp = () => {}
      const room = new Promise<Room>((resolve, reject) => {
        const waiter: Waiter = { admit: () => resolve(take(workspaceId)), refuse: reject }
        if (closed !== undefined) return reject(closed)
        const waiters = waiting.get(workspaceId) ?? new Set()
        if (waiters.size >= maxWaiting) return reject(refusalOf(workspaceId))
        waiting.set(workspaceId, waiters.add(waiter))
        giveUp = () => {
          forget(workspaceId, waiter)
          reject(refusalOf(workspaceId))
        }
      })
      admitNext()
      return {
        room,
        giveUp,
        isBehindOwn: () => startingOf(workspaceId) > 0 && !mayStart(workspaceId),
      }
    },

    /** Counts the waiting programs that could start if there were places. */
    countNext(): number {
      let count = 0
      for (const [workspaceId, { size }] of waiting) {
        const free = places - allStarting - count
        // As many more as it leaves to the others then.
        count += Math.min(size, Math.max(0, Math.ceil((free - startingOf(workspaceId)) / 2)))
      }
      return count
    },

    isFull: () => taken >= places,

    close(reason: Error): void {
      closed = reason
      for (const waiters of waiting.values()) for (const { refuse } of waiters) refuse(reason)
      waiting.clear()
    },
  }
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
