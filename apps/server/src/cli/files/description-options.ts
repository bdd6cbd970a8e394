import { type Command, InvalidArgumentError, Option } from 'commander'
import { addTag } from '../tags.js'
import { type AwaitedFile, awaitIndexed, type IndexingResult } from './indexing.js'

/** Options of the commands that send files. */
export interface DescriptionOptions {
  index: boolean
  tag: Record<string, string>
  /** Whether to wait until what was sent is indexed. */
  wait: boolean
  /** Longest wait, in milliseconds. */
  timeout: number
}

const minute = 60_000
const mostMinutes = 24 * 60

/** Adds the options that say how a file is described, and what is waited for. */
export function addDescriptionOptions(command: Command): Command {
  return command
    .option('--index', 'make the content searchable, and wait until it is', false)
    .option('--no-wait', 'with --index: do not wait')
    .addOption(
      new Option('--timeout <minutes>', 'with --index: longest wait')
        .argParser(toTime)
        .default(60 * minute, '60'),
    )
    .option('--tag <name=value>', 'tag of the file; may be repeated', addTag, {})
}

/** Waits as the options want it; the exit status tells when not all files can be found in the end. */
export async function awaitAsWanted(
  deps: Pick<Parameters<typeof awaitIndexed>[0], 'client' | 'signal'>,
  { index, wait, timeout }: DescriptionOptions,
  files: readonly AwaitedFile[],
): Promise<IndexingResult | undefined> {
  if (!index || !wait || files.length === 0) return undefined
  const options = { ...deps, timeoutMs: timeout, out: process.stderr }
  const result = await awaitIndexed(options, files)
  if (result.failed + result.waiting > 0) process.exitCode = 1
  return result
}

function toTime(text: string): number {
  const minutes = Number(text)
  if (text.trim() !== '' && minutes >= 0 && minutes <= mostMinutes) return minutes * minute
  throw new InvalidArgumentError(`It is a number of minutes from 0 to ${mostMinutes}.`)
}
