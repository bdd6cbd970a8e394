import { AsyncLocalStorage } from 'node:async_hooks'

/** What an output is about, as far as the request says so during which it was written. */
export interface Subject {
  botId?: string | undefined
  conversationId?: string | undefined
  messageId?: string | undefined
  eventId?: string | undefined
  userId?: string | undefined
  workflowId?: string | undefined
}

/** A message to the server, one line of JSON each. Any other line comes from Node itself. */
type Report =
  | { host: 'ready' }
  | { host: 'failed'; reason: string }
  | { host: 'fault'; text: string; about: Subject }
  | { host: 'text'; stream: 'out' | 'error'; text: string; about: Subject }

/** Most characters of a text that are reported. */
const longestText = 16_000
/** Most characters of a line of JSON in which the code reports an issue: cut, it could not be parsed. */
const longestIssue = 140_000

const subjects = new AsyncLocalStorage<Subject>()
const write = process.stdout.write.bind(process.stdout)

/** Runs a function, and reports what it writes with this subject. */
export function runWithSubject<Result>(subject: Subject, run: () => Result): Result {
  return subjects.run(subject, run)
}

/** Sends a report to the server. */
export function report(message: Report): void {
  write(`${JSON.stringify(message)}\n`)
}

/** Reports an error that the code did not handle. */
export function reportFault(text: string): void {
  report({ host: 'fault', text: cut(text), about: subjects.getStore() ?? {} })
}

/**
 * Reports what the code writes to its standard output and standard error. Everything up to a write that ends
 * a line is one text, so that an error keeps its stack.
 */
export function reportOutput(): void {
  process.stdout.write = reporting('out')
  process.stderr.write = reporting('error')
}

function reporting(stream: 'out' | 'error') {
  let pending = ''
  return (chunk: string | Uint8Array, encoding?: unknown, done?: unknown): boolean => {
    pending += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8')
    if (pending.endsWith('\n') || pending.length > longestOf(pending)) {
      const text = cut(pending.trimEnd())
      pending = ''
      report({ host: 'text', stream, text, about: subjects.getStore() ?? {} })
    }
    const then = typeof encoding === 'function' ? encoding : done
    if (typeof then === 'function') process.nextTick(() => then())
    return true
  }
}

function longestOf(text: string): number {
  return text.startsWith('{"type":"issue"') ? longestIssue : longestText
}

function cut(text: string): string {
  const longest = longestOf(text)
  const rest = text.length - longest
  return rest > 0 ? `${text.slice(0, longest)} … (${rest} more characters)` : text
}
