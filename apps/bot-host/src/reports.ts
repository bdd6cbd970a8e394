import { AsyncLocalStorage } from 'node:async_hooks'

/** What a text is about, as far as the request says so during which it was written. */
export interface Subject {
  botId?: string | undefined
  conversationId?: string | undefined
  messageId?: string | undefined
  eventId?: string | undefined
  userId?: string | undefined
  workflowId?: string | undefined
}

/** What this program writes for the server, as a line of JSON each; other lines are those of Node. */
type Report =
  | { host: 'ready' }
  | { host: 'failed'; reason: string }
  | { host: 'text'; stream: 'out' | 'error'; text: string; about: Subject }

/** Characters of a text that are reported. */
const longestText = 16_000

const subjects = new AsyncLocalStorage<Subject>()
const write = process.stdout.write.bind(process.stdout)

/** Runs a function so that what it writes is reported with its subject. */
export function runAbout<Result>(subject: Subject, run: () => Result): Result {
  return subjects.run(subject, run)
}

/** Sends a report to the server. */
export function report(message: Report): void {
  write(`${JSON.stringify(message)}\n`)
}

/**
 * Reports what the code writes to its standard output and standard error. What is written at once is
 * one text, such as an error with its stack.
 */
export function reportOutput(): void {
  process.stdout.write = reporting('out')
  process.stderr.write = reporting('error')
}

function reporting(stream: 'out' | 'error') {
  let pending = ''
  return (chunk: string | Uint8Array, encoding?: unknown, done?: unknown): boolean => {
    pending += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8')
    if (pending.endsWith('\n') || pending.length > longestText) {
      const text = cut(pending.trimEnd())
      pending = ''
      report({ host: 'text', stream, text, about: subjects.getStore() ?? {} })
    }
    const then = typeof encoding === 'function' ? encoding : done
    if (typeof then === 'function') process.nextTick(() => then())
    return true
  }
}

function cut(text: string): string {
  const rest = text.length - longestText
  return rest > 0 ? `${text.slice(0, longestText)} … (${rest} more characters)` : text
}
