import type { Timers } from '../../platform/clock.js'

/** The part of the budget that one program has. */
export interface OutputShare {
  /** Counts what was read. @returns whether more may be read now */
  take(read: { bytes?: number; lines?: number }): boolean
  /** Calls back when more may be read. */
  wait(resume: () => void): void
  close(): void
}

/** One budget for the output of all programs of this process, because all of it takes time of one event loop. */
export interface OutputBudget {
  open(): OutputShare
}

/** Milliseconds between two rounds, in each of which every program that waits gets an equal part. */
const roundMs = 100

/** The part that one program has left in a round. */
interface Use {
  bytes: number
  lines: number
  round: number
  waiting: (() => void)[]
}

/**
 * Programs that write little never wait for those that write much: at the beginning of a round, what a second
 * allows is divided by the programs that used up their part in the one before.
 * @param perSecond bytes and lines that are read of all programs in a second
 */
export function createOutputBudget(
  timers: Timers,
  perSecond: { bytes: number; lines: number },
): OutputBudget {
  const uses = new Set<Use>()
  let round = 0
  let running = false

  function partOf(share: number): { bytes: number; lines: number } {
    const parts = (share * 1000) / roundMs
    return {
      bytes: Math.max(1, Math.floor(perSecond.bytes / parts)),
      lines: Math.max(1, Math.floor(perSecond.lines / parts)),
    }
  }

  function run(): void {
    if (running) return
    running = true
    timers.after(roundMs, () => {
      running = false
      round += 1
      const hungry = [...uses].filter(({ waiting }) => waiting.length > 0)
      const part = partOf(Math.max(1, hungry.length))
      for (const use of hungry) {
        // Output that was read beyond the part of a round is subtracted from the next part.
        use.bytes = Math.min(use.bytes, 0) + part.bytes
        use.lines = Math.min(use.lines, 0) + part.lines
        use.round = round
        if (use.bytes <= 0 || use.lines <= 0) continue
        for (const resume of use.waiting.splice(0)) resume()
      }
      if (hungry.length > 0) run()
    })
  }

  return {
    open() {
      const use: Use = { bytes: 0, lines: 0, round: -1, waiting: [] }
      uses.add(use)
      return {
        take({ bytes = 0, lines = 0 }) {
          run()
          if (use.round !== round && use.waiting.length === 0) {
            Object.assign(use, partOf(uses.size), { round })
          }
          use.bytes -= bytes
          use.lines -= lines
          return use.bytes > 0 && use.lines > 0
        },
        wait(resume) {
          use.waiting.push(resume)
          run()
        },
        close() {
          uses.delete(use)
          use.waiting = []
        },
      }
    },
  }
}
