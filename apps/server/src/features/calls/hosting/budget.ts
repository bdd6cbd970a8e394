import type { Timers } from '../../../platform/clock.js'

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

interface Account {
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
  const accounts = new Set<Account>()
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
      const hungry = [...accounts].filter(({ waiting }) => waiting.length > 0)
      const part = partOf(Math.max(1, hungry.length))
      for (const account of hungry) {
        // Output that was read beyond the part of a round is subtracted from the next part.
        account.bytes = Math.min(account.bytes, 0) + part.bytes
        account.lines = Math.min(account.lines, 0) + part.lines
        account.round = round
        if (account.bytes <= 0 || account.lines <= 0) continue
        for (const resume of account.waiting.splice(0)) resume()
      }
      if (hungry.length > 0) run()
    })
  }

  return {
    open() {
      const account: Account = { bytes: 0, lines: 0, round: -1, waiting: [] }
      accounts.add(account)
      return {
        take({ bytes = 0, lines = 0 }) {
          run()
          if (account.round !== round && account.waiting.length === 0) {
            Object.assign(account, partOf(accounts.size), { round })
          }
          account.bytes -= bytes
          account.lines -= lines
          return account.bytes > 0 && account.lines > 0
        },
        wait(resume) {
          account.waiting.push(resume)
          run()
        },
        close() {
          accounts.delete(account)
          account.waiting = []
        },
      }
    },
  }
}
