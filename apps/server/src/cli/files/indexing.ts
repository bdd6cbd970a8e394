import { ApiError, type Client } from '@botstead/contract'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { addTag } from '../connection.js'
import { inParallel } from '../parallel.js'
import { notices, type Output } from '../terminal.js'
import { abbreviate } from '../text.js'
import { createStatusLine, describeProgress, reportCommand } from './output.js'
import { type RemoteFile, withRetries } from './remote.js'

/** Files that are awaited at a time: each holds a connection to the server. */
const concurrency = 8
/** Milliseconds that one call waits: shorter on a terminal, where the status line must move. */
const longWait = 30_000
const shortWait = 1000

/** A file that may still be indexed. */
export type AwaitedFile = Pick<RemoteFile, 'id' | 'key' | 'owner' | 'indexingOmissions'> & {
  /** It was searchable before the run: it is counted, and only reported if something of it was not read. */
  isSearchable?: boolean
}

/** Files that were searchable before the run and are reported: each is asked for, in every run. */
const maxReported = 20

/** The outcomes of files that were to be indexed. */
export interface IndexingResult {
  indexed: number
  /** Of those, the files that were read in part. */
  partly: number
  failed: number
  /** The timeout passed before an outcome. */
  waiting: number
}

interface WaitOptions {
  client: Client
  signal: AbortSignal
  /** Maximum wait for all of them, in milliseconds. */
  timeoutMs: number
  out: Output
}

/**
 * Waits until files are searchable or have failed, and reports each: on a status line on a terminal, on a line
 * per file elsewhere. Failures, and files that were read in part, are reported in both cases, with the reason.
 */
export async function awaitIndexed(
  { client, signal, timeoutMs, out }: WaitOptions,
  files: readonly AwaitedFile[],
): Promise<IndexingResult> {
  const line = createStatusLine(out)
  const endsAt = Date.now() + timeoutMs
  const result: IndexingResult = { indexed: 0, partly: 0, failed: 0, waiting: 0 }
  const draw = (about = '') => {
    const done = result.indexed + result.failed + result.waiting
    line.draw(done / files.length, `${done}/${files.length} indexed${about}`)
  }
  const report = (what: string, { key }: AwaitedFile, reason = '') => {
    line.clear()
    out.line(`${what.padEnd(8)} ${abbreviate(key, 200)}${reason}`)
  }

  async function look(awaited: AwaitedFile, timeout: number): Promise<RemoteFile | undefined> {
    const { id } = awaited
    try {
      const waitFor = 'indexing_completed'
      return (await withRetries(signal, () => client.getFile({ id, waitFor, timeout }, { signal })))
        .file
    } catch (error) {
      if (!(error instanceof ApiError && error.type === 'ResourceNotFound')) throw error
      result.failed += 1
      report('failed', awaited, ': it was deleted meanwhile')
      return undefined
    }
  }

  async function describeOmissions(file: AwaitedFile): Promise<string | undefined> {
    if (!isPartly(file)) return undefined
    const ask = () => client.getFileIndexingReport({ id: file.id }, { signal })
    try {
      const { report: found } = await withRetries(signal, ask)
      return found.omissions.map(({ summary }) => summary).join('; ')
    } catch (error) {
      // It was deleted since it was listed.
      if (error instanceof ApiError && error.type === 'ResourceNotFound') return undefined
      throw error
    }
  }

  /** The first file that was read in part. */
  let partly: AwaitedFile | undefined
  const unknown = files.filter(({ isSearchable }) => isSearchable !== true)
  result.indexed = files.length - unknown.length
  const known = files.filter((file) => file.isSearchable === true && isPartly(file))
  result.partly = known.length
  partly = known[0]
  await inParallel(known.slice(0, maxReported), concurrency, signal, async (file) => {
    const omissions = await describeOmissions(file)
    report('partly', file, omissions && `: ${omissions}`)
  })
  const more = known.length - maxReported
  if (more > 0) out.line(`${more} more were read in part: npx botstead files ls names them.`)
  await inParallel(unknown, concurrency, signal, async (awaited) => {
    for (;;) {
      const left = Math.max(0, endsAt - Date.now())
      const file = await look(awaited, Math.min(left, out.isTerminal ? shortWait : longWait))
      if (file === undefined) return
      if (!file.status.endsWith('_pending')) {
        if (file.failedStatusReason === undefined) {
          result.indexed += 1
          const omissions = await describeOmissions(file)
          if (omissions !== undefined) {
            result.partly += 1
            partly ??= file
            report('partly', file, `: ${omissions}`)
          } else if (!out.isTerminal || files.length === 1) report('indexed', file)
        } else {
          result.failed += 1
          report('failed', file, `: ${file.failedStatusReason}`)
        }
        draw()
        return
      }
      const how = describeProgress(file)
      draw(how === undefined ? '' : `, ${abbreviate(file.key)} ${how}`)
      if (left === 0) {
        result.waiting += 1
        report('waiting', file, how === undefined ? '' : `: ${how}`)
        return
      }
    }
  })
  line.clear()
  if (partly !== undefined) out.line(`Why, and what to do: ${reportCommand(partly)}`)
  return result
}

function isPartly({ indexingOmissions = 0 }: AwaitedFile): boolean {
  return indexingOmissions > 0
}

/** Options of the commands that upload files. */
export interface DescriptionOptions {
  index: boolean
  tag: Record<string, string>
  allowPartial: boolean
  /** Whether to wait until the uploaded files are indexed. */
  wait: boolean
  /** Maximum wait, in milliseconds. */
  timeout: number
}

const minute = 60_000
const maxMinutes = 24 * 60

/** Adds the options that describe a file and control waiting. */
export function addDescriptionOptions(command: Command): Command {
  return command
    .option('--index', 'make the content searchable, and wait until it is', false)
    .option('--no-wait', 'with --index: do not wait')
    .addOption(
      new Option('--timeout <minutes>', 'with --index: maximum wait')
        .argParser(toTime)
        .default(60 * minute, '60'),
    )
    .option('--allow-partial', 'with --index: even if more than half of it cannot be read', false)
    .option('--tag <name=value>', 'tag of the file; may be repeated', addTag, {})
}

/** Refuses options that only have an effect on a content that is made searchable. */
export function requireIndex({
  index,
  allowPartial,
}: Pick<DescriptionOptions, 'index' | 'allowPartial'>): void {
  if (allowPartial && !index) {
    throw new Error(
      '--allow-partial needs --index: nothing is read of a content that is only stored.',
    )
  }
}

/** Waits according to the options; the exit status shows whether all files became searchable. */
export async function awaitAsWanted(
  deps: Pick<Parameters<typeof awaitIndexed>[0], 'client' | 'signal'>,
  { index, wait, timeout }: DescriptionOptions,
  files: readonly AwaitedFile[],
): Promise<IndexingResult | undefined> {
  if (!index || !wait || files.length === 0) return undefined
  const options = { ...deps, timeoutMs: timeout, out: notices }
  const result = await awaitIndexed(options, files)
  if (result.failed + result.waiting > 0) process.exitCode = 1
  return result
}

function toTime(text: string): number {
  const minutes = Number(text)
  if (text.trim() !== '' && minutes >= 0 && minutes <= maxMinutes) return minutes * minute
  throw new InvalidArgumentError(`It is a number of minutes from 0 to ${maxMinutes}.`)
}
