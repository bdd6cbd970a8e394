import { stat } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ApiError } from '@botstead/contract'
import { Command, InvalidArgumentError } from 'commander'
import { addConnectionOptions, type ConnectionOptions, connect } from '../connection.js'
import { addTag } from '../tags.js'
import { patiently } from './patience.js'
import { createProgress, toSize } from './progress.js'
import { listFiles } from './remote.js'
import { type SyncResult, syncFolder } from './sync.js'
import { exists, measure, openContent, receiveFile, sendFile } from './transfer.js'

interface DescriptionOptions {
  index: boolean
  tag: Record<string, string>
}

interface SyncCommandOptions extends ConnectionOptions, DescriptionOptions {
  prefix: string
  delete: boolean
  dryRun: boolean
  hidden: boolean
  concurrency: number
}

/** `botstead files`: the files of a bot from the command line, over the interface. */
export function filesCommand(): Command {
  const command = new Command('files').description('Send, read, list and delete files of a bot.')
  const add = (words: string, text: string) =>
    addConnectionOptions(command.command(words).description(text))

  describable(add('put <file> [key]', 'Send a file; its key is its name unless another is given.'))
    .option('--type <media type>', 'media type instead of the one of the extension')
    .action(
      async (
        path: string,
        key: string = basename(path),
        options: ConnectionOptions & DescriptionOptions & { type?: string },
      ) => {
        await requireFile(path)
        const { client } = await connect(options)
        const description = {
          index: options.index,
          tags: options.tag,
          ...(options.type !== undefined && { contentType: options.type }),
        }
        await interruptible(async (signal) => {
          const file = await measure(path, signal)
          await patiently(signal, () => sendFile({ client, key, file, description, signal }))
          process.stderr.write(`Sent ${key}, ${toSize(file.size)}.\n`)
        })
      },
    )

  add('get <key> [destination]', 'Read a file by key or id into a local file; "-" writes it out.')
    .option('--force', 'replace a local file that is there', false)
    .action(
      async (
        key: string,
        given: string | undefined,
        options: ConnectionOptions & { force: boolean },
      ) => {
        const { client } = await connect(options)
        await interruptible(async (signal) => {
          const { file } = await client.getFile({ id: key }, { signal })
          if (given === '-') {
            await pipeline(await openContent(file.url, signal), process.stdout, { end: false })
            return
          }
          const path = given ?? basename(file.key)
          if (!options.force && (await exists(path))) {
            throw new Error(
              `${path} is there already: give another name, or --force to replace it.`,
            )
          }
          const folder = dirname(path)
          if (!(await exists(folder))) throw new Error(`There is no folder ${folder} to write to.`)
          await receiveFile(file.url, path, signal)
          process.stderr.write(`Wrote ${path}, ${toSize(file.size ?? 0)}.\n`)
        })
      },
    )

  add('ls [prefix]', 'List files, those only whose key begins with a prefix, by key.')
    .option('--json', 'write one JSON object a line', false)
    .action(async (prefix = '', options: ConnectionOptions & { json: boolean }) => {
      const { client } = await connect(options)
      await interruptible(async (signal) => {
        for await (const file of listFiles(client, prefix, signal)) {
          const size = file.size === null ? '-' : toSize(file.size)
          const line = `${file.updatedAt}  ${size.padStart(8)}  ${file.status.padEnd(18)}  ${file.key}`
          process.stdout.write(`${options.json ? JSON.stringify(file) : line}\n`)
        }
      })
    })

  add('rm <keys...>', 'Delete files by key or id.').action(
    async (keys: string[], options: ConnectionOptions) => {
      const { client } = await connect(options)
      await interruptible(async (signal) => {
        for (const id of keys) {
          try {
            await client.deleteFile({ id }, { signal })
            process.stderr.write(`Deleted ${id}.\n`)
          } catch (error) {
            // The others have nothing to do with one that is not there.
            if (!(error instanceof ApiError && error.type === 'ResourceNotFound')) throw error
            process.stderr.write(`${error.message}\n`)
            process.exitCode = 1
          }
        }
      })
    },
  )

  describable(add('sync <folder>', 'Send what is new or changed in a folder; run again to go on.'))
    .option('--prefix <text>', 'what all keys begin with, such as "handbook/"', '')
    .option('--delete', 'delete files below the prefix that the folder does not have', false)
    .option('--dry-run', 'say what would be done, and do nothing', false)
    .option('--hidden', 'send files and folders whose name begins with a dot too', false)
    .option('--concurrency <number>', 'files that are sent at a time, 1 to 32', toConcurrency, 4)
    .action(sync)

  for (const part of command.commands) part.exitOverride()
  return command
}

async function sync(folder: string, options: SyncCommandOptions): Promise<void> {
  const { index, tag, delete: remove, ...rest } = options
  const root = resolve(folder)
  if (!(await stat(root).catch(() => undefined))?.isDirectory()) {
    throw new Error(`${folder} is not a folder.`)
  }
  const { client } = await connect(options)
  await interruptible(async (signal) => {
    const progress = createProgress(process.stderr)
    const description = { index, tags: tag }
    try {
      const wanted = { ...rest, folder: root, description, remove }
      const result = await syncFolder({ client, progress, signal }, wanted)
      progress.end()
      process.stdout.write(`${summaryOf(result, options.dryRun)}\n`)
      if (result.failed > 0) {
        process.stderr.write('Run the same command again for those that failed.\n')
        process.exitCode = 1
      }
    } finally {
      progress.end()
    }
  })
}

async function requireFile(path: string): Promise<void> {
  const facts = await stat(path).catch(() => undefined)
  if (facts === undefined) throw new Error(`There is no file ${path} on this machine.`)
  if (!facts.isDirectory()) return
  throw new Error(`${path} is a folder: "botstead files sync" sends all of it.`)
}

function describable(command: Command): Command {
  return command
    .option('--index', 'make the content searchable', false)
    .option('--tag <name=value>', 'tag of the file; may be repeated', addTag, {})
}

function toConcurrency(text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number >= 1 && number <= 32) return number
  throw new InvalidArgumentError('It is a whole number from 1 to 32.')
}

function summaryOf(result: SyncResult, dryRun: boolean): string {
  const parts = [
    `${result.sent} sent (${toSize(result.sentBytes)})`,
    `${result.unchanged} unchanged`,
    ...(result.described > 0 ? [`${result.described} tagged`] : []),
    ...(result.deleted > 0 ? [`${result.deleted} deleted`] : []),
    ...(result.passedOver > 0 ? [`${result.passedOver} passed over`] : []),
    ...(result.failed > 0 ? [`${result.failed} failed`] : []),
  ]
  return `${dryRun ? 'Would be: ' : ''}${parts.join(', ')}.`
}

/** What a shell expects of a command that Ctrl-C has ended. */
const interrupted = 130

/** Ends the work in order at the first Ctrl-C; a second one ends the process at once. */
async function interruptible(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController()
  const onSignal = () => {
    if (controller.signal.aborted) process.exit(interrupted)
    controller.abort()
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  try {
    await work(controller.signal)
  } catch (error) {
    if (!controller.signal.aborted) throw error
    process.stderr.write('\nInterrupted. Run the same command again to go on.\n')
    process.exitCode = interrupted
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}
