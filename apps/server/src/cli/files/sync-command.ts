import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { sizeText } from '../../platform/size-text.js'
import { type ConnectionOptions, connect } from '../connection.js'
import { notices, out } from '../terminal.js'
import {
  addDescriptionOptions,
  awaitAsWanted,
  type DescriptionOptions,
  type IndexingResult,
  requireIndex,
} from './indexing.js'
import { createProgress } from './output.js'
import { interruptible } from './remote.js'
import { type SyncResult, syncFolder } from './sync.js'

interface SyncCommandOptions extends ConnectionOptions, DescriptionOptions {
  prefix?: string
  delete: boolean
  dryRun: boolean
  hidden: boolean
  concurrency: number
}

/** Turns a command into `botstead files sync`. */
export function addSync(command: Command): Command {
  return addDescriptionOptions(command)
    .option('--prefix <text>', 'prefix of all keys, such as "handbook/"')
    .option('--delete', 'delete files with the prefix that the folder does not have', false)
    .option('--dry-run', 'show what would be done without doing it', false)
    .option(
      '--hidden',
      'also upload hidden files and folders: .name, ~$name, Thumbs.db, desktop.ini',
      false,
    )
    .option(
      '--concurrency <number>',
      'files that are uploaded at a time, 1 to 32',
      toConcurrency,
      4,
    )
    .action(sync)
}

async function sync(folder: string, options: SyncCommandOptions): Promise<void> {
  const { index, tag, allowPartial, delete: remove, prefix, ...rest } = options
  requireIndex(options)
  const root = resolve(folder)
  if (!(await stat(root).catch(() => undefined))?.isDirectory()) {
    throw new Error(`${folder} is not a folder.`)
  }
  const { client } = await connect(options)
  await interruptible(async (signal) => {
    const progress = createProgress(notices)
    const description = { index, tags: tag, allowPartial }
    try {
      const wanted = { ...rest, prefix, folder: root, description, remove }
      const result = await syncFolder({ client, progress, signal }, wanted)
      progress.end()
      const indexing = await awaitAsWanted(
        { client, signal },
        options,
        options.dryRun ? [] : result.toIndex,
      )
      out.line(summaryOf(result, indexing, options.dryRun))
      if (result.failed > 0) {
        notices.line('Run the same command again for those that failed.')
        process.exitCode = 1
      }
    } finally {
      progress.end()
    }
  })
}

function toConcurrency(text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number >= 1 && number <= 32) return number
  throw new InvalidArgumentError('It is a whole number from 1 to 32.')
}

function summaryOf(
  result: SyncResult,
  indexing: IndexingResult | undefined,
  dryRun: boolean,
): string {
  const { indexed = 0, partly = 0, failed: notIndexed = 0, waiting = 0 } = indexing ?? {}
  const parts = [
    `${result.sent} sent (${sizeText(result.sentBytes)})`,
    `${result.unchanged} unchanged`,
    ...(result.described > 0 ? [`${result.described} tagged`] : []),
    ...(result.deleted > 0 ? [`${result.deleted} deleted`] : []),
    ...(result.skipped > 0 ? [`${result.skipped} passed over`] : []),
    ...(result.failed > 0 ? [`${result.failed} failed`] : []),
    ...(indexing === undefined ? [] : [`${indexed} searchable`]),
    ...(partly > 0 ? [`${partly} of them in part`] : []),
    ...(notIndexed > 0 ? [`${notIndexed} not indexed`] : []),
    ...(waiting > 0 ? [`${waiting} still waiting`] : []),
  ]
  return `${dryRun ? 'Would be: ' : ''}${parts.join(', ')}.`
}
