import util from 'node:util'
import {
  cut,
  type Issue,
  type Level,
  reportFault,
  reportIssue,
  reportLine,
  type Subject,
} from './reports.js'

// With `BP_LOG_FORMAT=json` the loggers of SDKs print lines and issues as JSON. Other code prints JSON too,
// and much of what bots print was written by visitors, so that the text itself proves nothing: it counts if a
// logger made it. The functions that call `JSON.stringify` show that, and keep their names in minified code:
// `_log`, called by a method that is named after the level, and `issue`.

/** A text that a logger made, before it is printed. */
type Made =
  | { kind: 'line'; text: string; message: string; isFault: boolean; options: unknown }
  | { kind: 'issue'; text: string; given: Record<string, unknown> }

/** The text that SDKs of bots print before an error that a handler threw. */
const faultMessage = 'An unexpected error occurred in the bot.'
/** Functions between a level of the logger and the making of JSON, and some more for what wraps `JSON`. */
const framesOfLine = 6
const framesOfIssue = 2
const levels: ReadonlySet<string | null | undefined> = new Set(['debug', 'info', 'warn', 'error'])

/** Maximum length in characters of the texts of an issue, as many as are stored, and of an id. */
const maxLengths = { code: 100, title: 200, description: 4000, name: 100, id: 100 }
const maxBytes = 131_072
const maxData = 50
const maxGroups = 10

// As they were before the code was loaded, which may replace them.
const { stringify, parse } = JSON
const { captureStackTrace } = Error

let made: Made | undefined
let faultText: string | undefined

/** Notes what loggers make. Call it before the code is loaded. */
export function noteLoggers(): void {
  const { format } = util
  util.format = (...given: unknown[]) => {
    const text = format(...given)
    // Only code can make an `Error`: a visitor writes text.
    if (given[0] === faultMessage && util.types.isNativeError(given[1])) faultText = text
    return text
  }
  const noting = (...given: Parameters<typeof stringify>) => {
    const text = stringify(...given)
    if (typeof text === 'string' && text.startsWith('{')) note(given[0], text, noting)
    return text
  }
  Object.defineProperty(noting, 'name', { value: 'stringify' })
  Object.assign(JSON, { stringify: noting })
}

/** Reports a printed text as a line or an issue of a logger. @returns false if no logger made it */
export function reportIfLogged(text: string, level: Level, about: Subject): boolean {
  if (made === undefined || text.length !== made.text.length + 1 || !text.startsWith(made.text)) {
    return false
  }
  const found = made
  made = undefined
  if (found.kind === 'line') {
    const subject = addTo(about, found.options)
    if (found.isFault) reportFault(() => found.message, subject)
    else reportLine(level, found.message, subject)
  } else reportIssue(toIssue(found.given), addTo(about, found.given))
  return true
}

function note(value: unknown, text: string, below: (...given: never[]) => unknown): void {
  try {
    const given = Object(value)
    if (typeof given.msg === 'string') {
      const { msg: message, options } = given
      if (!isLogger(namesBelow(below, framesOfLine), options !== undefined)) return
      const isFault = message === faultText
      if (isFault) faultText = undefined
      made = { kind: 'line', text, message, isFault, options }
    } else if (given.type === 'issue' && typeof given.code === 'string') {
      if (!namesBelow(below, framesOfIssue).includes('issue')) return
      made = { kind: 'issue', text, given: parse(text) }
    }
  } catch {
    // A value that cannot be read, such as a proxy that throws, does not come from a logger.
  }
}

/** SDKs before 1.0 have functions for the levels only, and name no ids. */
function isLogger(names: readonly (string | null)[], hasOptions: boolean): boolean {
  if (!hasOptions) return names.some((name) => levels.has(name))
  const at = names.indexOf('_log')
  return at !== -1 && levels.has(names[at + 1])
}

/** Names of the functions that called a function, the last call first. */
function namesBelow(below: (...given: never[]) => unknown, count: number): (string | null)[] {
  const { stackTraceLimit, prepareStackTrace } = Error
  try {
    Error.stackTraceLimit = count
    Error.prepareStackTrace = (_, sites) => sites.map((site) => site.getFunctionName())
    const holder: { stack?: unknown } = {}
    captureStackTrace(holder, below)
    const names = holder.stack
    return Array.isArray(names) ? names.map(nameOf) : []
  } finally {
    Error.stackTraceLimit = stackTraceLimit
    Error.prepareStackTrace = prepareStackTrace
  }
}

/** Some functions are named with their class. */
function nameOf(name: unknown): string | null {
  return typeof name === 'string' ? name.slice(name.lastIndexOf('.') + 1) : null
}

const idNames = ['botId', 'conversationId', 'messageId', 'eventId', 'userId', 'workflowId'] as const

/** The subject of a request with ids that a logger names: those that the request has count. */
function addTo(about: Subject, given: unknown): Subject {
  const subject: Subject = { ...about }
  for (const name of idNames) {
    const id: unknown = Object(given)[name]
    if (typeof id === 'string' && id !== '' && id.length <= maxLengths.id) subject[name] ??= id
  }
  return subject
}

function toIssue(given: Record<string, unknown>): Issue {
  const code = textOr(given.code, '')
  const groups: unknown[] = Array.isArray(given.groupBy) ? given.groupBy : []
  return {
    code: code.slice(0, maxLengths.code),
    category: textOr(given.category, 'user_code').slice(0, maxLengths.code),
    title: textOr(given.title, code).slice(0, maxLengths.title),
    description: cut(textOr(given.description, ''), maxLengths.description - 50),
    data: toData(given.data),
    groupBy: groups
      .filter((name) => typeof name === 'string')
      .slice(0, maxGroups)
      .map((name) => name.slice(0, maxLengths.name)),
  }
}

/** As many values as fit; the last one may be cut. */
function toData(given: unknown): Issue['data'] {
  const data: [string, { raw: string; pretty?: string }][] = []
  let left = maxBytes
  for (const [name, value] of Object.entries(Object(given)).slice(0, maxData)) {
    const { raw: own, pretty } = Object(value)
    const raw = typeof value === 'string' ? value : textOr(own, stringify(value) ?? '')
    const entry = { raw, ...(typeof pretty === 'string' && { pretty }) }
    const size = Buffer.byteLength(stringify([name, entry]))
    if (size > left) {
      // A character has at most six bytes in JSON.
      data.push([
        name.slice(0, maxLengths.name),
        { raw: raw.slice(0, Math.max(0, Math.floor((left - 200) / 6))) },
      ])
      break
    }
    left -= size
    data.push([name.slice(0, maxLengths.name), entry])
  }
  return Object.fromEntries(data)
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}
