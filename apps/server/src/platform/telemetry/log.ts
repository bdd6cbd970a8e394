import { type DestinationStream, type Level, type Logger, pino } from 'pino'

/** The logger handed to every part of the product. Facts first, message second: `log.warn({ key }, 'text')`. */
export type Log = Logger

export interface LogOptions {
  /** Lines below this level are dropped; `silent` drops all. */
  level: Level | 'silent'
  /** Coloured text for people in place of one JSON object a line. */
  pretty?: boolean
  /** Where lines go in place of standard output. */
  destination?: DestinationStream
}

const censor = '[redacted]'

/** Headers and members that are a credential by themselves, wherever they end up in a log line. */
const secretMembers = ['authorization', 'cookie', '["x-user-key"]', 'token', 'secret', 'password']
const secretPaths = secretMembers.flatMap((member) => {
  const below = member.startsWith('[') ? member : `.${member}`
  return [member, `*${below}`, `*.headers${below}`]
})

/** Query parameters that carry a credential: signed file addresses, keys of web sockets. */
const secretParameter = /([?&](?:token|key|x-user-key|signature|access_token)=)[^&#]*/gi

/** Paths of which the next segment is a credential: upload addresses. */
const secretSegment = /^(\/uploads\/)[^/?#]+/

/** Error links followed before the rest is cut; a longer chain is a loop in practice. */
const maxCauses = 8

/**
 * The logger of a process.
 *
 * JSON lines are written synchronously, so that the last words of a dying process are not lost.
 */
export async function createLog(options: LogOptions): Promise<Log> {
  const settings = {
    level: options.level,
    redact: { paths: secretPaths, censor },
    serializers: { err: describeError, req: describeRequest },
    // The process and machine are known to whoever collects the lines.
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  const destination = options.destination ?? pino.destination(1)
  if (!options.pretty) return pino(settings, destination)
  // Loaded only for people: it costs a start 25 ms.
  const { prettyFactory } = await import('pino-pretty')
  const format = prettyFactory({
    colorize: options.destination === undefined,
    translateTime: 'SYS:HH:MM:ss.l',
  })
  return pino(settings, { write: (line) => destination.write(format(line)) })
}

/** An address as it may be logged: credentials in the query are blanked. */
export function redactUrl(url: string): string {
  const path = url.replace(secretSegment, `$1${censor}`)
  return path.includes('?') ? path.replace(secretParameter, `$1${censor}`) : path
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

interface LoggableRequest {
  method?: string
  url?: string
  ip?: string
}

/** A request as it is logged: no headers, no credentials. */
function describeRequest(request: LoggableRequest) {
  return { method: request.method, url: redactUrl(request.url ?? ''), ip: request.ip }
}
