import type { Config, SettingInForce } from '../../../config/config.js'
import type { Migration } from '../../../platform/db/migrate.js'

/** The result of a check. */
export interface Finding {
  status: 'ok' | 'warning' | 'failed'
  /** One sentence that says what was found. */
  message: string
  /** Advice on the next step; left out if there is nothing to do. */
  next?: string
}

/** Dependencies of the checks: the parts of this installation that they examine. */
export interface DoctorDeps {
  config: Config
  /** Warnings about the settings from loading them. */
  warnings: readonly string[]
  settings: readonly SettingInForce[]
  /** Path of the file of settings, which need not exist. */
  envFile: string
  migrations: readonly Migration[]
}

/** A difference between clocks that a check measured. */
export interface ClockReading {
  /** The owner of the clock, as the end of a sentence with "that of". */
  of: string
  /** Milliseconds that it is ahead of the clock of this machine. */
  aheadMs: number
  /** Milliseconds by which the measurement may be wrong. */
  toleranceMs: number
}

export function ok(message: string): Finding {
  return { status: 'ok', message }
}

export function warning(message: string, next?: string): Finding {
  return { status: 'warning', message, ...(next !== undefined && { next }) }
}

export function failed(message: string, next?: string): Finding {
  return { status: 'failed', message, ...(next !== undefined && { next }) }
}

/** The message of an error, or of its cause if that says more, as with `fetch failed`. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(reasonOf).join(', ')
  }
  if (error.message === 'fetch failed' && error.cause !== undefined) return reasonOf(error.cause)
  return error.message || error.name
}

const timeUnits = [
  ['days', 86_400_000],
  ['hours', 3_600_000],
  ['minutes', 60_000],
  ['seconds', 1000],
] as const

/** A duration for people, in the largest unit of which it has at least two. */
export function durationText(milliseconds: number): string {
  const [name, length] = timeUnits.find(([, each]) => milliseconds >= 2 * each) ?? ['seconds', 1000]
  return `${Math.round(milliseconds / length)} ${name}`
}
