import { createHash } from 'node:crypto'
import type { WorkspaceLogLine } from '../../../domain/log-lines.js'
import type { DeadJob } from '../../../platform/jobs/queue.js'
import type { FailedDelivery } from '../../deliveries/index.js'
import type { FailedFile } from '../../files/index.js'

/** An error, wherever it was found. */
interface FoundError {
  kind: 'delivery' | 'file' | 'log' | 'job'
  message: string
  /** ISO 8601 time. */
  at: string
  botId?: string
  integrationAlias?: string
  integrationId?: string
  target: { type: 'delivery' | 'file' | 'log' | 'job'; id: string; botId?: string }
}

/** Errors with the same cause; message and target are those of the newest one. */
export interface ErrorGroup extends Omit<FoundError, 'at'> {
  /** Fingerprint of their kind, pattern, bot and integration. */
  id: string
  /** The words that their messages have in common. */
  pattern: string
  count: number
  lastAt: string
  /** Errors of each hour, the oldest hour first. */
  hours: number[]
}

const hour = 60 * 60 * 1000
/** Hours that groups cover. */
export const coveredHours = 24
const maxPatternLength = 300

/**
 * A message without what differs from error to error, so that errors with the same cause are counted
 * together: ids, numbers and quoted texts.
 */
export function patternOf(message: string): string {
  return message
    .slice(0, 2 * maxPatternLength)
    .replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '#')
    .replaceAll(/\b[a-z]+_[0-9A-HJKMNP-TV-Z]{26}\b/g, '#')
    .replaceAll(/\b(?=[0-9a-f]*\d)[0-9a-f]{12,}\b/gi, '#')
    .replaceAll(/\d+(?:[.,:]\d+)*/g, '#')
    .replaceAll(/#(?:[-/ ]#)+/g, '#')
    .slice(0, maxPatternLength)
}

/** The first sentence of the log line about a delivery that was given up, see `deliveries`. */
const givenUp = /^\S+(?: to \S+)?: given up(?: \(\S+\))?\. /

/** Whether the log repeats an error that is counted as a failed delivery. */
export function isGivenUp({ source, message }: WorkspaceLogLine): boolean {
  return source === 'bot' && givenUp.test(message)
}

export function ofDelivery(row: FailedDelivery): FoundError {
  const { id, bot_id: botId, integration } = row
  return {
    kind: 'delivery',
    message: row.last_error ?? 'Failed.',
    // The time of the failure: a delivery that is replayed may fail again.
    at: row.updated_at,
    botId,
    ...(integration !== '' && { integrationAlias: integration }),
    target: { type: 'delivery', id, botId },
  }
}

export function ofFile({
  id,
  bot_id: botId,
  failed_reason,
  updated_at: at,
}: FailedFile): FoundError {
  const message = failed_reason ?? 'Failed.'
  return { kind: 'file', message, at, botId, target: { type: 'file', id, botId } }
}

export function ofLine({ id, botId, integrationId, message, createdAt: at }: WorkspaceLogLine) {
  const found: FoundError = {
    kind: 'log',
    message,
    at,
    botId,
    ...(integrationId !== null && { integrationId }),
    target: { type: 'log', id, botId },
  }
  return found
}

export function ofJob({ id, kind, lastError, diedAt: at }: DeadJob): FoundError {
  const message = `${kind}: ${lastError}`
  return { kind: 'job', message, at, target: { type: 'job', id } }
}

/** The text of which the fingerprint of a group is made: equal for all errors of the group. */
function keyOf({ kind, message, botId, integrationAlias, integrationId }: FoundError): string {
  return JSON.stringify([kind, patternOf(message), botId, integrationAlias, integrationId])
}

function fingerprintOf(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 32)
}

/**
 * Returns a function that tells whether an error is resolved.
 * @param resolved until when groups are resolved, ISO 8601, by their ids
 */
export function resolvedIn(resolved: ReadonlyMap<string, string>): (error: FoundError) => boolean {
  const until = new Map<string, string | undefined>()
  return (error) => {
    if (resolved.size === 0) return false
    const key = keyOf(error)
    if (!until.has(key)) until.set(key, resolved.get(fingerprintOf(key)))
    return error.at <= (until.get(key) ?? '')
  }
}

/**
 * Groups errors by what they have in common, the most frequent first.
 * @param since start of the first hour, in milliseconds; older errors are left out
 */
export function groupErrors(errors: readonly FoundError[], since: number): ErrorGroup[] {
  const groups = new Map<string, ErrorGroup>()
  for (const { at, ...error } of errors) {
    const number = Math.floor((Date.parse(at) - since) / hour)
    if (number < 0 || Number.isNaN(number)) continue
    const key = keyOf({ ...error, at })
    const message = error.message.slice(0, maxPatternLength)
    const group = groups.get(key) ?? {
      ...error,
      id: fingerprintOf(key),
      message,
      pattern: patternOf(error.message),
      count: 0,
      lastAt: at,
      hours: new Array<number>(coveredHours).fill(0),
    }
    groups.set(key, group)
    group.count += 1
    // Clocks of bots may be ahead a little.
    const column = Math.min(number, coveredHours - 1)
    group.hours[column] = (group.hours[column] ?? 0) + 1
    if (at < group.lastAt) continue
    group.lastAt = at
    group.message = message
    group.target = error.target
  }
  return [...groups.values()].sort(
    (one, other) => other.count - one.count || (one.lastAt < other.lastAt ? 1 : -1),
  )
}
