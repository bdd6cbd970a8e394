import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent } from 'undici'
import type { NetworkLists } from '../../platform/outgoing/address-rules.js'
import type { ResponseMemory } from '../../platform/outgoing/outgoing.js'
import type { Deployment } from '../bots/deployments/index.js'
import type { OutputBudget, OutputShare } from './budget.js'
import { connectReports, untilListening } from './connection.js'
import type { Launched, Launcher } from './launch.js'
import { type LineReading, readLines } from './lines.js'
import type { OutputListener } from './output.js'
import { type ProcessorTimes, type TreeUsage, watchUsage } from './process-tree.js'
import { createProgramClient, type ProgramClient } from './program-client.js'
import { maxReportBytes, ReportError, readReport } from './reports.js'

/** The order to start the code of a deployment. */
export interface ProgramOrder {
  deployment: Deployment
  /** In UTF-8. */
  code: Buffer
  /** The result of `Program.compiled` for the same code; undefined if it was not kept. */
  compiled: Buffer | undefined
  /** The whole environment of the code. */
  environment: Readonly<Record<string, string>>
  /** Networks that the code may and may not connect to; undefined if it may connect to any address. */
  network: (NetworkLists & { api: { host: string; port: number } }) | undefined
}

export interface ProgramDeps {
  launcher: Launcher
  /** The budget for reading the output of all programs. */
  budget: OutputBudget
  /** The budget for reading the responses of all programs, in which each piece counts as a line. */
  responses: OutputBudget
  /** Memory for the responses of all programs that are in progress. */
  memory: ResponseMemory
  /** Maximum number of reports of the program in a minute. */
  reports: { linesPerMinute: number; issuesPerMinute: number }
  /** Milliseconds that the code may take to load. */
  startMs: number
  /** Maximum bytes of memory of the process and all that it starts. */
  memoryBytes: number
  /** Maximum number of requests at a time. */
  requests: number
}

/** Code that cannot be loaded, or whose process ended while it was loaded. */
export class StartError extends Error {
  override name = 'StartError'
}

/** The end of a program. */
interface ProgramEnd {
  how: string
  /** Whether it got a signal that terminals and service managers send to all processes of a server, and did not send it itself. */
  isFromOutside: boolean
}

/** A process with the code of one deployment. */
export interface Program extends Pick<ProgramClient, 'send' | 'responds' | 'compiled'> {
  readonly deployment: Deployment
  readonly pid: number | undefined
  /** Resolves when it has ended; never rejects. */
  readonly ended: Promise<ProgramEnd>
  /** Processor time that it has had so far: without any, it could not respond. */
  processorTimes(): Promise<ProcessorTimes>
  /**
   * Resources that the process and all that it started use now. Until the first call the program is ended when it uses too
   * much; from then on the caller must watch it.
   */
  usage(): Promise<TreeUsage>
  /** Ends it, by force if it does not end by itself. */
  end(): Promise<void>
  /** Ends it now, by force. */
  kill(): void
}

/** Milliseconds that a program has to end by itself, before it is killed. */
const graceMs = 2000
const outOfMemory = 'it used too much memory'
/** Characters of standard error that are kept: its end, where Node prints the error that ended it. */
const keptErrorText = 4000
/** Maximum bytes of a line that is written past the console of the program. */
const maxLineBytes = 4000
/**
 * Milliseconds in which the last output of a program that ended is read from its pipes, and then what waits of it and of its
 * reports for the budget: together less than `endMs`.
 */
const lastOutputMs = 500
/** Milliseconds within which a program whose connection broke has ended, if that is why. */
export const endMs = 5000

/**
 * Waits until a program has ended, at most so long.
 * @returns how it ended; undefined if it has not
 * @throws the reason of the signal
 */
export async function endWithin(
  { ended }: Pick<Program, 'ended'>,
  withinMs: number,
  signal?: AbortSignal,
): Promise<ProgramEnd | undefined> {
  const options = { ref: false, ...(signal && { signal }) }
  const late = sleep(withinMs, undefined, options).catch((): undefined => {
    signal?.throwIfAborted()
  })
  return await Promise.race([ended, late])
}

/**
 * Starts the code of a deployment and waits until it is loaded.
 * @param signal ends the program if it is aborted before that
 * @throws StartError if it cannot be loaded
 */
export async function startProgram(
  deps: ProgramDeps,
  order: ProgramOrder,
  listener: OutputListener,
  signal?: AbortSignal,
): Promise<Program> {
  const { deployment } = order
  const name = `${deployment.owner.type}=${deployment.owner.id}`
  const [{ Agent: Client }, launched] = await Promise.all([
    import('undici'),
    deps.launcher.launch(name).catch((cause: unknown) => {
      throw new StartError(`its process could not be created: ${String(cause)}`, { cause })
    }),
  ])
  const running = new RunningProgram(deps, launched, listener)
  sendOrder(launched.process.stdin, order, deps.reports)
  const path = await untilLoaded(running, deps.startMs, signal)
  return running.serveAt(path, Client, deployment)
}

/** Resolves with the path of the socket when the code is loaded; ends the program if it is not in time. */
async function untilLoaded(
  running: RunningProgram,
  startMs: number,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { kill } = running
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    kill()
  }, startMs)
  signal?.addEventListener('abort', kill, { once: true })
  if (signal?.aborted) kill()
  try {
    return await Promise.race([
      running.load(),
      running.ended.then(({ how }) => {
        throw new StartError(how)
      }),
    ])
  } catch (error) {
    kill()
    throw isLate ? new StartError(`The code was not loaded within ${startMs} ms.`) : error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', kill)
  }
}

/** A process with its output and its reports, from its launch until all of them are read. */
class RunningProgram {
  /** Ends it now, by force. */
  readonly kill: () => void
  /** Resolves when it has ended; never rejects. */
  readonly ended: Promise<ProgramEnd>
  readonly #deps: ProgramDeps
  readonly #launched: Launched
  readonly #listener: OutputListener
  readonly #share: OutputShare
  readonly #ofResponses: OutputShare
  readonly #held: ReturnType<ResponseMemory['open']>
  readonly #endWatch: () => void
  /** Resolves when what it wrote past its console was read. */
  readonly #lastOutput: Promise<unknown>
  readonly #starting = new AbortController()
  #errorText = ''
  /** The reason for which the server ended it. */
  #fault: string | undefined
  /** The signal that the code sent to its own process last. */
  #ownSignal: string | undefined
  /** Carries the reports of the program. */
  #channel: Socket | undefined
  #lastReports: Promise<void> = Promise.resolve()
  #client: ProgramClient | undefined

  constructor(deps: ProgramDeps, launched: Launched, listener: OutputListener) {
    this.#deps = deps
    this.#launched = launched
    this.#listener = listener
    this.kill = launched.kill
    this.#share = deps.budget.open()
    this.#ofResponses = deps.responses.open()
    this.#held = deps.memory.open()
    // While the code loads, and is tried out, nobody else knows the program.
    this.#endWatch = watchUsage(launched.usage, deps.memoryBytes, (reason) => this.#endFor(reason))
    const { stdout, stderr } = launched.process
    const reading = { share: this.#share, onFault: (error: unknown) => this.#refuse(error) }
    this.#lastOutput = Promise.all([
      readPrinted(stdout, reading, listener),
      readErrors(stderr, reading, (text) => {
        this.#errorText = (this.#errorText + text).slice(-keptErrorText)
      }),
    ])
    this.ended = this.#untilEnd()
  }

  /** Resolves when the code is loaded, with the path of the socket. */
  async load(): Promise<string> {
    const socket = await untilListening(this.#launched.openSocket, this.#starting.signal)
    await this.#launched.socketOpened(socket)
    // The program loads the code after this.
    const channel = await connectReports(socket.path, this.#starting.signal)
    this.#channel = channel
    await new Promise<void>((resolve, reject) => {
      this.#lastReports = this.#readReports(channel, resolve, reject)
    })
    return socket.path
  }

  /** The loaded program, which is called at a socket. */
  serveAt(path: string, Client: typeof Agent, deployment: Deployment): Program {
    const client = createProgramClient({
      Client,
      path,
      share: this.#ofResponses,
      held: this.#held,
      requests: this.#deps.requests,
    })
    this.#client = client
    const { process: child, processorTimes, usage } = this.#launched
    return {
      deployment,
      pid: child.pid,
      ended: this.ended,
      kill: this.kill,
      send: client.send,
      responds: client.responds,
      compiled: client.compiled,
      processorTimes,
      usage: () => {
        this.#endWatch()
        return usage()
      },
      end: async () => {
        // The end of its input ends a program that is not in an endless loop.
        child.stdin?.end()
        const force = setTimeout(this.kill, graceMs)
        await this.ended
        clearTimeout(force)
      },
    }
  }

  /** Reads the reports of the program until its end. */
  async #readReports(
    channel: Socket,
    onReady: () => void,
    onFailed: (error: Error) => void,
  ): Promise<void> {
    await readLines(channel, {
      share: this.#share,
      maxBytes: maxReportBytes,
      onFault: (error) => {
        this.#refuse(error)
        onFailed(new StartError(this.#fault))
      },
      onLine: (line, cut) => {
        if (cut > 0) throw new ReportError(`it has more than ${maxReportBytes} bytes`)
        readReport(line, {
          ...this.#listener,
          onReady,
          onSignal: (signal) => {
            this.#ownSignal = signal
          },
          onFailed: (reason) => onFailed(new StartError(shortened(reason.split('\n')))),
        })
      },
    })
  }

  /** Ends the program for output that the server does not read. */
  #refuse(error: unknown): void {
    const why = error instanceof Error ? error.message : 'unknown fault'
    this.#endFor(`a report that was refused: ${why}`)
  }

  #endFor(reason: string): void {
    this.#fault ??= reason
    this.kill()
  }

  /** Resolves when the process and its output have ended, or with the error of a process. */
  async #untilClosed(): Promise<{ code: number | null; signal: string | null } | Error> {
    const { process: child } = this.#launched
    return await new Promise((resolve) => {
      child.once('error', resolve)
      child.once('close', (code, signal) => resolve({ code, signal }))
      // Its output may be far beyond the budget, and the end must not wait until it is read.
      child.once('exit', () => {
        setTimeout(() => {
          child.stdout?.destroy()
          child.stderr?.destroy()
        }, lastOutputMs)
      })
    })
  }

  async #untilEnd(): Promise<ProgramEnd> {
    const end = await this.#untilClosed()
    this.#endWatch()
    await Promise.race([Promise.all([this.#lastOutput, this.#lastReports]), sleep(lastOutputMs)])
    // It may wait for the budget, and would stay open.
    this.#channel?.destroy()
    // Only now, because the reason of the end is among the last words of the program.
    const how = end instanceof Error ? end.message : endOf(end.code, end.signal, this.#errorText)
    const signal = end instanceof Error ? null : end.signal
    const reason = this.#fault ?? ((await this.#launched.ranOutOfMemory()) ? outOfMemory : how)
    this.#starting.abort(new StartError(reason))
    this.#share.close()
    this.#ofResponses.close()
    await Promise.all([this.#client?.destroy(), this.#launched.clear()])
    const isOfAll = ['SIGTERM', 'SIGINT', 'SIGHUP'].includes(signal ?? '')
    return { how: reason, isFromOutside: reason === how && isOfAll && signal !== this.#ownSignal }
  }
}

/** The code follows the order as it is: as JSON, it would hold the event loop. */
function sendOrder(
  input: Writable | null,
  { code, compiled, environment, network }: ProgramOrder,
  reports: ProgramDeps['reports'],
): void {
  const [codeBytes, compiledBytes] = [code.length, compiled?.length ?? 0]
  const head = { codeBytes, compiledBytes, environment, network, reports }
  input?.write(`${JSON.stringify(head)}\n`)
  input?.write(code)
  if (compiled) input?.write(compiled)
}

type Reading = Pick<LineReading, 'share' | 'onFault'>

/** Reads the output that a program writes past its console: always text, never a report. */
async function readPrinted(
  stream: Readable | null,
  reading: Reading,
  listener: OutputListener,
): Promise<void> {
  if (stream === null) return
  const onLine = (line: string, cut: number) => {
    const message = cut > 0 ? `${line} … (${cut} more bytes)` : line
    listener.onLine({ level: 'info', message, about: {} })
  }
  await readLines(stream, { ...reading, maxBytes: maxLineBytes, onLine })
}

async function readErrors(
  stream: Readable | null,
  reading: Reading,
  onText: (text: string) => void,
): Promise<void> {
  if (stream === null) return
  const onLine = (line: string) => onText(`${line}\n`)
  await readLines(stream, { ...reading, maxBytes: maxLineBytes, onLine })
}

function endOf(code: number | null, signal: string | null, errorText: string): string {
  const how = signal === null ? `exit code ${code}` : `signal ${signal}`
  const reason = reasonIn(errorText)
  return reason === '' ? how : `${how}: ${reason}`
}

/** The message in what Node prints about an error, without the line of code before it, which may be a whole bundle. */
function reasonIn(errorText: string): string {
  if (/heap out of memory|allocation failed/i.test(errorText)) return outOfMemory
  const lines = errorText.trim().split('\n')
  const message = lines.findIndex((line) => /^(Uncaught )?\w*Error\b.*:/.test(line))
  return shortened(lines.slice(Math.max(0, message)))
}

/** The beginnings of the lines: a line of minified code may be a whole bundle. */
function shortened(lines: readonly string[]): string {
  return lines
    .map((line) => line.slice(0, 300))
    .join('\n')
    .slice(0, 1500)
}
