import { noteLoggers, reportIfLogged } from './loggers.js'
import { currentSubject, type Level, reportLine, type Subject } from './reports.js'

/** Maximum number of characters that wait for the end of their line. */
const maxPending = 16_000

let levelOfCall: Level | undefined
const streams: { flush(subject?: Subject): void }[] = []

/**
 * Reports what the code writes to its console, standard output and standard error. Everything up to a write
 * that ends a line is one text, so that an error keeps its stack. A text has the level of the method that
 * printed it and the subject of the request in which it did, whatever it says.
 */
export function reportPrinted(): void {
  noteLoggers()
  noteLevel('debug', 'debug')
  noteLevel('log', 'info')
  noteLevel('info', 'info')
  noteLevel('warn', 'warn')
  noteLevel('error', 'error')
  process.stdout.write = writing('info')
  process.stderr.write = writing('error')
}

/** Reports what a request has written without ending the line. */
export function flushPrinted(subject: Subject): void {
  for (const stream of streams) stream.flush(subject)
}

function noteLevel(name: 'debug' | 'log' | 'info' | 'warn' | 'error', level: Level): void {
  // biome-ignore lint/suspicious/noConsole: the console of the code, whose texts are reported
  const print = console[name]
  const noting = (...given: unknown[]) => {
    const before = levelOfCall
    levelOfCall = level
    try {
      print(...given)
    } finally {
      levelOfCall = before
    }
  }
  console[name] = Object.defineProperty(noting, 'name', { value: name })
}

function writing(usual: Level) {
  let pending = ''
  let level = usual
  let about: Subject | undefined

  function flush(subject = about): void {
    if (pending === '' || subject !== about) return
    const text = pending.trimEnd()
    pending = ''
    reportLine(level, text, about)
  }

  streams.push({ flush })
  return (chunk: string | Uint8Array, encoding?: unknown, done?: unknown): boolean => {
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8')
    const subject = currentSubject()
    const next = levelOfCall ?? usual
    // The text of another request, or of another level, is a line of its own.
    if (subject !== about || next !== level) flush()
    level = next
    about = subject
    if (pending !== '' || !reportIfLogged(text, level, about)) {
      pending += text
      if (pending.endsWith('\n') || pending.length > maxPending) flush()
    }
    const then = typeof encoding === 'function' ? encoding : done
    if (typeof then === 'function') process.nextTick(() => then())
    return true
  }
}
