import type { Log } from './log.js'

/** What the log says of a fault that many meet, again and again, until it is over. */
export interface OutageLog {
  /** `who` has met the fault. */
  failed(who: string, err: unknown): void
  /** `who` got through. */
  worked(who: string): void
}

/**
 * Tells of a fault when the first one meets it, and that it is over when all who met it got through.
 * In between there are lines of the level `debug` only: a night without the database is two lines.
 */
export function createOutageLog(log: Log, lines: { begins: string; ends: string }): OutageLog {
  const failing = new Set<string>()
  return {
    failed(who, err) {
      log[failing.size === 0 ? 'warn' : 'debug']({ err, kind: who }, lines.begins)
      failing.add(who)
    },
    worked(who) {
      if (failing.delete(who) && failing.size === 0) log.info(lines.ends)
    },
  }
}
