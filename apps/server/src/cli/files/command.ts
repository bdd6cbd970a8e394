import { stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ApiError, type Client } from '@botstead/contract'
import { Command } from 'commander'
import { sizeText } from '../../platform/size-text.js'
import { addConnectionOptions, type ConnectionOptions, connect } from '../connection.js'
import { inParallel } from '../parallel.js'
import { notices, out } from '../terminal.js'
import {
  addDescriptionOptions,
  awaitAsWanted,
  type DescriptionOptions,
  requireIndex,
} from './indexing.js'
import { toLines, toReportLines } from './output.js'
import {
  findFile,
  findReplaced,
  interruptible,
  listFiles,
  type RemoteFile,
  withRetries,
} from './remote.js'
import { addSync } from './sync-command.js'
import { exists, measure, openContent, receiveFile, sendFile, withFormer } from './transfer.js'

/** `botstead files`: the files of a bot on the command line, through the API. */
export function filesCommand(): Command {
  const command = new Command('files').description(
    'Upload, download, list and delete files of a bot.',
  )
  const add = (words: string, text: string) =>
    addConnectionOptions(command.command(words).description(text))

  addDescriptionOptions(
    add('put <file> [key]', 'Send a file; its key is its name unless another is given.'),
  )
    .option('--no-index', 'do not make the content searchable, even if that of the file was')
    .option('--type <media type>', 'media type instead of the one of the extension')
    .action(
      async (
        path: string,
        given: string | undefined,
        options: ConnectionOptions & DescriptionOptions & { type?: string },
        command: Command,
      ) => {
        const key = given ?? basename(path)
        await requireFile(path)
        const { client } = await connect(options)
        const description = {
          index: options.index,
          tags: options.tag,
          allowPartial: options.allowPartial,
          ...(options.type !== undefined && { contentType: options.type }),
        }
        await interruptible(async (signal) => {
          const file = await measure(path, signal)
          const keepsIndex = command.getOptionValueSource('index') === 'default'
          const sent = await withRetries(signal, async () => {
            const former = await findReplaced(client, key, signal)
            const index = keepsIndex ? former?.index === true : options.index
            requireIndex({ ...options, index })
            const whole = withFormer({ ...description, index }, former)
            return await sendFile({ client, key, file, description: whole, signal })
          })
          notices.line(`Sent ${key}, ${sizeText(file.size)}.`)
          if (given !== undefined && given !== path && (await exists(given))) {
            notices.line(toUnsentNote(given))
          }
          await awaitAsWanted({ client, signal }, options, [sent])
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
            await pipeline(await openContent(file.url, signal), out.forContent(), { end: false })
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
          notices.line(`Wrote ${path}, ${sizeText(file.size ?? 0)}.`)
        })
      },
    )

  add('ls [prefix]', 'List files, those only whose key begins with a prefix, by key.')
    .option('--json', 'write one JSON object a line', false)
    .action(async (prefix = '', options: ConnectionOptions & { json: boolean }) => {
      const { client } = await connect(options)
      await interruptible(async (signal) => {
        let isEmpty = true
        for await (const file of listFiles(client, prefix, signal)) {
          isEmpty = false
          if (options.json) out.json(file)
          else for (const line of toLines(file)) out.line(line)
        }
        if (!isEmpty) return
        notices.line(prefix === '' ? 'The bot has no files.' : `No key begins with ${prefix}.`)
      })
    })

  add('report <key>', 'Show what was not read of a file, why, and what to do about it.')
    .option('--json', 'write the report as JSON', false)
    .action(async (id: string, options: ConnectionOptions & { json: boolean }) => {
      const { client } = await connect(options)
      await interruptible(async (signal) => {
        const { report } = await client.getFileIndexingReport({ id }, { signal })
        if (options.json) return out.json(report)
        for (const line of toReportLines(report)) out.line(line)
      })
    })

  add('rm <keys...>', 'Delete files by key or id, or all files of folders.')
    .option('-r, --recursive', 'the keys are folders: delete all files below them', false)
    .option('--dry-run', 'show what would be deleted without doing it', false)
    .action(remove)

  addSync(add('sync <folder>', 'Upload what is new or changed in a folder; run again to continue.'))

  for (const part of command.commands) part.exitOverride()
  return command
}

async function remove(
  keys: string[],
  options: ConnectionOptions & { recursive: boolean; dryRun: boolean },
): Promise<void> {
  const { client } = await connect(options)
  await interruptible(async (signal) => {
    for (const key of keys) {
      const found = options.recursive
        ? await filesBelow(client, key, signal)
        : [await findFile(client, key, signal, notices.line)].filter((file) => file !== undefined)
      if (found.length === 0 && !options.recursive && key.endsWith('/')) {
        notices.line('With --recursive, all files below a folder are deleted.')
      }
      // The others can still be deleted.
      if (found.length === 0) process.exitCode = 1
      await inParallel(found, deletions, signal, async (file) => {
        if (!options.dryRun) {
          await withRetries(signal, () => deleteIfThere(client, file.id, signal))
        }
        notices.line(`${options.dryRun ? 'Would delete' : 'Deleted'} ${file.key}.`)
      })
    }
  })
}

/** Concurrent deletions. */
const deletions = 4

async function filesBelow(
  client: Client,
  folder: string,
  signal: AbortSignal,
): Promise<RemoteFile[]> {
  const prefix = folder.endsWith('/') ? folder : `${folder}/`
  const found: RemoteFile[] = []
  for await (const file of listFiles(client, prefix, signal)) found.push(file)
  if (found.length === 0) notices.line(`There is no file below ${prefix} in this bot.`)
  return found
}

/** Deletes a file, unless an attempt whose response was lost, or somebody else, has deleted it. */
async function deleteIfThere(client: Client, id: string, signal: AbortSignal): Promise<void> {
  try {
    await client.deleteFile({ id }, { signal })
  } catch (error) {
    if (!(error instanceof ApiError && error.type === 'ResourceNotFound')) throw error
  }
}

async function requireFile(path: string): Promise<void> {
  const facts = await stat(path).catch(() => undefined)
  if (facts === undefined) throw new Error(`There is no file ${path} on this machine.`)
  if (!facts.isDirectory()) return
  throw new Error(`${path} is a folder: "npx botstead files sync" sends all of it.`)
}

/** Two files in one command are a likely mistake: the second is taken for the key of the first. */
function toUnsentNote(key: string): string {
  return `${key} is also a file here, which was not sent: "npx botstead files sync" sends a whole folder.`
}
