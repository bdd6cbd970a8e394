import { type DestinationStream, type Level, type Logger, pino } from 'pino'
import { escapeJson, escapeParsedJson } from '../terminal-text.js'

/** The logger handed to every part of the product. Facts first, message second: `log.warn({ key }, 'text')`. */
export type Log = Logger

export interface LogOptions {
  /** Lines below this level are dropped; `silent` drops all. */
  level: Level | 'silent'
  /** Coloured text for people in place of one JSON object a line. */
  pretty?: boolean
  /** Returns fields for every line, such as the ids of the current span. */
  fields?: () => object | undefined
  /** Destination of lines. Default standard output. */
  destination?: DestinationStream
  /** Whether a line, as JSON, is left out. */
  skip?: (line: string) => boolean
}

const censor = '[redacted]'

/** Headers and members that are a credential by themselves, wherever they end up in a log line. */
const secretMembers = ['authorization', 'cookie', '["x-user-key"]', 'token', 'secret', 'password']
const secretPaths = secretMembers.flatMap((member) => {
  const below = member.startsWith('[') ? member : `.${member}`
  return [member, `*${below}`, `*.headers${below}`]
})

/** Error links followed before the rest is cut; a longer chain is a loop in practice. */
const maxCauses = 8

/**
 * The logger of a process.
 *
 * JSON lines are written synchronously, so that the last lines of a crashing process are not lost.
 */
export async function createLog(options: LogOptions): Promise<Log> {
  const { fields, skip } = options
  const settings = {
    level: options.level,
    redact: { paths: secretPaths, censor },
    serializers: { err: describeError, req: describeRequest },
    // Whoever collects the lines knows the process and the machine.
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    ...(fields && { mixin: () => fields() ?? {} }),
  }
  const destination = options.destination ?? pino.destination({ dest: 1, sync: true })
  const unlessSkipped = (write: (line: string) => void): DestinationStream => ({
    write: (line) => {
      if (!skip?.(line)) write(line)
    },
  })
  // Lines name what others have named, and JSON lines too are read on terminals.
  if (!options.pretty) {
    const json = { ...settings, hooks: { streamWrite: escapeJson } }
    return pino(json, skip ? unlessSkipped((line) => destination.write(line)) : destination)
  }
  // Loaded only for people: it costs a start 25 ms.
  const { prettyFactory } = await import('pino-pretty')
  const format = prettyFactory({
    colorize: options.destination === undefined,
    translateTime: 'SYS:HH:MM:ss.l',
  })
  const write = (line: string) => destination.write(format(escapeParsedJson(line)))
  return pino(settings, unlessSkipped(write))
}

interface DescribedError {
  type: string
  message: string
  code?: unknown
  stack?: string | undefined
  cause?: unknown
  errors?: unknown[]
}

/**
 * An error as it is logged: type, message, code, stack, and the same for every cause below it.
 * Other members are left out on purpose, because libraries attach requests and credentials to them.
 */
export function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return error
  const described: DescribedError = {
    type: error.name === 'Error' ? error.constructor.name : error.name,
    message: error.message,
    stack: error.stack,
  }
  if ('code' in error) described.code = error.code
  if (depth >= maxCauses) return described
  if (error.cause !== undefined) described.cause = describeError(error.cause, depth + 1)
  if (error instanceof AggregateError) {
    described.errors = error.errors.map((each) => describeError(each, depth + 1))
  }
  return described
}

/** A request as it is logged: neither headers nor the address, which may contain credentials. */
function describeRequest({ method, ip }: { method?: string; ip?: string }) {
  return { method, ip }
}

/** Logs a fault that many callers run into repeatedly, until it is over. */
export interface OutageLog {
  /** `who` ran into the fault. */
  failed(who: string, err: unknown): void
  /** `who` succeeded. */
  worked(who: string): void
}

/**
 * Logs a fault when the first caller runs into it, and its end once all of those have succeeded again.
 * In between there are only lines of level `debug`: a night without the database is two lines.
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
