/** Thrown by a handler for work that will never succeed: the job is given up without another try. */
export class PermanentJobError extends Error {
  override readonly name = 'PermanentJobError'
}

/** The payload of a job is not JSON: this program has not written it. No handler sees such a job. */
export class UnreadableJobError extends PermanentJobError {}

/**
 * Thrown by a handler when a program of somebody else is the reason: the job is tried again, and its log line has the
 * reason without stacks, which would be those of this server.
 */
export class OutsideJobError extends Error {
  override readonly name = 'OutsideJobError'
}

/** The attempt took longer than its job allows. */
export class JobDeadlineError extends Error {
  override readonly name = 'JobDeadlineError'
}

/** Characters of an error that are kept with its job; the log has all of it. */
const maxErrorLength = 1000

/** An error and its causes as one text for people, cut where it gets long. */
export function errorText(error: Error): string {
  let text = ''
  let each: unknown = error
  for (let depth = 0; depth < 4 && each !== undefined && text.length < maxErrorLength; depth++) {
    const part = each instanceof Error ? each.message || each.name : String(each)
    text += text === '' ? part : `: ${part}`
    each = each instanceof Error ? each.cause : undefined
  }
  return text.length > maxErrorLength ? `${text.slice(0, maxErrorLength - 1)}…` : text
}
